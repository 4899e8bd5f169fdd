package measure

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/validators/schema"
)

// A Label says whether a text is good: a person's word, or, where it is Planted,
// that of whoever made the text bad. In a file it is one line of JSON.
type Label struct {
	Text     string          `json:"text" jsonschema:"the SHA-256 of the text, as 64 hexadecimal digits"`
	Phase    string          `json:"phase" jsonschema:"the phase that gave the text"`
	Gate     string          `json:"gate" jsonschema:"the gate that the label is about; all for the text as such"`
	Good     bool            `json:"good" jsonschema:"whether the text is good: whether the gate should let it by"`
	Reason   string          `json:"reason,omitempty" jsonschema:"why, for people"`
	By       string          `json:"by,omitempty" jsonschema:"who says so"`
	Time     time.Time       `json:"time" jsonschema:"when"`
	Draw     *Draw           `json:"draw,omitempty" jsonschema:"how the text was drawn; without it the text was chosen"`
	Planted  string          `json:"planted,omitempty" jsonschema:"the operator that made the text bad; without it the text is a natural one"`
	Sure     string          `json:"sure,omitempty" jsonschema:"of a planted fault: always or usually bad"`
	Verdicts map[string]bool `json:"verdicts,omitempty" jsonschema:"what gates said of the text, by the digests of what they were: true let it by"`
}

// All is the gate of a label that is about the text as such.
const All = "all"

// The sureties of a planted fault.
const (
	Always  = "always"
	Usually = "usually"
)

// LabelSchema is the JSON Schema of a label, as a plain value.
func LabelSchema() map[string]any { return schema.For[Label]() }

// TextDigest is the name of a text in labels: its SHA-256 in hexadecimal.
func TextDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// maxLabel bounds one line of labels, in bytes.
const maxLabel = 1 << 20

// ReadLabels reads labels, one a line. A line that is none is told in wrong, with
// its number from 1, and taken for nothing; blank lines are passed over. An error
// is the reader's.
func ReadLabels(r io.Reader) (labels []Label, wrong []error, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, more, err := readLine(lines)
		if err != nil {
			return labels, wrong, err
		}
		switch l, err := parseLabel(line); {
		case len(bytes.TrimSpace(line)) == 0:
		case err != nil:
			wrong = append(wrong, fmt.Errorf("line %d: %w", n, err))
		default:
			labels = append(labels, l)
		}
		if !more {
			return labels, wrong, nil
		}
	}
}

// readLine reads a line, of which no more is kept than a label may have.
func readLine(r *bufio.Reader) (line []byte, more bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLabel {
			line = append(line, part...)
		}
		switch {
		case err == nil:
			return line, true, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

func parseLabel(line []byte) (l Label, err error) {
	if len(line) > maxLabel {
		return l, fmt.Errorf("a label has at most %d bytes", maxLabel)
	}
	v, err := schema.Parse(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\uFEFF")))
	if err != nil {
		return l, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return l, errors.New("a label is an object")
	}
	for _, name := range []string{"text", "phase", "good", "time"} {
		if object[name] == nil {
			return l, fmt.Errorf("it has no %s: this is not a label as capstan writes them", name)
		}
	}
	if l, err = schema.Decode[Label](object); err != nil {
		return l, fmt.Errorf("%w: this is not a label as this capstan writes them", err)
	}
	return l, l.settle()
}

// settle checks a label and fills in what goes without saying.
func (l *Label) settle() error {
	l.Text = strings.TrimPrefix(l.Text, "sha256:")
	l.Gate = cmp.Or(l.Gate, All)
	if l.Planted != "" && l.Sure == "" {
		l.Sure = Always
	}
	if l.Draw != nil {
		if err := l.Draw.check(); err != nil {
			return err
		}
	}
	raw, err := hex.DecodeString(l.Text)
	switch {
	case err != nil || len(raw) != sha256.Size || strings.ToLower(l.Text) != l.Text:
		return errors.New("text is not a SHA-256 in 64 lower-case hexadecimal digits")
	case l.Phase == "":
		return errors.New("it names no phase")
	case l.Planted != "" && l.Good:
		return errors.New("a text in which a fault was planted cannot be good")
	case l.Planted == "" && l.Sure != "":
		return errors.New("sure is for planted faults alone")
	case l.Planted != "" && l.Sure != Always && l.Sure != Usually:
		return fmt.Errorf("sure must be always or usually, not %q", l.Sure)
	}
	return nil
}

// Weight returns how much the label's text counts in a rate, see [Draw.Weight].
func (l Label) Weight() float64 {
	if l.Draw == nil {
		return 0
	}
	return l.Draw.Weight()
}

// Line is the label as it stands in a file, its line end included.
func (l Label) Line() ([]byte, error) {
	if err := l.settle(); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(l)
	return append(raw, '\n'), err
}

// Known is what people say of a text that a phase gave.
type Known struct {
	Good     bool
	Labelled bool
	Weight   float64 // of its draw, the largest of all labels; 0 if no rate may use it
}

// A Ledger is people's labels as they stand: of what one person said of one text
// the latest, and what several say otherwise of one text apart, until one of them
// says what the other does. Planted texts are in a part of their own.
type Ledger struct {
	said    map[about]map[string]Label // by person
	planted map[about]Label
}

// about is what a label is about. A text's name is cut to as many digits as the
// journal has of it.
type about struct{ text, phase, gate string }

// TextDigits is how many of the digits of a text's SHA-256 tell it from others.
const TextDigits = 40

func aboutOf(text, phase, gate string) about {
	return about{text[:min(TextDigits, len(text))], phase, gate}
}

// NewLedger makes one of labels in any order.
func NewLedger(labels []Label) *Ledger {
	g := &Ledger{said: map[about]map[string]Label{}, planted: map[about]Label{}}
	for _, l := range labels {
		key := aboutOf(l.Text, l.Phase, l.Gate)
		if l.Planted != "" {
			if old, ok := g.planted[key]; !ok || !old.Time.After(l.Time) {
				g.planted[key] = l
			}
			continue
		}
		if g.said[key] == nil {
			g.said[key] = map[string]Label{}
		}
		if old, ok := g.said[key][l.By]; !ok || !old.Time.After(l.Time) {
			g.said[key][l.By] = l
		}
	}
	return g
}

// Of tells what people say of a text for a gate: what is said of the gate itself,
// by its name or one that it had before, else of the text as such. What they do not
// agree on is not labelled.
func (g *Ledger) Of(text, phase string, names ...string) Known {
	for _, gate := range append(names, All) {
		if all := g.said[aboutOf(text, phase, gate)]; len(all) > 0 {
			return agreed(all)
		}
	}
	return Known{}
}

func agreed(all map[string]Label) Known {
	k := Known{}
	for _, l := range all {
		if k.Labelled && k.Good != l.Good {
			return Known{}
		}
		k = Known{l.Good, true, max(k.Weight, l.Weight())}
	}
	return k
}

// By returns what a person says of the text for the gate, and whether there is such a
// label.
func (g *Ledger) By(person, text, phase, gate string) (l Label, found bool) {
	l, found = g.said[aboutOf(text, phase, gate)][person]
	return l, found
}

// Planted lists the labels of planted faults, in the order of their texts.
func (g *Ledger) Planted() []Label { return slices.SortedFunc(maps.Values(g.planted), compareLabels) }

// Natural lists people's labels that stand, in the order of their texts.
func (g *Ledger) Natural() []Label {
	var list []Label
	for _, all := range g.said {
		list = slices.AppendSeq(list, maps.Values(all))
	}
	slices.SortFunc(list, compareLabels)
	return list
}

func compareLabels(a, b Label) int {
	return cmp.Or(strings.Compare(a.Text, b.Text), strings.Compare(a.Phase, b.Phase), strings.Compare(a.Gate, b.Gate), strings.Compare(a.By, b.By))
}

// A Contradiction is a text of which people say different things, a case to
// settle.
type Contradiction struct {
	Text  string   `json:"text"`
	Phase string   `json:"phase"`
	Gate  string   `json:"gate"`
	Good  []string `json:"good"` // who says that it is
	Bad   []string `json:"bad"`
}

// Contradictions lists them, in the order of their texts.
func (g *Ledger) Contradictions() []Contradiction {
	list := []Contradiction{}
	for _, l := range g.Natural() {
		all := g.said[aboutOf(l.Text, l.Phase, l.Gate)]
		if agreed(all).Labelled {
			continue
		}
		n := len(list)
		if n == 0 || list[n-1].Text != l.Text || list[n-1].Phase != l.Phase || list[n-1].Gate != l.Gate {
			list = append(list, Contradiction{Text: l.Text, Phase: l.Phase, Gate: l.Gate})
			n++
		}
		c := &list[n-1]
		if l.Good {
			c.Good = append(c.Good, l.By)
		} else {
			c.Bad = append(c.Bad, l.By)
		}
	}
	return list
}

// A Pair is two people who have labelled the same texts, and how: the first
// one's labels as the truth, the second one's as the verdicts.
type Pair struct {
	First, Second string
	Confusion     Confusion
}

// Pairs lists everybody's agreement with everybody else who has labelled some of
// the same texts, by name.
func (g *Ledger) Pairs() []Pair {
	found := map[[2]string]*Pair{}
	for _, all := range g.said {
		for a, first := range all {
			for b, second := range all {
				if a >= b {
					continue
				}
				key := [2]string{a, b}
				if found[key] == nil {
					found[key] = &Pair{First: a, Second: b}
				}
				found[key].Confusion.Add(first.Good, second.Good)
			}
		}
	}
	list := make([]Pair, 0, len(found))
	for _, p := range found {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b Pair) int {
		return strings.Compare(a.First+"\x00"+a.Second, b.First+"\x00"+b.Second)
	})
	return list
}
