package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/core/session"
	"herald/core/tool"
	"herald/core/tool/gate"
)

// decision is the verdict with what the engine must know of it: who may decide, and whether an approval still counts.
func (d *door) decision(ctx context.Context, c tool.Call, q gate.Request, v gate.Verdict) (tool.Decision, error) {
	out := tool.Decision{Answer: v.Answer, Rule: d.why(ctx, v)}
	switch {
	case v.Answer == tool.Deny && v.By == gate.ByUnattended:
		out.Refusal = session.ByNobody
	case v.Answer == tool.Require && c.Approved != "":
		return d.approved(ctx, c, q, v, out)
	case v.Answer == tool.Require && v.Rule != nil:
		r := v.Rule
		out.Expires = time.Duration(r.ExpiresS) * time.Second
		out.Deciders, out.Accounts = slices.Clone(r.Deciders), d.accounts
		for i, who := range out.Deciders {
			if who == gate.Asker && len(q.Askers) > 0 {
				out.Deciders[i] = q.Askers[0]
			}
		}
		if r.FourEyes && !q.SingleOperator {
			out.Barred = q.Askers
		}
		if r.FourEyes && q.SingleOperator {
			out.Rule += "; the one who asked may decide, because this installation has a single operator"
		}
		out.Who = d.who(ctx, r, q)
	}
	return out, nil
}

// approved judges an approval by the rules and the rights of now.
func (d *door) approved(ctx context.Context, c tool.Call, q gate.Request, v gate.Verdict, out tool.Decision) (tool.Decision, error) {
	if v.By == gate.ByUnreadable {
		out.Answer, out.Refusal = tool.Deny, session.ByUnreadable
		return out, nil
	}
	admin, err := d.o.Admin(ctx, c.Approved)
	if err != nil {
		return tool.Decision{}, fmt.Errorf("look up the role of %s: %w", c.Approved, err)
	}
	name, _ := d.o.Name(ctx, c.Approved)
	if !gate.MayDecide(v.Rule, q.Askers, c.Approved, admin, q.SingleOperator) {
		out.Answer, out.Refusal, out.Rule = tool.Deny, session.ByLapse, fmt.Sprintf("%s approved it and may not decide any more; %s", name, out.Rule)
		return out, nil
	}
	out.Answer, out.Rule = tool.Allow, fmt.Sprintf("%s approved it; %s", name, out.Rule)
	return out, nil
}

// why says what made a verdict, for people and for the log.
func (d *door) why(ctx context.Context, v gate.Verdict) string {
	rule := ""
	if r := v.Rule; r != nil {
		rule = "rule " + r.ID
		if r.Note != "" {
			rule += " (" + r.Note + ")"
		}
	}
	switch v.By {
	case gate.ByRule:
		return rule
	case gate.ByBypass:
		name, _ := d.o.Name(ctx, v.Bypass.By)
		until := "this session"
		if !v.Bypass.Until.IsZero() {
			until = v.Bypass.Until.UTC().Format("15:04 MST")
		}
		return strings.TrimSuffix(fmt.Sprintf("%s let this tool through until %s; %s", name, until, rule), "; ")
	case gate.ByNothing:
		return "no rule speaks of this call"
	case gate.ByContext:
		return "the run context lets this path through"
	case gate.ByUnattended:
		return strings.TrimSuffix("nobody is there to decide; "+rule, "; ")
	default:
		return string(v.By)
	}
}

// who names the deciders for the card.
func (d *door) who(ctx context.Context, r *gate.Rule, q gate.Request) string {
	var names []string
	for _, who := range r.Deciders {
		switch who {
		case gate.Admins:
			names = append(names, "an admin")
		case gate.Asker:
			names = append(names, "the person who asked")
		default:
			name, _ := d.o.Name(ctx, who)
			names = append(names, name)
		}
	}
	out := strings.Join(names, " or ")
	if r.FourEyes && !q.SingleOperator {
		out += ", but not who asked"
	}
	return out
}
