package intake

import "time"

// BotPolicy says what becomes of other bots' messages.
type BotPolicy string

// The policies for bots.
const (
	BotsIgnored   BotPolicy = "ignore"
	BotsMentioned BotPolicy = "mention" // taken when they mention Herald by name, under the loop guard
)

// Policy is what a workspace's settings say about taking events in. A zero field means its default.
type Policy struct {
	// Bots is BotsIgnored unless set.
	Bots BotPolicy
	// Exchanges is how many messages of one bot are taken within Window; one more begins a Silence in which all of them are ignored. Two bots
	// that answer each other would go on for ever, and each answer costs a model call.
	Exchanges int
	Window    time.Duration
	Silence   time.Duration
	// Inbox is how many messages may wait in a conversation. Nobody reads the answer to the hundredth.
	Inbox int
	// Notices is how many deliveries may wait in a conversation before a full inbox is no longer answered but ends as a row.
	Notices int
	// Greet: Herald introduces itself at the first direct message of a person and at the first mention in a channel.
	Greet bool
	// Threadless: the platform's own commands carry no thread, so that a stop lists the caller's running turns of the channel.
	Threadless bool
	// Mark stands before a command in a message of the platform, SlashMark in its own commands; "/" when empty.
	Mark, SlashMark string
	// Text is the largest text in bytes, at most [MaxText].
	Text int
}

// The defaults of a policy, with those of its fields that carry a reason there.
const (
	DefaultExchanges = 20
	DefaultWindow    = time.Minute
	DefaultSilence   = time.Minute
	DefaultInbox     = 100
	DefaultNotices   = 20
	DefaultText      = 100_000
)

// MaxText is the most that Policy.Text can be: six bytes of JSON for each byte still fit into a value of the store, with room for the rest.
const MaxText = 160_000

// InteractionWait is how long an interaction waits for the store unless set otherwise. The platform shows an error after three
// seconds, and never sends an interaction again.
const InteractionWait = time.Second

// skew is how long a dedupe key is kept beyond the age at which its event is refused, so that a platform's clock that differs from the
// store's opens no gap between the two.
const skew = time.Hour

func (p Policy) complete() Policy {
	if p.Bots == "" {
		p.Bots = BotsIgnored
	}
	fill(&p.Exchanges, DefaultExchanges)
	fill(&p.Window, DefaultWindow)
	fill(&p.Silence, DefaultSilence)
	fill(&p.Inbox, DefaultInbox)
	fill(&p.Notices, DefaultNotices)
	fill(&p.Text, DefaultText)
	p.Text = min(p.Text, MaxText)
	return p
}

// fill sets what is not set: no field of a policy means anything at zero or below.
func fill[T int | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}
