package stats

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

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/schema"
)

// A Label says whether a text is good, according to a person. A Planted label comes from the
// operator that made the text bad. In a file, a label is one line of JSON.
type Label struct {
	Text     string          `json:"text" jsonschema:"the SHA-256 of the text, as 64 hexadecimal digits"`
	Phase    string          `json:"phase" jsonschema:"the phase of the text"`
	Gate     string          `json:"gate" jsonschema:"the gate that the label is about; all for the text as such"`
	Good     bool            `json:"good" jsonschema:"whether the text is good, so that the gate should pass it"`
	Reason   string          `json:"reason,omitempty" jsonschema:"the reason, for people"`
	By       string          `json:"by,omitempty" jsonschema:"the person"`
	Time     time.Time       `json:"time" jsonschema:"the time of the label"`
	Draw     *Draw           `json:"draw,omitempty" jsonschema:"how the text was drawn; without it the text was chosen"`
	Planted  string          `json:"planted,omitempty" jsonschema:"the operator that made the text bad; without it the text is a natural one"`
	Sure     string          `json:"sure,omitempty" jsonschema:"of a planted fault: always or usually bad"`
	Verdicts map[string]bool `json:"verdicts,omitempty" jsonschema:"verdicts on the text by the digests of the gates: true passed it"`
}

// All is the gate of a label about the text itself.
const All = "all"

// The sureties of planted faults.
const (
	Always  = "always"
	Usually = "usually"
)

// LabelSchema returns the JSON Schema of a label, as a plain value.
func LabelSchema() map[string]any { return schema.For[Label]() }

// TextDigest returns the SHA-256 of a text in hexadecimal digits, which is its name in labels.
func TextDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// maxLabel is the maximum length of a line, in bytes.
const maxLabel = 1 << 20

// ReadLabels reads labels, one per line. Invalid lines are returned in wrong, with their numbers
// from 1. Blank lines are skipped. It returns the error of the reader.
func ReadLabels(r io.Reader) (labels []Label, wrong []error, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, long, end := jsonvalue.ReadLine(lines, maxLabel)
		switch l, err := parseLabel(line); {
		case long:
			wrong = append(wrong, fmt.Errorf("line %d: a label has at most %d bytes", n, maxLabel))
		case len(bytes.TrimSpace(line)) == 0:
		case err != nil:
			wrong = append(wrong, fmt.Errorf("line %d: %w", n, err))
		default:
			labels = append(labels, l)
		}
		switch {
		case errors.Is(end, io.EOF):
			return labels, wrong, nil
		case end != nil:
			return labels, wrong, end
		}
	}
}

func parseLabel(line []byte) (l Label, err error) {
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
	return l, l.normalize()
}

// normalize checks a label and sets the defaults.
func (l *Label) normalize() error {
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

// Weight returns the weight of the text in a rate, see [Draw.Weight].
func (l Label) Weight() float64 {
	if l.Draw == nil {
		return 0
	}
	return l.Draw.Weight()
}

// Line returns the label as a line of a file.
func (l Label) Line() ([]byte, error) {
	if err := l.normalize(); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(l)
	return append(raw, '\n'), err
}

// Known is the common label of several people for a text.
type Known struct {
	Good     bool
	Labelled bool
	Weight   float64 // the largest weight of all labels; 0 if no rate may use it
}

// A Ledger contains the latest label of each person for each text. If people disagree, the text has
// no common label. Planted texts are stored apart.
type Ledger struct {
	byPerson map[labelKey]map[string]Label // by person
	planted  map[labelKey]Label
}

// A labelKey identifies the subject of labels. The digest of the text is cut as in the journal.
type labelKey struct{ text, phase, gate string }

// TextDigits is the number of digits of a SHA-256 that identify a text.
const TextDigits = 40

func newLabelKey(text, phase, gate string) labelKey {
	return labelKey{text[:min(TextDigits, len(text))], phase, gate}
}

// NewLedger returns a ledger of labels in any order.
func NewLedger(labels []Label) *Ledger {
	g := &Ledger{byPerson: map[labelKey]map[string]Label{}, planted: map[labelKey]Label{}}
	for _, l := range labels {
		key := newLabelKey(l.Text, l.Phase, l.Gate)
		if l.Planted != "" {
			if old, ok := g.planted[key]; !ok || !old.Time.After(l.Time) {
				g.planted[key] = l
			}
			continue
		}
		if g.byPerson[key] == nil {
			g.byPerson[key] = map[string]Label{}
		}
		if old, ok := g.byPerson[key][l.By]; !ok || !old.Time.After(l.Time) {
			g.byPerson[key][l.By] = l
		}
	}
	return g
}

// Of returns the common label of a text for a gate. A label of the gate, by its present or an
// earlier name, is preferred to a label of the text itself.
func (g *Ledger) Of(text, phase string, names ...string) Known {
	for _, gate := range append(names, All) {
		if all := g.byPerson[newLabelKey(text, phase, gate)]; len(all) > 0 {
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

// By returns the label of a person, and reports whether there is one.
func (g *Ledger) By(person, text, phase, gate string) (l Label, found bool) {
	l, found = g.byPerson[newLabelKey(text, phase, gate)][person]
	return l, found
}

// Planted returns the labels of planted faults, sorted by text.
func (g *Ledger) Planted() []Label { return slices.SortedFunc(maps.Values(g.planted), compareLabels) }

// Natural returns the latest labels of all people, sorted by text.
func (g *Ledger) Natural() []Label {
	var list []Label
	for _, all := range g.byPerson {
		list = slices.AppendSeq(list, maps.Values(all))
	}
	slices.SortFunc(list, compareLabels)
	return list
}

func compareLabels(a, b Label) int {
	return cmp.Or(strings.Compare(a.Text, b.Text), strings.Compare(a.Phase, b.Phase), strings.Compare(a.Gate, b.Gate), strings.Compare(a.By, b.By))
}

// A Contradiction is a text on which people disagree.
type Contradiction struct {
	Text  string   `json:"text"`
	Phase string   `json:"phase"`
	Gate  string   `json:"gate"`
	Good  []string `json:"good"` // people who call it good
	Bad   []string `json:"bad"`
}

// Contradictions returns the texts on which people disagree, sorted by text.
func (g *Ledger) Contradictions() []Contradiction {
	list := []Contradiction{}
	for _, l := range g.Natural() {
		all := g.byPerson[newLabelKey(l.Text, l.Phase, l.Gate)]
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

// A Pair compares the labels of two people. The labels of the second person take the place of
// verdicts.
type Pair struct {
	First, Second string
	Confusion     Confusion
}

// Pairs returns all pairs of people with labels of the same texts, sorted by name.
func (g *Ledger) Pairs() []Pair {
	found := map[[2]string]*Pair{}
	for _, all := range g.byPerson {
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
