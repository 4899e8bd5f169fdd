package runner_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed61713e19/capstan/"

// A layer is a list of packages that must not import some others. The compiler forbids import cycles and imports of internal packages; these rules
// forbid the remaining directions. A path that ends in /... includes the packages below it.
type layer struct{ packages, forbidden, reason string }

var layers = []layer{
	{"wards validators validators/... templates templates/... internal/reading internal/jsonvalue internal/textdiff internal/secrets",
		"cascades runner runner/engine runner/event runner/journal/... runner/serve/...", "a gate works without a cascade and without a run"},
	{"cascades cascades/...",
		"runner runner/engine runner/event runner/journal/... runner/serve/... validators/builtins validators/capy validators/edit validators/request validators/schedule",
		"a file is read without a run, and shipped gates are validators like those of users"},
	{"runner/engine runner/engine/internal/...",
		"runner runner/journal/... runner/serve/... runner/model/openai internal/process", "the engine reaches the outside through its Host only"},
	{"runner runner/event runner/model runner/tool",
		"runner/journal/... runner/serve/... runner/telemetry/... validators/capy validators/edit validators/request validators/schedule",
		"an embedder who uses none of these must not compile them"},
	{"runner/journal/... runner/telemetry/...", "runner/serve/... runner/model/openai", "a server uses the journal, not the reverse"},
}

// pure packages work on bytes and values. They read no file, no clock and no network.
var pure = strings.Fields(`cascades cascades/syntax cascades/internal/checks cascades/internal/findings cascades/internal/flow cascades/internal/reader
	internal/windlass internal/windlass/convert internal/checkorder internal/exchanges internal/graphs
	internal/jsonvalue internal/languages internal/messages internal/modelmarkup internal/proofs internal/receipts internal/secrets
	internal/signatures internal/textdiff runner/engine runner/engine/internal/parallel
	internal/clips internal/encodings runner/journal/internal/codec internal/measures/stats internal/measures/stats/internal/sequential templates templates/internal/jinja templates/prompts
	validators/schedule/internal/faultoperators validators/schedule/internal/statements internal/schema wards`)

// impure packages are those that a pure package must not import.
var impure = strings.Fields("context os os/exec net net/http path/filepath io/ioutil math/rand log")

func matches(list, name string) bool {
	for _, pattern := range strings.Fields(list) {
		dir, tree := strings.CutSuffix(pattern, "/...")
		if name == dir || tree && strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

func TestLayers(t *testing.T) {
	out, err := exec.Command("go", "list", "-e", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		name := strings.TrimPrefix(paths[0], module)
		known[name] = true
		for _, imported := range paths[1:] {
			if slices.Contains(pure, name) && slices.Contains(impure, imported) {
				t.Errorf("%s is pure and must not import %s", name, imported)
			}
			own, inside := strings.CutPrefix(imported, module)
			for _, l := range layers {
				if inside && matches(l.packages, name) && !matches(l.packages, own) && matches(l.forbidden, own) {
					t.Errorf("%s must not import %s: %s", name, own, l.reason)
				}
			}
		}
	}
	for _, name := range pure {
		if !known[name] {
			t.Errorf("%s is listed as pure but does not exist", name)
		}
	}
}

// heavy packages are those that an embedder without a journal, a server and telemetry must not compile.
var heavy = strings.Fields("gonum.org google.golang.org/protobuf go.opentelemetry.io github.com/in-toto modernc.org github.com/modelcontextprotocol")

func TestMinimalEmbedder(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "./model/openai", "../validators/builtins").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		if slices.ContainsFunc(heavy, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			t.Errorf("an embedder with a model compiles %s", name)
		}
	}
}
