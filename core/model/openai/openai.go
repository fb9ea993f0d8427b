package openai

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"herald/core/model"
)

// The defaults of [Options].
const (
	DefaultFirstToken    = 60 * time.Second
	DefaultBetweenTokens = 60 * time.Second
	// DefaultMaxAnswerBytes is far above what any platform shows of an answer and far below what would hurt the process.
	DefaultMaxAnswerBytes = 4 << 20
	// DefaultMaxStreamBytes bounds the raw stream: a token of four bytes travels in an event of a few hundred.
	DefaultMaxStreamBytes = 64 << 20
)

// Options says which model is driven and how. Name, BaseURL and Model are required.
type Options struct {
	// Name is the configured model's name, which stands in answers and errors.
	Name string
	// BaseURL is the endpoint's root, as https://api.openai.com/v1; a slash at its end is tolerated.
	BaseURL string
	// Key is sent as a bearer token; without one no Authorization header is sent.
	Key string
	// Model is the provider's id of the model.
	Model string
	// Temperature and MaxOutputTokens hold where a request leaves them open; nil and 0 leave them to the provider.
	Temperature     *float64
	MaxOutputTokens int
	// Thinking: the model takes reasoning_effort; to others nothing is said of thinking.
	Thinking bool
	// StreamUsage asks for usage in the stream. Some older servers refuse the field.
	StreamUsage bool
	// FirstToken bounds the time to the first data of an answer, BetweenTokens that between two of them; comments and
	// heartbeats do not count as data. 0 is the default.
	FirstToken, BetweenTokens time.Duration
	// MaxAnswerBytes bounds text and arguments of an answer, MaxStreamBytes what is read for it. 0 is the default.
	MaxAnswerBytes, MaxStreamBytes int
	// HTTP carries the requests; see [NewTransport], which drivers should share. Required.
	HTTP http.RoundTripper
	// Now is read for Retry-After dates; time.Now when nil.
	Now func() time.Time
}

// NewTransport is a pooled transport for any number of drivers: it keeps enough idle connections for many calls side by
// side and sets no limit on a stream's length.
func NewTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 512
	t.MaxIdleConnsPerHost = 256
	t.DisableCompression = true // compressed streams arrive in lumps
	return t
}

type driver struct {
	o      Options
	config goopenai.ClientConfig
	client *http.Client
	host   string
	quirks quirks
	redact redactor
}

// New is a driver of one model. It does no I/O.
func New(o Options) (model.Model, error) {
	u, err := url.Parse(o.BaseURL)
	switch {
	case o.Name == "":
		return nil, errors.New("openai: a model needs a configured name")
	case o.Model == "":
		return nil, errors.New("openai: model " + o.Name + " needs the provider's id of the model")
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		// The address itself is not repeated: it may hold a password.
		return nil, errors.New("openai: the base URL of model " + o.Name + " is no http or https address; write it like https://api.openai.com/v1")
	case o.HTTP == nil:
		return nil, errors.New("openai: model " + o.Name + " needs a transport; use NewTransport")
	}
	o.FirstToken = orDefault(o.FirstToken, DefaultFirstToken)
	o.BetweenTokens = orDefault(o.BetweenTokens, DefaultBetweenTokens)
	o.MaxAnswerBytes = orDefault(o.MaxAnswerBytes, DefaultMaxAnswerBytes)
	o.MaxStreamBytes = orDefault(o.MaxStreamBytes, DefaultMaxStreamBytes)
	if o.Now == nil {
		o.Now = time.Now
	}
	config := goopenai.DefaultConfig(o.Key)
	config.BaseURL = o.BaseURL
	return &driver{
		o: o, config: config, host: u.Host, quirks: quirksOf(u.Hostname()), redact: newRedactor(o.Key, u),
		// A redirect would carry the key elsewhere or turn the request into a GET: it is an error that names the target.
		client: &http.Client{Transport: o.HTTP, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

func orDefault[T int | time.Duration](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

// Generate implements [model.Model].
func (d *driver) Generate(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		answer, err := d.generate(ctx, r, func(text string) bool { return yield(model.Chunk{Text: text}, nil) })
		switch {
		case errors.Is(err, errBrokenOff):
		case err != nil:
			yield(model.Chunk{}, err)
		default:
			yield(model.Chunk{Done: answer}, nil)
		}
	}
}

// errBrokenOff ends a call whose caller has left the loop.
var errBrokenOff = errors.New("the caller broke off")

func (d *driver) generate(ctx context.Context, r *model.Request, show func(string) bool) (*model.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	body, names, err := d.encode(r)
	if err != nil {
		return nil, &model.Error{Kind: model.BadRequest, Model: d.o.Name, Message: err.Error()}
	}
	x := d.exchange(ctx, body)
	defer x.close()
	f := newFold(d, r, names)
	if err := d.receive(x, f, show); err != nil {
		if errors.Is(err, errBrokenOff) {
			return nil, err
		}
		return nil, d.fail(ctx, x, err)
	}
	answer, err := f.answer()
	if err != nil {
		return nil, d.fail(ctx, x, err)
	}
	return answer, nil
}

// receive reads the stream into f and shows the visible text as it comes. It returns nil only for a complete answer.
func (d *driver) receive(x *exchange, f *fold, show func(string) bool) error {
	config := d.config
	config.HTTPClient = x
	stream, err := goopenai.NewClientWithConfig(config).CreateChatCompletionStream(x.ctx, placeholder())
	if err != nil {
		return err
	}
	for {
		raw, err := stream.RecvRaw()
		if err != nil {
			if f.finished() && x.failure() == nil {
				break // complete: what broke off was only the end of the stream
			}
			if !errors.Is(err, io.EOF) {
				return err
			}
			if !x.done() || f.empty() {
				return &failure{kind: model.Unavailable, message: "the stream ended before the answer was complete"}
			}
			break
		}
		text, err := f.add(raw)
		if err != nil {
			return err
		}
		if text != "" && !show(text) {
			return errBrokenOff
		}
		if f.finished() {
			x.watch.settle()
		}
	}
	if text := f.flush(); text != "" && !show(text) {
		return errBrokenOff
	}
	return nil
}

// placeholder is the request that the library is given; the exchange sends the real body. Its model has a name that no rule
// of the library knows.
func placeholder() goopenai.ChatCompletionRequest {
	return goopenai.ChatCompletionRequest{Model: "herald"}
}

// fail turns any failure of a call into the port's error.
func (d *driver) fail(ctx context.Context, x *exchange, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f := x.failure()
	if f == nil {
		f = asFailure(x.ctx, err)
	}
	return &model.Error{
		Kind: f.kind, Model: d.o.Name, Status: f.status, RetryAfter: f.retryAfter,
		Message: d.redact.message(f.message),
	}
}
