package turn

import (
	"encoding/json"
	"strings"
	"testing"

	"herald/core/model"
	"herald/core/session"
)

func TestBounded(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		cut        bool
	}{
		{"a short one", "hi", false},
		{"a megabyte", strings.Repeat("a", 1_000_000), false},
		{"200,000 wide characters", strings.Repeat("語", 200_000), false},
		{"four megabytes", strings.Repeat("a", 4<<20), true},
		{"what JSON writes six times as long", strings.Repeat("\x01", 1_000_000), true},
		{"wide characters at the border", strings.Repeat("語", 1_000_000), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := bounded(session.Answer{Text: tc.text}, 0).Text
			if cut := strings.HasSuffix(got, textCut); cut != tc.cut {
				t.Errorf("cut %v, want %v", cut, tc.cut)
			}
			if !tc.cut && got != tc.text {
				t.Error("the text was changed")
			}
			b, err := json.Marshal(got)
			if err != nil || len(b) > maxAnswer+2 || strings.ContainsRune(got, '\uFFFD') {
				t.Errorf("%d bytes as JSON, at most %d; or a character was broken (%v)", len(b), maxAnswer, err)
			}
		})
	}
}

func TestBoundedArguments(t *testing.T) {
	t.Parallel()
	small := session.Asked{Call: model.Call{ID: "1", Name: "a", Arguments: json.RawMessage(`{"x":1}`)}}
	large := session.Asked{Call: model.Call{ID: "2", Name: "b", Arguments: json.RawMessage(`{"x":"` + strings.Repeat("a", maxArguments) + `"}`)}}
	if a := bounded(session.Answer{Calls: []session.Asked{small}}, 0); a.Calls[0].Malformed != "" {
		t.Errorf("a small call became %+v", a.Calls[0])
	}
	for _, c := range bounded(session.Answer{Calls: []session.Asked{small, large}}, 0).Calls {
		if c.Malformed == "" || string(c.Arguments) != "{}" {
			t.Errorf("call %s runs although the answer's arguments are too large", c.ID)
		}
	}
}
