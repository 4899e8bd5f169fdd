// Package windlass has the vocabulary of Windlass, whose language is the ancestor of
// Capstan's, and of LARS, its successor. tables/words.tsv has a row for each word that
// Capstan lacks or calls by another name. The loader of cascades takes its diagnostics from
// the table, and package [github.com/seed61713e19/capstan/internal/windlass/convert] its
// rewrites.
package windlass

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// An Effect is what a word does in Capstan.
type Effect string

// The effects.
const (
	Ignored     Effect = "ignored"     // the file may have it, and it changes nothing
	Unsupported Effect = "unsupported" // the file loads without it, with a warning
	Renamed     Effect = "renamed"     // Capstan has it under another name
	Replaced    Effect = "replaced"    // the file does not load; another construct takes its place
)

// A Word is a key, a tool, a validator, a variable or a value of Windlass or LARS.
type Word struct {
	Effect     Effect
	Here       string // the name in Capstan, if it is renamed
	Advice     string // what to write instead, or the purpose of a tool, or the criteria of a judge
	Difference string // between two tools, with a comma before it
}

// Half sentences that point to the converter.
const (
	converts = "; capstan convert FILE writes it so"
	declares = "; capstan convert FILE declares the program, and you write it"
)

// TrimConverter returns an advice without the half sentence that points to the converter.
func TrimConverter(advice string) string {
	return strings.TrimSuffix(strings.TrimSuffix(advice, converts), declares)
}

//go:embed tables/words.tsv
var words string

// A table has the words by place and word. renamed has the renamed keys of a place, in order.
type table struct {
	words   map[string]map[string]Word
	keys    map[string][]string
	renamed map[string][]string
}

var parsed = sync.OnceValue(func() table { return parse(words) })

// parse reads the table. A row may name several places and several words.
func parse(text string) table {
	t := table{words: map[string]map[string]Word{}, keys: map[string][]string{}, renamed: map[string][]string{}}
	shared := strings.NewReplacer("; {CONVERT}", converts, "; {DECLARE}", declares,
		"{SERVER}", "use an MCP server or a program: tools: {search: {mcp: {command: […]}}}")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		for place := range strings.SplitSeq(columns[0], ", ") {
			w := Word{Effect: Effect(columns[2]), Here: columns[3], Advice: shared.Replace(columns[4])}
			switch {
			case w.Effect != Renamed:
			case place == "tool":
				w.Difference, w.Advice = w.Advice, w.Here+" does the same"+converts
			default:
				w.Advice = "the name in Capstan is " + w.Here + converts
			}
			if t.words[place] == nil {
				t.words[place] = map[string]Word{}
			}
			for name := range strings.FieldsSeq(columns[1]) {
				t.words[place][name] = w
				t.keys[place] = append(t.keys[place], name)
				if w.Effect == Renamed {
					t.renamed[place] = append(t.renamed[place], name)
				}
			}
		}
	}
	return t
}

// Find returns the word that a name is in a place, and reports whether the table has it. A
// place is a kind of mapping ("a phase"), "tool", "judge", "variable" or "value of KEY". A
// tool of the table that ends in * matches every name with that prefix.
func Find(place, name string) (Word, bool) {
	list := parsed().words[place]
	if w, ok := list[name]; ok {
		return w, true
	}
	for i := 1; place == "tool" && i <= len(name); i++ {
		if w, ok := list[name[:i]+"*"]; ok {
			return w, true
		}
	}
	return Word{}, false
}

// Key returns the word that a key is in a kind of mapping, and reports whether the table has
// it. Editors' keys begin with "_" and are ignored.
func Key(kind, key string) (Word, bool) {
	if strings.HasPrefix(key, "_") && parsed().words[kind] != nil {
		return Word{Effect: Ignored}, true
	}
	return Find(kind, key)
}

// Value returns the word that a value is under a key. A mapping is "{}".
func Value(key, value string) Word {
	w, _ := Find("value of "+key, value)
	return w
}

// Keys returns the keys of a kind of mapping, in the order of the table.
func Keys(kind string) []string { return slices.Clone(parsed().keys[kind]) }

// Synonyms returns the renamed keys of a kind of mapping, the preferred one first.
func Synonyms(kind string) []string { return parsed().renamed[kind] }

// Prompt returns the question of human_input: true after a phase.
func Prompt(phase string) string { return "Is the output of " + phase + " right?" }

// Declaration returns how to declare an unknown tool, and reports whether it is one of
// Windlass or LARS.
func Declaration(name string) (advice string, known bool) {
	w, known := Find("tool", name)
	if w.Effect == Renamed {
		return w.Advice, true
	}
	stem := Stem(name)
	declare := fmt.Sprintf("tools: {%[1]s: {exec: [./%[1]s]}} declares a program, {mcp: {command: […]}} a tool of an MCP server", stem)
	if known {
		return fmt.Sprintf("declare a tool that %s: %s", w.Advice, declare), true
	}
	return declare + fmt.Sprintf("; a file %[1]s.yaml or %[1]s.tool.yaml in tackle/ beside it, or in --tackle DIR, is found too", stem), false
}

// Stem returns a name for a tool that a path or a module names: check_stock for
// python:house.tools.check_stock.
func Stem(name string) string {
	stem := strings.TrimRight(name, "./:")
	for _, ext := range []string{".sql", ".py", ".sh", ".yaml", ".yml", ".json"} {
		stem = strings.TrimSuffix(stem, ext)
	}
	stem = stem[strings.LastIndexAny(stem, ".:/")+1:]
	stem = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, stem)
	return stem[:min(len(stem), 64)]
}
