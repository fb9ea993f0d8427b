package archtest_test

// layer orders the packages. A package may import from lower layers what its row allows, from its own layer only what its
// row names, and nothing from above.
type layer int

// The layers, lowest first.
const (
	vocabulary layer = iota // words that adapters and core share
	ports                   // what core asks of the outside, as interfaces and data
	heart                   // pure: events to state, state to decisions, and their layout in a store
	engines                 // perform decisions over ports
	drivers                 // implement a port or a platform; know an SDK
	edge                    // configuration and what only the command may know
	command                 // wires everything together
)

var layerNames = map[string]layer{
	"@vocabulary": vocabulary, "@ports": ports, "@heart": heart, "@engines": engines, "@drivers": drivers, "@edge": edge,
}

// row says what one package, or with "/..." a package and all below it, may import.
type row struct {
	pkg   string
	layer layer
	// may lists packages of the module; "@name" stands for a whole layer.
	may []string
	// modules lists the only packages from outside of the module and the standard library; each covers what lies below it.
	modules []string
	// tests lists packages of the module that only its tests may import, beside testHelpers.
	tests []string
	// testModules is what modules is, for tests alone.
	testModules []string
	// not lists packages of the standard library that its code must not import.
	not []string
}

// pure is what code without input and output has no use for.
var pure = []string{"context", "database/sql", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "sync", "syscall"}

// table is read from the most exact row to the least: the longest pattern that matches a package decides.
var table = []row{
	{pkg: "core/chat", layer: vocabulary, not: []string{"net", "net/http", "os"}},

	{pkg: "core/store", layer: ports, not: []string{"database/sql", "net", "net/http", "os"}},
	{pkg: "core/model", layer: ports, not: []string{"net", "os"}}, // net/http for the names of its status codes
	{pkg: "core/people", layer: ports, may: []string{"@vocabulary", "core/store"}},
	{pkg: "core/memory", layer: ports, may: []string{"@vocabulary", "core/store"}, modules: []string{"golang.org/x/text"}, tests: []string{"core/store/sqlite", "core/store/redis", "core/store/redis/redistest"}},

	{pkg: "core/session", layer: heart, may: []string{"@vocabulary", "core/model"}, not: pure},
	{pkg: "core/conversation", layer: heart, may: []string{"@vocabulary", "core/store", "core/model", "core/session"}, not: []string{"net", "net/http", "os"}},
	{pkg: "core/tool", layer: heart, may: []string{"@vocabulary", "core/model", "core/session"}},
	{pkg: "core/tool/gate", layer: heart, may: []string{"core/tool"}, not: pure},
	{pkg: "core/prompt", layer: heart, may: []string{"core/model", "core/session", "core/tool"}},

	{pkg: "core/worker", layer: engines, may: []string{"core/store"}},
	{pkg: "core/replica", layer: engines, may: []string{"core/store"}},
	{pkg: "core/handover", layer: engines, may: []string{"@vocabulary", "core/store", "core/conversation", "core/worker"}},
	{pkg: "core/command", layer: engines, may: []string{"@vocabulary", "@ports", "core/session", "core/conversation"}},
	{pkg: "core/tool/stack", layer: heart, may: []string{"core/model", "core/prompt", "core/session", "core/tool"}, tests: []string{"@vocabulary"}},
	{pkg: "core/tool/sandbox", layer: engines, modules: []string{"golang.org/x/sys"}, tests: []string{"core/tool/sandbox/sandboxtest"}},
	{pkg: "core/tool/sandbox/sandboxtest", layer: engines, may: []string{"core/tool/sandbox"}},
	{pkg: "core/tool/builtin", layer: engines, may: []string{"@vocabulary", "core/memory", "core/model", "core/session", "core/tool", "core/tool/sandbox"}},
	{pkg: "core/tool/files", layer: engines, may: []string{"core/memory", "core/model", "core/session", "core/tool", "core/tool/builtin", "core/tool/gate", "core/tool/sandbox"}, tests: []string{"@vocabulary", "core/tool/sandbox/sandboxtest"}},
	{pkg: "core/tool/web", layer: engines, may: []string{"core/model", "core/session", "core/tool"}, modules: []string{"golang.org/x/net/html"}, testModules: []string{"golang.org/x/net/dns/dnsmessage"}},
	{
		pkg: "core/tool/policy", layer: engines, may: []string{"core/memory", "core/store", "core/command", "core/people", "core/session", "core/conversation", "core/tool", "core/tool/gate"},
		tests: []string{"@vocabulary", "core/store/sqlite", "core/store/redis", "core/store/redis/redistest"},
	},
	{
		pkg: "core/project", layer: engines,
		may: []string{"@vocabulary", "core/store", "core/people", "core/command", "core/conversation", "core/tool/gate", "core/tool/policy"}, modules: []string{"golang.org/x/text"},
	},
	{pkg: "core/alarm", layer: engines, may: []string{"@vocabulary", "core/store", "core/session", "core/conversation"}},
	{pkg: "core/outbox", layer: engines, may: []string{"@vocabulary", "core/store", "core/conversation", "core/worker"}},
	{pkg: "core/turn", layer: engines, may: []string{"@vocabulary", "@ports", "@heart", "core/worker", "core/outbox"}, tests: []string{"core/handover", "core/command"}},
	{pkg: "core/intake", layer: engines, may: []string{"@vocabulary", "@ports", "core/session", "core/conversation", "core/command"}},

	{pkg: "core/simulation", layer: drivers, may: []string{"@vocabulary", "@ports", "@heart", "@engines"}},

	{pkg: "core/store/inproc", layer: drivers, may: []string{"core/store"}},
	{pkg: "core/store/memory", layer: drivers, may: []string{"core/store", "core/store/inproc"}, tests: []string{"core/store/storetest"}},
	{pkg: "core/store/redis", layer: drivers, may: []string{"core/store"}, modules: []string{"github.com/redis/go-redis/v9"}, tests: []string{"core/store/storetest", "core/store/redis/redistest"}},
	{pkg: "core/store/redis/redistest", layer: drivers, modules: []string{"github.com/redis/go-redis/v9"}},
	{pkg: "core/store/storetest", layer: drivers, may: []string{"core/store", "core/store/memory"}, modules: testModules},
	{pkg: "core/store/sqlite", layer: drivers, may: []string{"core/store", "core/store/inproc"}, modules: []string{"modernc.org/libc", "modernc.org/sqlite"}, tests: []string{"core/store/storetest"}},
	{pkg: "core/file", layer: engines, may: []string{"@vocabulary", "core/model", "core/session"}, modules: []string{"golang.org/x/text"}},
	{pkg: "core/file/pdf", layer: drivers, modules: []string{"github.com/klippa-app/go-pdfium", "github.com/tetratelabs/wazero"}},
	{pkg: "core/model/openai", layer: drivers, may: []string{"core/model"}, modules: []string{"github.com/sashabaranov/go-openai"}},
	{pkg: "core/model/modeltest", layer: drivers, may: []string{"core/model"}, tests: []string{"core/model/openai"}},
	{pkg: "skills", layer: drivers, may: []string{"core/model", "core/session", "core/tool", "core/tool/sandbox", "skills/internal/look"}, modules: []string{"go.yaml.in/yaml/v4"}, tests: []string{"core/tool/sandbox/sandboxtest"}},
	{pkg: "skills/internal/look", layer: drivers},
	{
		pkg: "skills/authored", layer: drivers, may: []string{"core/model", "core/session", "core/tool", "core/tool/sandbox", "skills", "skills/internal/look"},
		modules: []string{"github.com/pelletier/go-toml/v2", "github.com/santhosh-tekuri/jsonschema/v6"}, tests: []string{"core/tool/sandbox/sandboxtest"},
	},
	{pkg: "agents", layer: drivers, modules: []string{"go.yaml.in/yaml/v4"}},

	{pkg: "bots/console", layer: drivers, may: []string{"@vocabulary", "bots/console/proto"}},
	{pkg: "bots/console/proto", layer: drivers},
	{pkg: "bots/console/terminal", layer: drivers, may: []string{"bots/console/proto"}, modules: []string{"charm.land", "github.com/charmbracelet/x", "github.com/yuin/goldmark", "golang.org/x/term"}, tests: []string{"@vocabulary", "bots/console"}, testModules: []string{"github.com/creack/pty"}},
	{pkg: "bots/slack", layer: drivers, may: []string{"@vocabulary", "bots/markup"}, modules: []string{"github.com/slack-go/slack", "github.com/gorilla/websocket"}, tests: []string{"bots/bottest/slackfake"}},
	{pkg: "bots/bottest", layer: drivers, may: []string{"@vocabulary"}, modules: testModules},
	{pkg: "bots/bottest/wire", layer: drivers},
	{pkg: "bots/bottest/platform", layer: drivers, may: []string{"bots/bottest/wire"}, tests: []string{"@vocabulary", "bots/bottest/testbot"}},
	{pkg: "bots/bottest/slackfake", layer: drivers, modules: []string{"github.com/gorilla/websocket"}},
	{pkg: "bots/markup", layer: drivers, modules: []string{"github.com/yuin/goldmark", "github.com/clipperhouse/uax29/v2"}},
	{pkg: "bots/bottest/testbot", layer: drivers, may: []string{"@vocabulary", "bots/bottest/wire"}},

	{pkg: "config", layer: edge, may: []string{"core/tool", "core/tool/gate"}, modules: []string{"github.com/pelletier/go-toml/v2", "github.com/fsnotify/fsnotify"}},

	{
		pkg: "cmd/...", layer: command, may: []string{"@vocabulary", "@ports", "@heart", "@engines", "@drivers", "@edge", "cmd/internal/..."},
		modules:     []string{"github.com/alecthomas/kong", "github.com/prometheus/client_golang", "golang.org/x/term"},
		testModules: []string{"github.com/rogpeppe/go-internal", "github.com/creack/pty"},
	},
}

// testHelpers may be imported by every test.
var testHelpers = []string{
	"bots/bottest",
	"core/store/memory", "core/model/modeltest", "bots/bottest/platform", "bots/bottest/testbot", "bots/bottest/wire",
}

// testModules may be imported by every test.
var testModules = []string{
	"github.com/google/go-cmp", "pgregory.net/rapid", "go.uber.org/goleak",
}

// sdks names where each SDK may be known at all, tests included: one folder each.
var sdks = map[string]string{
	"github.com/redis/go-redis":           "core/store/redis",
	"modernc.org/libc":                    "core/store/sqlite",
	"modernc.org/sqlite":                  "core/store/sqlite",
	"github.com/sashabaranov/go-openai":   "core/model/openai",
	"github.com/slack-go/slack":           "bots/slack",
	"github.com/klippa-app/go-pdfium":     "core/file/pdf",
	"github.com/bwmarrin/discordgo":       "bots/discord",
	"github.com/robfig/cron":              "scheduler",
	"github.com/alecthomas/kong":          "cmd",
	"github.com/prometheus/client_golang": "cmd",
}
