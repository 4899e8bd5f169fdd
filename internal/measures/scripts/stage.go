package scripts

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A stage is the input of the checks of a phase besides its text: the input of the run, and the
// replies of earlier phases.
type stage struct {
	input, state, outputs map[string]any
}

// inputText is the text of inputs. It must not be a sentence of a draft.
const inputText = "Somebody's own text"

func newStage(c *cascades.Cascade) *stage {
	s := &stage{map[string]any{}, map[string]any{}, map[string]any{}}
	for _, in := range c.Inputs {
		switch {
		case in.HasDefault:
			s.input[in.Name] = in.Default
		case in.Schema != nil:
			s.input[in.Name] = in.Schema.Sample(schema.Sampling{Text: inputText})
		default:
			s.input[in.Name] = inputText
		}
	}
	return s
}

// add adds the reply of a phase for later phases.
func (s *stage) add(p *cascades.Phase, c candidate) {
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

// The penalties of a rejection by an enforcing check, and by an advisory check.
const (
	refusal = 100
	remark  = 1
)

// evaluate runs the checks that need only the text. A check without a verdict does not count.
func (s *stage) evaluate(ctx context.Context, p *cascades.Phase, c candidate) candidate {
	if p.OutputSchema != nil {
		if found, err := p.OutputSchema.Check(ctx.Err, c.output); err == nil && len(found) > 0 {
			c.penalty += refusal * len(found)
			c.rejections = append(c.rejections, "output_schema: "+reports.Fit(found[0].String(), 160))
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
		case check.Ward.Mode.Enforces():
			c.penalty += refusal + min(len(v.Issues), refusal-1)
			c.rejections = append(c.rejections, check.Validator.Name+": "+reports.Fit(v.Reason, 160))
		default:
			c.penalty += remark
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

// sentences are the sentences of a draft.
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

// lengths are the numbers of sentences of a text, the usual ones first.
var lengths = []int{2, 1, 4, 12, 30, 80}

// texts returns possible texts of a phase: sentences, also with the words that its checks name. The
// simplest come first.
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

// prose returns n sentences in paragraphs of four.
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

// maxNamed is the maximum number of words to try.
const maxNamed = 12

var quoted = patterns.Lazy(`'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"`)

// named returns the words in the parameters of the phase's checks, and in the quotes of their
// expressions.
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
