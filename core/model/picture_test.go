package model_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"herald/core/model"
)

// seer keeps what it was asked and answers, or fails.
type seer struct {
	asked []*model.Request
	err   error
}

func (s *seer) Generate(_ context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		s.asked = append(s.asked, r)
		if s.err != nil {
			yield(model.Chunk{}, s.err)
			return
		}
		yield(model.Chunk{Done: &model.Answer{Text: "ok", Finish: model.FinishStop}}, nil)
	}
}

// A picture goes to the model that takes it, whatever the order is; one that takes none is told why it sees nothing.
func TestPicturesGoToModelsThatTakeThem(t *testing.T) {
	t.Parallel()
	blind, seeing := &seer{}, &seer{}
	b := newBench(t, model.Retry{}, model.Configured{Name: "blind", Model: blind, Priority: 1}, model.Configured{Name: "seeing", Model: seeing, Priority: 9, Images: true})
	ask := func(name string, images ...model.Image) {
		t.Helper()
		q := &model.Request{Messages: []model.Message{{Role: model.User, Text: "what is this?", Images: images}}, NewCallID: func() string { return "c" }}
		for _, err := range b.For(name, "", "").Generate(t.Context(), q) {
			if err != nil {
				t.Error(err)
			}
		}
		if len(q.Messages[0].Images) != len(images) || q.Messages[0].Text != "what is this?" {
			t.Error("the request of the caller was changed")
		}
	}
	png := model.Image{MIME: "image/png", Data: []byte("PNG")}
	ask("")
	ask("", png)
	if len(blind.asked) != 1 || len(seeing.asked) != 1 {
		t.Fatalf("the models were asked: %s", b.tried())
	}
	if m := seeing.asked[0].Messages[0]; len(m.Images) != 1 {
		t.Errorf("the model that takes pictures is shown %+v", m)
	}
	ask("blind", png, png)
	if m := blind.asked[1].Messages[0]; len(m.Images) != 0 || !strings.Contains(m.Text, "Pictures: 2") || !strings.Contains(m.Text, `"blind" takes no pictures`) {
		t.Errorf("the model that takes none is shown %+v", m)
	}
	seeing.err = &model.Error{Kind: model.Unavailable}
	ask("", png)
	if n := len(blind.asked); n != 3 || len(blind.asked[2].Messages[0].Images) != 0 {
		t.Errorf("the model behind it was asked %d times", n)
	}
}
