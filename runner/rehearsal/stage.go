package rehearsal

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// A stage is what the checks of a phase see beside its text: an input as the
// cascade's schema has it, and what earlier phases were made to say.
type stage struct {
	input, state, outputs map[string]any
}

// brought is what an input says: none of the words of a draft.
const brought = "Somebody's own text"

func rehearsed(c *cascades.Cascade) *stage {
	s := &stage{map[string]any{}, map[string]any{}, map[string]any{}}
	for _, in := range c.Inputs {
		switch {
		case in.HasDefault:
			s.input[in.Name] = in.Default
		case in.Schema != nil:
			s.input[in.Name] = in.Schema.Sample(schema.Sampling{Text: brought})
		default:
			s.input[in.Name] = brought
		}
	}
	return s
}

// note keeps what the phase was made to say for those behind it.
func (s *stage) note(p *cascades.Phase, c candidate) {
	s.outputs[p.Name] = c.text
	if c.output != nil {
		s.outputs[p.Name] = c.output
	}
	if e := p.Extraction; e != nil {
		if found, ok, err := e.In(nil, c.text); ok && err == nil {
			s.state[e.StoreAs] = found
		}
	}
}

// What a candidate lacks, against each other: that a check lets it through that
// may end the run, that one does which is noted.
const (
	refusal = 100
	remark  = 1
)

// judged asks the checks that need nothing but the text. One that cannot say,
// since the run would have to be there, says nothing.
func (s *stage) judged(ctx context.Context, p *cascades.Phase, c candidate) candidate {
	if p.OutputSchema != nil {
		if found, err := p.OutputSchema.Check(ctx.Err, c.output); err == nil && len(found) > 0 {
			c.worse += refusal * len(found)
			c.refused = append(c.refused, "output_schema: "+validators.OneLine(found[0].String(), 160))
		}
	}
	subject := validators.Subject{
		Content: c.text, Output: c.output, Input: s.input, State: s.state, Outputs: s.outputs, Attempt: 1,
	}
	for _, check := range p.Checks() {
		if m := check.Ward.Moment; !check.Validator.Pure || m == wards.Pre || m == wards.Tool || m == wards.Result {
			continue
		}
		v, ok := s.verdict(ctx, check.Validator, subject)
		switch {
		case !ok || v.Valid:
		case check.Ward.Mode.Stands():
			c.worse += refusal + min(len(v.Issues), refusal-1)
			c.refused = append(c.refused, check.Validator.Name+": "+validators.OneLine(v.Reason, 160))
		default:
			c.worse += remark
		}
	}
	return c
}

func (s *stage) verdict(ctx context.Context, v *cascades.Validator, on validators.Subject) (validators.Verdict, bool) {
	with, err := v.With.Render(map[string]any{"input": s.input, "state": s.state, "outputs": s.outputs})
	if err != nil {
		return validators.Verdict{}, false
	}
	check, err := v.Bound(with)
	if err != nil {
		return validators.Verdict{}, false
	}
	verdict, err := check(ctx, on)
	return verdict, err == nil
}

// sentences are what the texts of a draft are made of: what any reader sees to
// be nobody's.
var sentences = []string{
	"This text stands in for what a model would write.",
	"It says nothing of its own.",
	"Whoever tries the cascade may put better words here.",
	"The phase behind it reads them as they are.",
	"A check that looks for a certain word will miss it.",
	"Nothing was asked of any provider, and nothing was paid.",
	"The same words come whenever the phase is run again.",
	"They are long enough for most limits, and short enough for others.",
	"Several of them make a paragraph.",
	"What is true of them is true of every draft.",
	"Their order is always the same.",
	"The last one ends here.",
}

// lengths are how many sentences a text has, the usual ones first.
var lengths = []int{2, 1, 4, 12, 30, 80}

// texts are what a phase might say: sentences, and beside them what its checks
// name in so many words; the plainest first.
func (s *stage) texts(p *cascades.Phase) []string {
	var list []string
	for _, n := range lengths {
		list = append(list, prose(n))
	}
	list = append(list, "Stands in.", "Yes")
	named := named(p)
	list = append(list, named...)
	if all := strings.Join(named, "\n"); all != "" {
		for _, n := range lengths {
			list = append(list, all+"\n"+prose(n), prose(n)+"\n"+all)
		}
	}
	for _, n := range lengths {
		list = append(list, "# Stands in\n\n"+prose(n)+"\n\n- "+strings.Join(sentences[:3], "\n- ")+"\n\n## Behind it\n\n"+prose(n))
	}
	return list
}

// prose is n sentences, in paragraphs of four.
func prose(n int) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i > 0 && i%4 == 0:
			b.WriteString("\n\n")
		case i > 0:
			b.WriteByte(' ')
		}
		b.WriteString(sentences[i%len(sentences)])
	}
	return b.String()
}

// maxNamed bounds the words that are tried.
const maxNamed = 12

var quoted = patterns.Lazy(`'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"`)

// named are the words that the phase's checks have among their parameters, and
// between the quotes of their expressions.
func named(p *cascades.Phase) []string {
	var list []string
	for _, check := range p.Checks() {
		is := check.Validator.Written()
		if source, ok := is["expr"].(string); ok {
			for _, m := range quoted().FindAllStringSubmatch(source, -1) {
				list = append(list, m[1]+m[2])
			}
		}
		list = append(list, words(is["with"])...)
	}
	slices.Sort(list)
	list = slices.DeleteFunc(slices.Compact(list), func(s string) bool { return strings.TrimSpace(s) == "" })
	return list[:min(len(list), maxNamed)]
}

func words(v any) []string {
	var list []string
	switch v := v.(type) {
	case string:
		list = append(list, v)
	case []any:
		for _, e := range v {
			list = append(list, words(e)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, words(v[key])...)
		}
	}
	return list
}
