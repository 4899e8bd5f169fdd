package runner_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed61713e19/capstan/"

// everywhere is what each package may import: regular expressions are kept in it.
const everywhere = "validators/patterns"

// floors is the house: what each package may import of it. A new edge is a
// word here, for a reviewer to see.
var floors = map[string]string{
	// What several layers share.
	"internal/files": "", // files whose names are not trusted
	"internal/hosts": "", // addresses that are not trusted
	// The files with which people install Capstan: it has tests only.
	"packaging": "",
	// Floor 0.
	"templates/jinja":        "runner/spellings", // the language of templates
	"templates/prompts":      "",                 // what we say to models
	"templates":              "templates/jinja",
	"validators/schema":      "internal/jsonvalue internal/modelmarkup internal/reading",
	"runner/process":         "runner/internal/fences runner/internal/pins",
	"runner/internal/pins":   "", // the files that decide a run
	"runner/internal/fences": "", // effects of a run that another process has taken over
	"runner/signatures":      "",
	"runner/spellings":       "", // what was meant by a word
	everywhere:               "",
	"internal/jsonvalue":     "",                   // JSON text, read into plain values
	"internal/textdiff":      "internal/reading",   // two texts, compared unit by unit
	"internal/reading":       "internal/jsonvalue", // Markdown, read into a document with positions
	"internal/modelmarkup":   "",                   // thinking and tool calls that models write into texts
	"validators/secrets":     "",
	"validators/languages":   "",
	// Ids of MCP messages.
	"runner/internal/requestids": "",
	// Faults that are planted in good texts, to measure gates by.
	"validators/faults": "internal/reading validators/languages validators/schema validators/secrets",
	"validators":        "runner/process validators/faults validators/schema validators/secrets",
	// Questions that an author writes in place.
	"validators/expressions": "validators validators/schema",
	// Those that come with the language.
	"validators/builtins": "internal/modelmarkup internal/reading runner/reports templates/prompts validators validators/languages validators/schema validators/secrets",
	"runner/model":        "internal/modelmarkup",
	// JSON text from untrusted senders, parsed once.
	"runner/internal/jsontree": "",
	// What of a conversation stays when it weighs too much.
	"runner/exchanges": "runner/model",
	"runner/tool":      "internal/files internal/hosts runner/internal/pins runner/process validators/schema",
	"runner/event":     "runner/model runner/tool validators validators/schema",
	// Floor 1.
	"wards": "validators",
	// The words of other people's cascades, which the parser looks up and convert rewrites.
	"cascades/windlass": "",
	// Files as trees of values.
	"cascades/documents": "",
	// Cards and the ways between them, as pictures.
	"cascades/graphs": "",
	// Floor 2.
	"cascades":          "cascades/documents cascades/graphs cascades/windlass runner/exchanges runner/measure runner/model runner/process runner/reports runner/signatures runner/spellings runner/tool templates validators validators/expressions validators/faults validators/schema wards",
	"cascades/examples": "",
	// Whether what a model says is judged before it is written.
	"cascades/proofs": "cascades cascades/graphs runner/measure runner/tool templates wards",
	// Other people's cascades, written in our words and read as ours.
	"cascades/convert": "cascades cascades/windlass runner/tool validators/patterns",
	// Floor 3.
	// What is said to models and phases, put together of values.
	"runner/words": "cascades runner/exchanges runner/model templates templates/prompts validators/schema wards",
	// What parallel branches of a run have in common.
	"runner/shared": "cascades runner/model",
	// Which checks of a moment wait for which.
	"runner/lots": "cascades validators wards",
	// What is asked of people.
	"runner/questions": "cascades runner/event",
	"runner/engine":    "cascades internal/modelmarkup runner/event runner/exchanges runner/lots runner/model runner/questions runner/shared runner/tool runner/words templates templates/prompts validators validators/expressions validators/schema wards",
	// How effects travel to other processes.
	"runner/effects": "cascades runner/engine runner/event runner/model runner/tool validators/schema",
	// Floor 4.
	// JSON that is changed and cut as it stands.
	"runner/journal/encodings": "runner/model",
	// Who has a run, and whether he lives.
	"runner/journal/owners": "",
	// A connection to a server, which knows nothing of runs.
	"runner/journal/postgres": "runner/journal/statements",
	// One statement of a stranger, which capstan runs sql and sql_query run.
	"runner/journal/statements": "",
	"runner":                    "cascades internal/files internal/modelmarkup internal/reading runner/engine runner/event runner/internal/fences runner/internal/pins runner/model runner/process runner/receipt runner/tool validators validators/builtins validators/schema",
	"runner/journal":            "cascades internal/files runner runner/journal/encodings runner/journal/owners runner/journal/postgres runner/journal/statements runner/engine runner/event runner/model runner/tool validators validators/schema",
	// The next step after each way in which a run can end.
	"runner/endings": "cascades runner runner/engine runner/event runner/journal",
	// What folds over a run's events.
	"runner/junit": "",
	// A protocol of spans and metrics, which knows nothing of runs.
	"runner/telemetry/otlp": "",
	// Lines and columns that people read.
	"runner/reports": "",
	// The report that code scanners read.
	"runner/sarif": "",
	// Events and texts without secrets.
	"runner/redactions": "runner/event runner/journal/encodings runner/model runner/reports",
	// Arithmetic over verdicts.
	"runner/measure": "runner/measure/internal/sequential validators/schema",
	// Bounds that hold at every look.
	"runner/measure/internal/sequential": "",
	// A cascade on every row of a set.
	"runner/batch":    "cascades internal/files runner runner/event runner/measure runner/model validators validators/expressions validators/patterns validators/schema",
	"runner/trace":    "cascades runner/event runner/model runner/tool validators/schema",
	"runner/receipt":  "cascades runner/event runner/measure runner/signatures runner/trace validators/schema wards",
	"runner/backtest": "cascades runner/engine runner/event runner/junit runner/lots runner/model runner/reports runner/signatures runner/trace runner/words validators validators/schema wards",
	"runner/mutate":   "cascades runner/backtest runner/engine runner/junit runner/measure runner/reports validators validators/faults validators/schema wards",
	"runner/cases":    "cascades internal/files runner runner/backtest runner/engine runner/event runner/junit runner/measure runner/model runner/mutate runner/tool validators validators/schema",
	// The gate of coding agents.
	"runner/hooks":     "cascades internal/files internal/jsonvalue runner runner/journal wards",
	"runner/telemetry": "runner/event runner/model runner/telemetry/otlp validators/schema",
	"runner/cost":      "cascades runner/event runner/journal runner/measure runner/reports validators validators/patterns",
	"runner/trust":     "cascades runner/journal runner/junit runner/measure runner/reports validators wards",
	// What command lines give: inputs, their files, and models.
	"runner/given": "cascades cascades/documents internal/files validators/schema",
	// Floor 5: providers and gates. Gates know nothing of cascades.
	"runner/model/openai": "runner/internal/fences runner/internal/jsontree runner/model runner/model/internal/anthropic runner/model/internal/protocol",
	// What the client of models and the protocols share.
	"runner/model/internal/protocol": "runner/internal/jsontree runner/model",
	// Anthropic's protocol, without a client.
	"runner/model/internal/anthropic": "runner/internal/jsontree runner/model runner/model/internal/protocol",
	"runner/model/scripted":           "cascades/documents runner/model",
	// By the names of models: who is asked.
	"runner/model/providers": "internal/files runner/model runner/model/openai runner/model/scripted runner/process",
	// Scripts that are made of what is known.
	"runner/rehearsal": "cascades runner/event runner/model runner/model/scripted validators validators/patterns validators/schema wards",
	// A tool over databases, with the connections and the guard of the journal's.
	"runner/tool/query":   "runner/journal/postgres runner/journal/statements runner/process runner/tool validators/schema",
	"runner/tool/mcp":     "runner/internal/fences runner/internal/requestids runner/process runner/spellings runner/tool validators validators/schema",
	"validators/capy":     "internal/jsonvalue internal/reading templates/prompts validators validators/faults validators/patterns validators/schema",
	"internal/strictyaml": "validators validators/schema", // one YAML document, with the places of its problems
	"validators/edit":     "internal/files internal/reading internal/strictyaml internal/textdiff validators validators/faults validators/schema",
	"validators/request":  "internal/jsonvalue internal/modelmarkup internal/reading runner/reports validators validators/faults validators/request/internal/worktree validators/schema",
	"validators/schedule": "internal/files internal/modelmarkup runner/signatures runner/tool validators validators/schedule/spoilings validators/schedule/statements validators/schema",
	// The files that a response and an inspector look at.
	"validators/request/internal/worktree": "internal/files",
	// Bad schedules of good ones.
	"validators/schedule/spoilings": "validators/faults validators/schema",
	// What certificates state, signed.
	"validators/schedule/statements": "runner/signatures",
	// The server: its API, pages, followers of runs, and who may send requests.
	"runner/serve":                 "cascades runner runner/engine runner/event runner/journal runner/model runner/redactions runner/serve/internal/api runner/serve/internal/guards runner/serve/internal/live runner/serve/internal/pages runner/serve/orders validators validators/request validators/schema",
	"runner/serve/internal/pages":  "cascades cascades/graphs cascades/proofs runner runner/batch runner/cost runner/endings runner/engine runner/event runner/journal runner/measure runner/model runner/receipt runner/reports runner/serve/internal/api runner/serve/internal/guards runner/serve/internal/live runner/serve/orders runner/trace runner/trust validators validators/schema",
	"runner/serve/internal/api":    "runner/journal runner/redactions runner/serve/orders",
	"runner/serve/internal/live":   "runner runner/event runner/journal",
	"runner/serve/internal/guards": "",
	// Orders of runs, the process that carries them out, and why one is refused.
	"runner/serve/orders": "cascades runner runner/event runner/journal validators/schema",
	"runner/lsp":          "cascades runner/reports templates validators validators/expressions validators/schema", // it completes templates and expressions
	"runner/mcpserver":    "cascades internal/files runner runner/endings runner/event runner/internal/requestids runner/reports runner/tool validators validators/schema",
	// Real validation of requests: it starts programs and a browser.
	"validators/request/inspectors": "internal/hosts runner/process validators/request validators/request/internal/worktree",
	// Floor 6.
	"cmd/capstan": "*",
	// Suites that tests of other packages import.
	"runner/journal/postgres/postgrestest": "",
	"cascades/cascadestest":                "runner/tool runner/tool/query validators validators/builtins validators/capy validators/edit validators/request validators/schedule",
	"validators/validatorstest":            "validators validators/schema validators/validatorstest/processor",
	"validators/validatorstest/processor":  "",
	"runner/tool/tooltest":                 "runner/tool validators/schema",
	"runner/internal/servetest":            "runner runner/engine runner/event runner/journal runner/model runner/model/scripted runner/serve runner/serve/orders validators/builtins validators/schema",
	"runner/engine/enginetest":             "cascades runner runner/effects runner/engine runner/event runner/model runner/model/scripted runner/tool validators validators/builtins validators/schema",
}

// pure packages take bytes and values: what they do depends on nothing else.
var pure = []string{
	"cascades",
	"cascades/convert",
	"cascades/documents",
	"cascades/graphs",
	"cascades/proofs",
	"cascades/windlass",
	"internal/jsonvalue",
	"internal/modelmarkup",
	"internal/textdiff",
	"runner/engine",
	"runner/exchanges",
	"runner/journal/encodings",
	"runner/lots",
	"runner/measure",
	"runner/measure/internal/sequential",
	"runner/questions",
	"runner/receipt",
	"runner/reports",
	"runner/shared",
	"runner/signatures",
	"runner/words",
	"templates",
	"templates/jinja",
	"templates/prompts",
	"validators/languages",
	"validators/schedule/spoilings",
	"validators/schedule/statements",
	"validators/schema",
	"validators/secrets",
	"wards",
}

// impure is what pure packages may not import.
var impure = []string{"context", "os", "os/exec", "net", "net/http", "path/filepath", "io/ioutil", "math/rand", "log"}

func TestFloors(t *testing.T) {
	out, err := exec.Command("go", "list", "-e", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name := strings.TrimPrefix(words[0], module)
		allowed, known := floors[name]
		if !known {
			t.Errorf("%s stands on no floor", name)
			continue
		}
		for _, imported := range words[1:] {
			own, inside := strings.CutPrefix(imported, module)
			if own == everywhere {
				continue
			}
			if inside && allowed != "*" && !slices.Contains(strings.Fields(allowed), own) {
				t.Errorf("%s may not import %s", name, own)
			}
			if slices.Contains(pure, name) && slices.Contains(impure, imported) {
				t.Errorf("%s is pure and may not import %s", name, imported)
			}
		}
	}
}

// decoders are the files that read JSON with encoding/json themselves. All other
// JSON, and all that has a number of a model, a user or a tool in it, is read by
// validators/schema, which keeps it digit for digit where encoding/json makes a
// float64 of it. A new file here reads into types without any, or past numbers.
var decoders = []string{
	"cascades/documents/json.go", "runner/redactions/redactions.go", "runner/event/event.go", "runner/journal/encodings/encodings.go", "runner/journal/owners/owner.go", "runner/journal/reopen.go",
	"runner/mcpserver/clean.go", "runner/mcpserver/wire.go", "runner/model/model.go", "runner/model/extra.go", "runner/model/params.go",
	"runner/model/openai/assembly.go", "runner/model/openai/complaint.go", "runner/model/openai/extras.go", "runner/model/openai/format.go", "runner/model/openai/json.go", "runner/tool/mcp/bounded.go", "runner/tool/mcp/exact.go", "runner/tool/mcp/lines.go",
	"runner/receipt/issue.go", "runner/receipt/source.go", "runner/receipt/verify.go", "runner/signatures/envelope.go", "runner/signatures/trust.go", "runner/telemetry/otlp/rejected.go",
	"validators/request/form.go",
	"validators/request/inspectors/tab.go", "validators/request/parse.go", "validators/schema/extract.go",
	"validators/schema/unmarshal.go", "validators/schema/value.go", "validators/verdict.go",
}

// otherModule tells of a folder that is a module of its own.
func otherModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func TestOneReaderOfJSON(t *testing.T) {
	call := regexp.MustCompile(`\bjson\.(Unmarshal|NewDecoder)\(`)
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != ".." && otherModule(name) {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(name)
		file := strings.TrimPrefix(filepath.ToSlash(name), "../")
		if call.Match(source) && !slices.Contains(decoders, file) {
			t.Errorf("%s reads JSON without validators/schema", file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// wide are the packages of more than 25 files, and what makes each of them one room.
var wide = map[string]string{
	"cmd/capstan":                 "a file for each verb, and what several of them say alike",
	"runner/serve/internal/pages": "a file for each page, and for each part that pages share: diffs, plots, trends, formats",
	"cascades":                    "a file for each part of the language: what the parser fills in, checks and plans read",
	"runner/engine":               "a run is one walk, whose phases, tries and turns stand on one stack",
	"runner/journal":              "a recording, its host and the readers know how a run's rows lie, which nobody else is to know",
	"templates/jinja":             "one language: its parser, and the filters, tests and methods of its values",
	"validators/builtins":         "a file for each validator; builtins.go lists them all",
	"validators/schedule":         "four layers of gates over one database and one policy",
	"validators/schema":           "internal/modelmarkup",
}

// A package that grows past 25 files has parts with names, which want rooms of their
// own, or a reason to stay together.
func TestRooms(t *testing.T) {
	const most = 25
	count := map[string]int{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != ".." && otherModule(name) {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			count[strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../")]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range count {
		if why := wide[name]; n > most && why == "" {
			t.Errorf("%s has %d files: which parts of it have names?", name, n)
		}
	}
	for name := range wide {
		if count[name] <= most {
			t.Errorf("%s has %d files, and needs no reason", name, count[name])
		}
	}
}
