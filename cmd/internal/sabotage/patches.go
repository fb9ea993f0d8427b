package main

// patch is one defect.
type patch struct {
	name string
	// file holds old exactly once; it becomes new.
	file, old, new string
	// test are the arguments of "go test" that must fail with the defect.
	test []string
}

// The tests that see most of the defects. The simulation judges from the outside, so that it is the one to prefer.
var (
	simulation = []string{"./core/simulation", "-seeds", "1500"}
	turns      = []string{"./core/turn"}
	intakes    = []string{"./core/intake"}
	outboxes   = []string{"./core/outbox"}
)

// patches are all defects.
func patches() []patch {
	return []patch{
		{
			"acknowledge before the commit", "core/intake/intake.go",
			"	out, why, err := i.take(ctx, in)\n",
			"	go func() { _, _, _ = i.take(context.WithoutCancel(ctx), in) }()\n	out, why, err := chat.Kept, Queued, error(nil)\n", intakes,
		},
		{
			"no fence in the memory store", "core/store/memory/commit.go",
			"if c.Claim != nil && d.held(*c.Claim) == nil {", "if false && d.held(*c.Claim) == nil {",
			[]string{"./core/store/memory", "-run", "TestConformance"},
		},
		{
			"no fence in SQLite", "core/store/sqlite/commit.go",
			"if c.Claim != nil && t.w.leases.held(*c.Claim) == nil {", "if false && t.w.leases.held(*c.Claim) == nil {",
			[]string{"./core/store/sqlite", "-run", "TestConformance"},
		},
		{
			"no fence in Redis", "core/store/redis/scripts/commit.lua",
			"  if e.token == 0 or e.token ~= tonumber(ARGV[10]) or e.holder ~= ARGV[11] then\n", "  if false then\n",
			[]string{"./core/store/redis", "-run", "TestConformance$"},
		},
		{
			"the holder is not part of the fence", "core/store/redis/scripts/commit.lua",
			" or e.holder ~= ARGV[11] then\n", " then\n",
			[]string{"./core/store/redis", "-run", "TestConformance$"},
		},
		{
			"the wake of a message is dropped", "core/intake/entry.go",
			"conversation.Encode(m)}, e.wake()}", "conversation.Encode(m)}}", simulation,
		},
		{
			"a wake during a claim is dropped", "core/store/redis/scripts/agenda.lua",
			"  e.wake = math.min(e.wake or at, at)\n", "  if e.token == 0 then e.wake = math.min(e.wake or at, at) end\n",
			[]string{"./core/store/redis", "-run", "TestConformance$/agenda"},
		},
		{
			"the look-back is skipped", "core/outbox/plan.go",
			"		return Step{Do: Find, Piece: i}\n", "		return Step{Do: Send, Piece: i}\n", simulation,
		},
		{
			"an edit takes its message's dedupe key", "core/chat/inbound.go",
			"string(in.Kind) + \"|\" + in.Conversation.ChannelKey() + \"|\" + in.MessageID\n	if in.Kind == Edit {\n",
			"string(Message) + \"|\" + in.Conversation.ChannelKey() + \"|\" + in.MessageID\n	if false {\n", simulation,
		},
		{
			"the dedupe key is not in the commit", "core/intake/entry.go",
			"			store.ScoreNow{Index: conversation.Dedupe, Member: e.key},\n", "", intakes,
		},
		{
			"the lease ends by the caller's clock", "core/worker/holding.go",
			"deadline: began.Add(w.o.Lease)", "deadline: c.Until",
			[]string{"./core/worker"},
		},
		{
			"an attempt at a claim is not counted", "core/store/memory/agenda.go",
			"	it.attempts++\n", "	it.attempts = 1\n",
			[]string{"./core/store/memory"},
		},
		{
			"an attempt at a delivery is not counted", "core/outbox/outcome.go",
			"	p.Attempts++\n", "", simulation,
		},
		{
			"an answer does not look for a newer stop", "core/turn/run.go",
			"store.At{Key: conversation.HeadKey, Version: r.headVer}", "store.Fewer{Collection: conversation.Session, N: 1000}", turns,
		},
		{
			"the claim is released before the answer", "core/turn/finish.go",
			"	res, err := r.tell(ctx, d, head, events, ops)\n",
			"	_, _ = r.Store.Commit(ctx, store.Commit{ID: \"turn.early/\" + r.NewID(), Partition: r.p, Ops: []store.Op{r.release(true, time.Time{})}})\n" +
				"	res, err := r.tell(ctx, d, head, events, ops)\n", simulation,
		},
		{
			"deliveries go out by their names", "core/outbox/pass.go",
			"cmp.Compare(a.Born, b.Born)", "cmp.Compare(a.Key.Name, b.Key.Name)", outboxes,
		},
		{
			"the live message is posted without its entry", "core/turn/live.go",
			`"turn.live", guardHead, nil, store.Put{Key: d.Key(), Value: conversation.Encode(d)})`, `"turn.live", guardHead, nil)`, simulation,
		},
		{
			"an unrepeatable call is run again", "core/session/next.go",
			"			if c.Repeatable {\n", "			if true {\n", simulation,
		},
		{
			"a call without a result is shown to the model", "core/session/history.go",
			"			r = item{text: noResult, failed: true}\n", "			continue\n", simulation,
		},
		{
			"a tool runs that the agent does not have", "core/turn/perform.go",
			"	t, hidden, ok := r.bound(ctx, f, cs.Name)\n", "	t, hidden, ok := r.bound(ctx, f, cs.Name)\n	if !ok {\n		t, ok = r.Tools.Get(cs.Name)\n	}\n", turns,
		},
		{
			"an answer overtakes what waits in the outbox", "core/turn/finish.go",
			"	r.last = guard\n", "	_ = guard\n", simulation,
		},
		{
			"a decision is taken without its guard", "core/turn/intake.go",
			"		r.guards = append(r.guards, store.At{Key: doc.Key(), Version: doc.version})\n", "", turns,
		},
		{
			"a handover is taken twice", "core/handover/taker.go",
			"store.At{Key: mark}, store.Fewer", "store.Fewer",
			[]string{"./core/handover"},
		},
		{
			"a poisoned turn is never set aside", "core/turn/finish.go",
			"	if r.suspect.Count < r.MaxAttempts {\n", "	if true {\n", turns,
		},
		{
			"a commit that is repeated is applied again", "core/store/memory/commit.go",
			"if res, ok := p.repeat(c.ID, now); ok {", "if res, ok := p.repeat(c.ID, now); ok && false {",
			[]string{"./core/store/memory", "-run", "TestConformance"},
		},
		{
			"a provider's echo of the key is not redacted", "core/model/openai/redact.go",
			"		s = strings.ReplaceAll(s, secret, redacted)\n	}\n	s = r.shape.ReplaceAllString(s, redacted)\n	s = r.pieces(s)\n", "		_ = secret\n	}\n",
			[]string{"./core/model/openai"},
		},
		{
			"a secret passes into the log", "cmd/internal/redact/secrets.go",
			"	for _, x := range secrets {\n", "	for _, x := range secrets[:0] {\n",
			[]string{"./cmd/internal/redact"},
		},
		{
			"a model that was down is never tried again", "core/model/health.go",
			"	if now.Before(h.trialAt) {\n", "	if true {\n",
			[]string{"./core/model"},
		},
		{
			"an answer covers a message that stays in the inbox", "core/turn/intake.go",
			"		r.ops = append(r.ops, store.Delete{Key: m.Key()})\n	}\n	r.inbox = r.inbox[n:]\n", "	}\n	r.inbox = r.inbox[n:]\n", simulation,
		},
		{
			"a list of skills does not bind the one who calls", "skills/skill.go",
			"	if sel.Chosen && !slices.ContainsFunc(sel.Names, func(n string) bool { c, ok", "	if false && !slices.ContainsFunc(sel.Names, func(n string) bool { c, ok",
			[]string{"./skills", "-run", "TestOwnershipMatrix"},
		},
		{
			"an agent's tool is everybody's", "skills/authored/registry.go",
			"		own := s.owned[of.Agent]\n", "		own := map[string]*entry{}\n		for _, m := range s.owned {\n			maps.Copy(own, m)\n		}\n",
			[]string{"./skills/authored", "-run", "TestOwnershipMatrix"},
		},
		{
			"a broken skill gives its name away", "skills/skill.go",
			"usable := func(k *Skill) (*Skill, bool) { return k, !k.broken && !k.Hidden }\n	if agent != \"\" {\n",
			"usable := func(k *Skill) (*Skill, bool) { return k, !k.broken && !k.Hidden }\n	if agent != \"\" && len(s.owned[agent]) > 0 && !s.owned[agent][0].broken {\n",
			[]string{"./skills", "-run", "TestBrokenOwnHoldsItsName"},
		},
		{
			"scripts have the network", "core/tool/sandbox/profile.go",
			"\"--unshare-all\", ", "\"--unshare-all\", \"--share-net\", ",
			[]string{"./core/tool/sandbox", "-run", "TestNoNetwork"},
		},
		{
			"scripts inherit the environment", "core/tool/sandbox/profile.go",
			"\"--cap-drop\", \"ALL\", \"--clearenv\",\n", "\"--cap-drop\", \"ALL\", \"--setenv\", \"LEAK\", \"x\",\n",
			[]string{"./core/tool/sandbox", "-run", "TestNothingOfTheEnvironmentIsSeen"},
		},
		{
			"what a script started outlives it", "core/tool/sandbox/profile.go",
			"\"--die-with-parent\", ", "",
			[]string{"./core/tool/sandbox", "-run", "TestNothingOutlivesARun"},
		},
	}
}
