package failpoint

import (
	"context"
	"iter"
	"time"

	"herald/core/chat"
	"herald/core/model"
	"herald/core/store"
	"herald/core/tool"
)

// Store is st with points around each commit (by its site), after each claim that gave something ("claim:AGENDA") and around each
// renewal ("extend").
func Store(st store.Store, p *Points) store.Store { return &pointedStore{st, p} }

type pointedStore struct {
	store.Store
	p *Points
}

func (s *pointedStore) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	leave := s.p.Enter(Site(c.ID))
	r, err := s.Store.Commit(ctx, c)
	if err == nil {
		leave()
	}
	return r, err
}

func (s *pointedStore) Claim(ctx context.Context, req store.ClaimRequest) ([]store.Claim, error) {
	cs, err := s.Store.Claim(ctx, req)
	if len(cs) > 0 {
		s.p.Mark("claim:" + string(req.Agenda))
	}
	return cs, err
}

func (s *pointedStore) Extend(ctx context.Context, lease time.Duration, claims ...store.Claim) ([]bool, error) {
	leave := s.p.Enter("extend")
	lost, err := s.Store.Extend(ctx, lease, claims...)
	if err == nil {
		leave()
	}
	return lost, err
}

// Connection is an adapter with its stream of events.
type Connection interface {
	chat.Adapter
	Run(ctx context.Context) error
}

// Adapter is a with points around each send, edit and find.
func Adapter(a Connection, p *Points) Connection { return &pointedAdapter{a, p} }

type pointedAdapter struct {
	Connection
	p *Points
}

func (a *pointedAdapter) Send(ctx context.Context, m *chat.Post) (chat.Receipt, error) {
	leave := a.p.Enter("send")
	r, err := a.Connection.Send(ctx, m)
	if err == nil {
		leave()
	}
	return r, err
}

func (a *pointedAdapter) Edit(ctx context.Context, m *chat.Post, r chat.Receipt, final bool) error {
	leave := a.p.Enter("edit")
	err := a.Connection.Edit(ctx, m, r, final)
	if err == nil {
		leave()
	}
	return err
}

func (a *pointedAdapter) Find(ctx context.Context, m *chat.Post) (chat.Receipt, bool, error) {
	leave := a.p.Enter("find")
	r, ok, err := a.Connection.Find(ctx, m)
	if err == nil {
		leave()
	}
	return r, ok, err
}

// Model is m with points around each call ("model"): before the request, and after the last chunk came and before it is handed on.
func Model(m model.Model, p *Points) model.Model { return pointedModel{m, p} }

type pointedModel struct {
	m model.Model
	p *Points
}

func (m pointedModel) Generate(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		leave := m.p.Enter("model")
		for c, err := range m.m.Generate(ctx, r) {
			if c.Done != nil {
				leave()
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// Tool is t with points around each run ("tool:NAME").
func Tool(t tool.Tool, p *Points) tool.Tool {
	run := t.Run
	t.Run = func(ctx context.Context, c tool.Call) (tool.Result, error) {
		leave := p.Enter("tool:" + t.Spec.Name)
		r, err := run(ctx, c)
		if err == nil {
			leave()
		}
		return r, err
	}
	return t
}
