package terminal

import (
	"testing"

	"herald/bots/console/proto"

	"github.com/google/go-cmp/cmp"
)

// TestTalk plays records and looks at what still waits and what is live.
func TestTalk(t *testing.T) {
	t.Parallel()
	type step struct {
		said string
		r    *proto.Record
	}
	for name, c := range map[string]struct {
		steps   []step
		finals  []string
		waiting []string
		live    []string
	}{
		"answer":                       {[]step{{said: "1"}, {r: &proto.Record{Kind: proto.Post, ID: "2", ReplyTo: "1", Text: "a"}}}, []string{"a"}, nil, nil},
		"answer before the receipt":    {[]step{{r: &proto.Record{Kind: proto.Post, ID: "2", ReplyTo: "1", Text: "a"}}, {said: "1"}}, []string{"a"}, nil, nil},
		"one answer covers both":       {[]step{{said: "1"}, {said: "2"}, {said: "4"}, {r: &proto.Record{Kind: proto.Post, ID: "3", ReplyTo: "2", Text: "a"}}}, []string{"a"}, []string{"4"}, nil},
		"a notice answers nothing":     {[]step{{said: "1"}, {r: &proto.Record{Kind: proto.Post, ID: "2", Text: "n"}}}, []string{"n"}, []string{"1"}, nil},
		"a failed answer answers":      {[]step{{said: "1"}, {r: &proto.Record{Kind: proto.Post, ID: "2", ReplyTo: "1", Covers: []string{"1"}, Text: "no", Card: &proto.Card{}}}}, []string{"no"}, nil, nil},
		"a question answers nothing":   {[]step{{said: "1"}, {r: &proto.Record{Kind: proto.Post, ID: "2", ReplyTo: "1", Text: "q", Card: &proto.Card{}}}}, []string{"q"}, []string{"1"}, nil},
		"live":                         {[]step{{said: "1"}, {r: &proto.Record{Kind: proto.Post, ID: "2", ReplyTo: "1", Live: true, Text: "a"}}, {r: &proto.Record{Kind: proto.Edit, ID: "2", Live: true, Text: "ab"}}}, nil, []string{"1"}, []string{"ab"}},
		"live to the end":              {[]step{{said: "1"}, {r: &proto.Record{Kind: proto.Post, ID: "2", ReplyTo: "1", Live: true, Text: "a"}}, {r: &proto.Record{Kind: proto.Edit, ID: "2", Text: "abc"}}}, []string{"abc"}, nil, nil},
		"joined in the middle":         {[]step{{r: &proto.Record{Kind: proto.Edit, ID: "2", ReplyTo: "1", Live: true, Text: "ab"}}}, nil, nil, []string{"ab"}},
		"an old edit answers nobody":   {[]step{{said: "5"}, {r: &proto.Record{Kind: proto.Edit, ID: "2", ReplyTo: "1", Text: "ab"}}}, []string{"ab"}, []string{"5"}, nil},
		"two live ones in their order": {[]step{{r: &proto.Record{Kind: proto.Post, ID: "3", Live: true, Text: "x"}}, {r: &proto.Record{Kind: proto.Post, ID: "2", Live: true, Text: "y"}}, {r: &proto.Record{Kind: proto.Edit, ID: "3", Live: true, Text: "xx"}}}, nil, nil, []string{"xx", "y"}},
		"other people's lines":         {[]step{{said: "1"}, {r: &proto.Record{Kind: proto.Line, ID: "2", Text: "hi"}}}, nil, []string{"1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newTalk()
			var finals, live []string
			for _, s := range c.steps {
				if s.said != "" {
					k.said(s.said)
				} else if f := k.take(s.r); f != nil {
					finals = append(finals, f.Text)
				}
			}
			for _, r := range k.live() {
				live = append(live, r.Text)
			}
			waiting := append([]string(nil), k.waiting...)
			if diff := cmp.Diff([][]string{c.finals, c.waiting, c.live}, [][]string{finals, waiting, live}); diff != "" {
				t.Errorf("finals, waiting, live (-want +got):\n%s", diff)
			}
		})
	}
}
