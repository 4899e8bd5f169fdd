package lsp

import (
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
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
  wards: {post: [
    {validator: tone},
  ]}
- - x
- name: polish
  "instructions": "over
    two lines {{ outputs.draft.title }}"
`

func TestOutline(t *testing.T) {
	var got []string
	for _, one := range outline(sample) {
		mark := "="
		if one.key {
			mark = ":"
		}
		got = append(got, strings.Join(one.path, "/")+mark+one.text)
	}
	want := `:cascade_id|cascade_id=sample|:validators|validators:tone|validators/tone:judge|validators/tone/judge=Is it friendly?|validators/tone:votes|validators/tone/votes=3|` +
		`:phases|phases/[0]:name|phases/[0]/name=draft|phases/[0]:instructions|phases/[0]/instructions=Write on {{ input.topic }}:|phases/[0]/instructions=- as it is|` +
		`phases/[0]:handoffs|phases/[0]/handoffs/[0]=polish|phases/[0]/handoffs/[1]:target|phases/[0]/handoffs/[1]/target=draft|phases/[0]/handoffs/[1]:when|phases/[0]/handoffs/[1]/when=outputs["draft"] != "it''s"|` +
		`phases/[0]:wards|phases/[0]/wards:post|phases/[0]/wards/post/[0]:validator|phases/[0]/wards/post/[0]/validator=tone|phases/[1]/[0]=x|` +
		`phases/[2]:name|phases/[2]/name=polish|phases/[2]:instructions|phases/[2]/instructions=over|phases/[2]/instructions=two lines {{ outputs.draft.title }}`
	if all := strings.Join(got, "|"); all != want {
		t.Errorf("got\n%s\nwant\n%s", strings.ReplaceAll(all, "|", "\n"), strings.ReplaceAll(want, "|", "\n"))
	}
}

// TestEveryHalf holds that what is half typed is read, and told of, all the same.
func TestEveryHalf(t *testing.T) {
	g, err := newGrammar()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{grammar: g, options: Options{Known: cascades.Known{Validators: builtins.Default()}}, open: map[string]*document{}}
	for i := range len(sample) {
		d := &document{file: "/x/sample.yaml", text: sample[:i]}
		s.open[d.file] = d
		s.parse(d)
		for _, one := range d.found {
			diagnostic(one, s.page(one.File))
		}
		line := strings.Count(d.text, "\n")
		p := d.page()
		p.turn(line)
		s.complete(d, line, len(p.runes))
		spans(outline(d.text))
	}
}

// Ranges are in the protocol's words, and cost no more than the text, however many
// there are in a line.
func TestRanges(t *testing.T) {
	p := newPage("a 𝒹ef, g\r\n\néx")
	for _, c := range []struct{ line, start, end, from, to int }{{0, 2, 5, 2, 6}, {0, 8, 9, 9, 9}, {0, 99, -1, 9, 0}, {1, 0, 1, 0, 0}, {2, 1, 2, 1, 2}, {0, 0, 3, 0, 4}, {9, 1, 2, 0, 0}} {
		r := p.rangeOf(c.line, c.start, c.end)
		if int(r.Start.Line) != c.line || int(r.Start.Character) != c.from || int(r.End.Character) != c.to {
			t.Errorf("%+v: got %+v", c, r)
		}
	}
	for _, c := range [][3]int{{0, 2, 5}, {0, 5, 6}, {1, 0, 1}, {2, 0, 2}, {9, 3, 4}} {
		if got := p.wordEnd(c[0], c[1]); got != c[2] {
			t.Errorf("%v: got %d", c, got)
		}
	}
	began := time.Now()
	tokens := outline("phases: [{name: p, instructions: '" + strings.Repeat("Say {{ input.y }}. ", 50_000) + "'}]")
	long := newPage("'" + strings.Repeat("Say {{ input.y }}. ", 50_000) + "'")
	for _, one := range spans(tokens) {
		long.rangeOf(0, one.start, long.wordEnd(0, one.start))
	}
	if took := time.Since(began); took > 10*time.Second { // where it is quadratic, minutes
		t.Errorf("it took %s", took)
	}
}
