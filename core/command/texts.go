package command

// The fixed texts of the commands, in one place so that they can be translated together.
const (
	helpHelp    = "shows the commands, or what one of them does"
	helpNew     = "ends this conversation's session; the next message begins a new one"
	helpCompact = "summarises the older part of this conversation for the model; nothing is lost"
	helpStop    = "stops what is running here and drops what waits for it"
	helpStatus  = "shows what runs or waits here"
	helpWhy     = "shows which agent, model and tools made the last answer, its tokens and its cost; REF names another answer or a failure"
	helpShow    = "shows the whole text of an answer that came too late and was replaced by one line"

	helpHead  = "Write to me as you would to a person. These words are commands behind %s:"
	helpFoot  = "%s are commands alone, too."
	helpMarks = "`/` or `!herald`"

	textUsage       = "That does not fit. Use `%s` — %s."
	textUnknown     = "`%s` is not a command."
	textNearest     = " Did you mean `%s`?"
	textUnknownFoot = " `help` lists the commands. It was not given to the agent: to send a text that begins with `/` or `!herald`, put a word before it."

	statusIdle     = "Nothing is running here."
	statusRunning  = "A turn is running since %s (round %d, %s)."
	statusStarting = "A turn is about to begin."
	statusAgent    = "Agent: `%s`."
	statusParked   = "It waits for:"
	statusApproval = "a decision: %s"
	statusQuestion = "an answer to: %s"
	statusTimer    = "a timer"
	statusUntil    = " (until %s)"
	statusQueue    = "Waiting in the queue: %s."
	statusOutgoing = "Not delivered yet: %s."
	statusFailure  = "Last failure, %s ago: %s (`%swhy %s`)."
	statusNearby   = "In threads of this channel %s; `%sstop` lists them."

	whyNone     = "There is no finished answer here yet."
	whyUnknown  = "`%s` names no answer and no failure of this conversation."
	whyHead     = "Turn `%s`, %s, took %s."
	whyFailed   = "It failed: %s (reference `%s`)."
	whyStopped  = "It was stopped."
	whyAgent    = "Agent: `%s`"
	whyModels   = "Model: %s"
	whyNoModel  = "Model: none gave an answer"
	whyTools    = "Tools: %s"
	whyNoTools  = "Tools: none"
	whyGate     = "Call of `%s`: %s (%s)"
	whyNoTokens = "Tokens and cost: none counted, as a call that fails or is broken off reports none"
	whyTokens   = "Tokens: %d in (%d of them cached), %d out, in %s"
	whyBroken   = "Broken off: about %d tokens in, %d out (an estimate; the provider tells nothing of a call that does not end, and the cost is without it)"
	whyCost     = "Cost: %s"
	whyCostNone = "Cost: unknown (no price is configured for the model)"
	whyCostTiny = "less than 0.000001"
	whyDetail   = "Detail for the operator: %s"

	showMissing = "Say which: `%sshow REF`. The reference stands in the line that replaced the text."
	showUnknown = "`%s` names no replaced text of this conversation."

	textAgo = "%s ago"
)
