package main

import (
	"embed"
	"fmt"
	"github.com/seed61713e19/capstan/internal/patterns"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/faults"
)

//go:embed tasks/*.yaml
var files embed.FS

// A Task is a kind of text: its inputs, a right text, the computed gates for it, and the question
// for a judge.
//
// Texts and inputs have placeholders, so all rows differ. <<name|one|two>> becomes one of the
// options. Placeholders with the same name and number of options have the same choice.
// <<name:10..99>> becomes a number.
type Task struct {
	Name     string            `yaml:"name"`
	Question string            `yaml:"question"`
	Inputs   map[string]string `yaml:"inputs"`
	Checks   []map[string]any  `yaml:"checks"`
	Schema   map[string]any    `yaml:"schema"` // of a JSON text
	Text     string            `yaml:"text"`
}

// order lists the tasks in the order of the table.
var order = []string{"capy", "edit", "schedule", "request", "windlass"}

func readTasks() (list []*Task, err error) {
	for _, name := range order {
		text, err := files.ReadFile("tasks/" + name + ".yaml")
		if err != nil {
			return nil, err
		}
		t := &Task{}
		if err := yaml.Unmarshal(text, t); err != nil {
			return nil, fmt.Errorf("tasks/%s.yaml: %w", name, err)
		}
		if t.Schema != nil {
			t.Checks = append(t.Checks, map[string]any{"validator": "json_schema", "with": map[string]any{"schema": t.Schema}})
		}
		list = append(list, t)
	}
	return list, nil
}

var choice = patterns.Lazy(`<<(\w+)(?:\|([^<>]*)|:(\d+)\.\.(\d+))>>`)

// A Row is one text to write: its inputs and its right text.
type Row struct {
	*Task
	inputs map[string]any
	given  string // all inputs
	right  string
}

// row makes a row from random numbers.
func (t *Task) row(rng *rand.Rand) Row {
	drawn := map[string]uint64{}
	fill := func(text string) string {
		return choice().ReplaceAllStringFunc(text, func(found string) string {
			m := choice().FindStringSubmatch(found)
			if _, known := drawn[m[1]]; !known {
				drawn[m[1]] = rng.Uint64()
			}
			if m[3] == "" {
				options := strings.Split(m[2], "|")
				return options[drawn[m[1]]%uint64(len(options))]
			}
			low, _ := strconv.Atoi(m[3])
			high, _ := strconv.Atoi(m[4])
			return strconv.FormatUint(uint64(low)+drawn[m[1]]%uint64(high-low+1), 10)
		})
	}
	r := Row{Task: t, right: fill(t.Text), inputs: map[string]any{}}
	var given []string
	for _, name := range t.inputNames() {
		text := fill(t.Inputs[name])
		r.inputs[name] = text
		given = append(given, text)
	}
	r.given = strings.Join(given, "\n\n")
	return r
}

func (t *Task) inputNames() (names []string) {
	for name := range t.Inputs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A Kind is a kind of fault.
type Kind string

// The kinds: faults of form are visible without knowing the subject; the others
// change the meaning.
const (
	Form    Kind = "form"
	Meaning Kind = "meaning"
)

// operators plant the faults of each kind. Only faults that are always bad are
// used ([faults.Always]).
var operators = map[Kind][]faults.Operator{
	Form: {
		faults.FieldDropped, faults.FieldRetyped, faults.Truncated, faults.SentenceCut, faults.SentenceDoubled, faults.Placeholder, faults.TemplateTag,
		faults.Disclaimer, faults.Refusal, faults.OtherLanguage, faults.LanguageMixed, faults.Secret, faults.PersonalData, faults.FenceOpen,
		faults.CellLost,
	},
	Meaning: {
		faults.NegationAdded, faults.NegationTaken, faults.NumberDigit, faults.NumberMagnitude, faults.NumberSign, faults.PercentForValue,
	},
}

// A Bad is a bad text with its fault.
type Bad struct {
	text     string
	kind     Kind
	operator string
	note     string
}

// bad plants a fault of the kind in the right text. All operators that apply to this text are
// equally likely.
func (r Row) bad(kind Kind, rng *rand.Rand) (Bad, error) {
	list := operators[kind]
	for _, i := range rng.Perm(len(list)) {
		text := faults.Read(r.right, faults.Known{Given: r.given, Schema: plain(r.Schema)})
		var sure []faults.Fault
		for _, f := range list[i].Apply(text, rng) {
			if f.Sure == faults.Always {
				sure = append(sure, f)
			}
		}
		if len(sure) > 0 {
			f := sure[rng.IntN(len(sure))]
			return Bad{f.Text, kind, list[i].Name, f.Place + ": " + f.Note}, nil
		}
	}
	return Bad{}, fmt.Errorf("%s: no fault of %s has a place in\n%s", r.Name, kind, r.right)
}

// plain returns a schema as a plain value, or nil.
func plain(schema map[string]any) any {
	if schema == nil {
		return nil
	}
	return schema
}
