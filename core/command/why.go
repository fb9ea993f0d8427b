package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
)

// why tells how the last answer, or the one that a reference names, came about. A reference is the id of a turn or of a delivery, that of a
// message that was answered, or the reference of a failure.
func why(ctx context.Context, c Call) (string, error) {
	rec, ref, err := findTurn(ctx, c)
	switch {
	case err != nil:
		return "", fmt.Errorf("explain an answer of %s: %w", c.Where, err)
	case rec != nil:
		return explain(rec, c.Person.Role), nil
	case ref == "":
		return whyNone, nil
	default:
		return fmt.Sprintf(whyUnknown, quote(ref)), nil
	}
}

func findTurn(ctx context.Context, c Call) (rec *conversation.TurnRecord, ref string, err error) {
	if len(c.Args) > 0 {
		ref = c.Args[0]
		rec, err = turnOf(ctx, c, ref)
		return rec, ref, err
	}
	places := c.places()
	var queries []store.Query
	for _, p := range places {
		queries = append(queries, store.Get{Partition: p, Key: conversation.CurrentKey})
	}
	answers, err := c.Read.Read(ctx, queries...)
	if err != nil {
		return nil, "", err
	}
	for n, a := range answers {
		doc, ok := a.Doc()
		if !ok {
			continue
		}
		var cur conversation.Current
		if err := conversation.Decode(doc, &cur); err != nil {
			return nil, "", err
		}
		if cur.LastTurn != "" {
			rec, err = turn(ctx, c.Read, places[n], cur.LastTurn)
			return rec, "", err
		}
	}
	return nil, "", nil
}

// turnOf resolves a reference. The turns are listed only when it names none by its id and no delivery.
func turnOf(ctx context.Context, c Call, ref string) (*conversation.TurnRecord, error) {
	places := c.places()
	const each = 3
	var queries []store.Query
	for _, p := range places {
		queries = append(queries,
			store.Get{Partition: p, Key: conversation.TurnKey(ref)},
			store.Get{Partition: p, Key: store.Key{Collection: conversation.Outgoing, Name: ref}},
			store.Get{Partition: p, Key: store.Key{Collection: conversation.Sent, Name: ref}})
	}
	answers, err := c.Read.Read(ctx, queries...)
	if err != nil {
		return nil, err
	}
	for n, a := range answers {
		doc, ok := a.Doc()
		switch {
		case !ok:
			continue
		case n%each == 0:
			return record(doc)
		}
		var d conversation.Delivery
		if err := conversation.Decode(doc, &d); err != nil {
			return nil, err
		}
		if d.Turn == "" || !visible(&d, c.Person) {
			return nil, nil
		}
		return turn(ctx, c.Read, places[n/each], d.Turn)
	}
	queries = queries[:0]
	for _, p := range places {
		queries = append(queries, store.List{Partition: p, Collection: conversation.Turns})
	}
	if answers, err = c.Read.Read(ctx, queries...); err != nil {
		return nil, err
	}
	for _, a := range answers {
		for _, doc := range slices.Backward(a.Docs) {
			rec, err := record(doc)
			if err != nil {
				return nil, err
			}
			if names(rec, ref) {
				return rec, nil
			}
		}
	}
	return nil, nil
}

// names reports whether ref is a failure or a message of the turn.
func names(rec *conversation.TurnRecord, ref string) bool {
	if rec.Failure != nil && rec.Failure.Ref == ref {
		return true
	}
	for _, m := range rec.Covers {
		if m.MessageID == ref {
			return true
		}
	}
	return false
}

func turn(ctx context.Context, r Reader, p store.Partition, id string) (*conversation.TurnRecord, error) {
	answers, err := r.Read(ctx, store.Get{Partition: p, Key: conversation.TurnKey(id)})
	if err != nil {
		return nil, err
	}
	doc, ok := answers[0].Doc()
	if !ok {
		return nil, nil
	}
	return record(doc)
}

func record(doc store.Doc) (*conversation.TurnRecord, error) {
	rec := new(conversation.TurnRecord)
	if err := conversation.Decode(doc, rec); err != nil {
		return nil, err
	}
	return rec, nil
}

// explain says a turn's record. Its failure's detail is the operator's, so only an admin sees it.
func explain(rec *conversation.TurnRecord, role people.Role) string {
	lines := []string{fmt.Sprintf(whyHead, quote(rec.ID), moment(rec.BeganAt), span(rec.EndedAt.Sub(rec.BeganAt)))}
	add := func(format string, args ...any) { lines = append(lines, "- "+fmt.Sprintf(format, args...)) }
	if f := rec.Failure; f != nil {
		add(whyFailed, f.Reason, quote(f.Ref))
		if f.Detail != "" && role.Covers(people.Admin) {
			add(whyDetail, f.Detail)
		}
	}
	if rec.Stopped {
		add(whyStopped)
	}
	add(whyAgent, quote(rec.Agent))
	if len(rec.Models) == 0 {
		add(whyNoModel)
	} else {
		add(whyModels, coded(rec.Models))
	}
	if len(rec.Tools) == 0 {
		add(whyNoTools)
	} else {
		add(whyTools, coded(rec.Tools))
	}
	for _, g := range rec.Gates {
		add(whyGate, quote(g.Tool), g.Answer, quoteUpTo(g.Rule, 300))
	}
	if b := rec.Broken; b != nil {
		add(whyBroken, b.Input, b.Output)
	}
	switch {
	case rec.Rounds == 0 && rec.Broken != nil:
	case rec.Rounds == 0:
		add(whyNoTokens) // zeroes would read as if nothing had been spent
	case rec.Cost == nil:
		add(whyTokens, rec.Usage.Input, rec.Usage.Cached, rec.Usage.Output, count(rec.Rounds, "round"))
		add(whyCostNone)
	default:
		add(whyTokens, rec.Usage.Input, rec.Usage.Cached, rec.Usage.Output, count(rec.Rounds, "round"))
		add(whyCost, money(*rec.Cost))
	}
	return strings.Join(lines, "\n")
}

// money shows a cost in the currency of the configured prices, with as many digits as a small one needs.
func money(cost float64) string {
	if cost > 0 && cost < 1e-6 {
		return whyCostTiny
	}
	s := strconv.FormatFloat(cost, 'f', 6, 64)
	if whole, frac, ok := strings.Cut(s, "."); ok {
		frac = strings.TrimRight(frac, "0")
		for len(frac) < 2 {
			frac += "0"
		}
		s = whole + "." + frac
	}
	return s
}

func coded(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "`" + quote(w) + "`"
	}
	return strings.Join(out, ", ")
}
