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
			"	r.last = guards\n", "	_ = guards\n", simulation,
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
		{
			"an agent's tool runs in other hands", "skills/authored/registry.go",
			"			if e.Owner != \"\" && c.Agent != e.Owner {\n", "			if false && c.Agent != e.Owner {\n",
			[]string{"./skills/authored", "-run", "TestOwnershipMatrix"},
		},
		{
			"a child has tools that its caller has not", "core/tool/select.go",
			"return !c.mayPass(t) }", "return false && !c.mayPass(t) }",
			[]string{"./core/turn", "-run", "TestToolsOfAFrame"},
		},
		{
			"a delegation gets by what is denied to its caller", "core/turn/perform.go",
			"	g := tool.AskAll(ctx, r.gate, c, agentsOf(r.callers(f)))\n", "	g := tool.Ask(ctx, r.gate, c)\n",
			[]string{"./cmd/internal/hostile", "-run", "TestInjections$"},
		},
		{
			"a rule that denies meanwhile is not read after an approval", "core/turn/perform.go",
			"	case g.Answer == tool.Deny:\n", "	case g.Answer == tool.Deny && c.Approved == \"\":\n",
			[]string{"./core/turn", "-run", "TestEachDecisionIsLogged"},
		},
		{
			"a hidden tool runs when it is named", "core/turn/tools.go",
			"	return ts[i], hidden, !hidden\n", "	return ts[i], false, true\n",
			[]string{"./core/turn", "-run", "TestEachDecisionIsLogged"},
		},
		{
			"a path that leaves the working folder is left to the rules", "core/tool/gate/decide.go",
			"	case q.Outside:\n", "	case q.Outside && false:\n",
			[]string{"./cmd/internal/hostile", "-run", "TestInjections$"},
		},
		{
			"a bypass lets every tool through", "core/tool/gate/bypass.go",
			"	if b.Tool != q.Tool || !b.Live", "	if !b.Live",
			[]string{"./core/tool/gate"},
		},
		{
			"the mildest rule holds where several people ask", "core/tool/policy/keeper.go",
			"strictness(w.Answer) > strictness(v.Answer) {", "strictness(w.Answer) < strictness(v.Answer) {",
			[]string{"./core/tool/policy"},
		},
		{
			"an expired card is still decided", "core/intake/click.go",
			"	if !w.End.IsZero() && !stands[0].Now.Before(w.End) {\n", "	if false {\n",
			[]string{"./core/intake", "-run", "TestClick"},
		},
		{
			"who asked decides where that takes another", "core/intake/click.go",
			"	if slices.Contains(w.Barred, e.who.ID) {\n", "	if false {\n",
			[]string{"./core/intake", "-run", "TestWhoIsBarred"},
		},
		{
			"the result of a task lands once for each try", "core/handover/tasks.go",
			"	if d.State != conversation.TaskRunning {\n		return false, nil\n	}\n", "	owed.ID += as[0].Now.String()\n	r.ID += owed.ID\n",
			[]string{"./core/handover", "-run", "TestATaskLandsOnce"},
		},
		{
			"a symbolic link is followed", "core/tool/files/disk.go",
			"		case info.Mode()&fs.ModeSymlink != 0:\n			return", "		case false:\n			return",
			[]string{"./core/tool/files"},
		},
		{
			"the address of a page is judged before it leads elsewhere, and then no more", "core/tool/web/fetch.go",
			"	dialer := &net.Dialer{Timeout: timeout / 2, Resolver: o.Resolver, Control: o.Control}\n",
			"	asked := map[string]bool{}\n	judge := o.Control\n	o.Control = func(n, a string, c syscall.RawConn) error {\n		if len(asked) > 0 {\n			return nil\n		}\n" +
				"		asked[a] = true\n		return judge(n, a, c)\n	}\n	dialer := &net.Dialer{Timeout: timeout / 2, Resolver: o.Resolver, Control: o.Control}\n",
			[]string{"./core/tool/web", "-run", "TestRedirects"},
		},
		{
			"a person's notes are open in a channel", "core/memory/room.go",
			"		case !r.Direct:\n", "		case false:\n",
			[]string{"./core/memory", "-run", "TestRooms"},
		},
	}
}
