package lsp

import (
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/validators/builtins"
)

const sample = `cascade_id: sample
validators:
  tone: {judge: "Is it friendly?", "votes": 3}
phases:
- name: draft   # the first
  instructions: |
    Write on {{ input.topic }}:
      - as it is
  handoffs: [polish, {target: draft, when: 'outputs["draft"] != "it''s"'}]
- name: polish
  "instructions": "over
    two lines {{ outputs.draft.title }}"
`

func tokens(text string) []token { return tokensOf(syntax.New("x.yaml", []byte(text))) }

// TestEveryHalf reads every beginning of a file.
func TestEveryHalf(t *testing.T) {
	g, err := newGrammar()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{grammar: g, options: Options{Known: cascades.Known{Validators: builtins.Default()}}, open: map[string]*document{}}
	for i := range len(sample) {
		d := &document{file: "/x/sample.yaml"}
		d.write(sample[:i])
		s.open[d.file] = d
		s.parse(d)
		for _, one := range d.found {
			diagnostic(one, s.page(one.File))
		}
		line := strings.Count(d.text, "\n")
		p := d.page()
		p.turn(line)
		s.complete(d, line, len(p.runes))
		spans(d.tokens)
	}
}

// TestRanges checks that ranges use the protocol's units, and that the cost of
// many ranges in a line does not exceed the cost of the text.
func TestRanges(t *testing.T) {
	p := newPage("a 𝒹ef, g\r\n\néx")
	for _, c := range []struct{ line, start, end, from, to int }{{0, 2, 5, 2, 6}, {0, 8, 9, 9, 9}, {0, 99, -1, 9, 0}, {1, 0, 1, 0, 0}, {2, 1, 2, 1, 2}, {0, 0, 3, 0, 4}, {9, 1, 2, 0, 0}} {
		r := p.rangeOf(c.line, c.start, c.end)
		if int(r.Start.Line) != c.line || int(r.Start.Character) != c.from || int(r.End.Character) != c.to {
			t.Errorf("%+v: got %+v", c, r)
		}
	}
	began := time.Now()
	list := tokens("phases: [{name: p, instructions: '" + strings.Repeat("Say {{ input.y }}. ", 50_000) + "'}]")
	long := newPage("'" + strings.Repeat("Say {{ input.y }}. ", 50_000) + "'")
	for _, one := range spans(list) {
		long.rangeOf(0, one.start, long.length(0))
	}
	if took := time.Since(began); took > 10*time.Second { // where it is quadratic, minutes
		t.Errorf("it took %s", took)
	}
}
