package cascades

import "math/bits"

// Counts are what happens at most. They stop at 2⁵³, which stands for more
// than anybody will count.
type Counts struct {
	// Attempts at phases, those of parallel soundings each for itself.
	Attempts int `json:"attempts"`
	// Turns of those attempts, with the turns that turn wards ask for again.
	Turns int `json:"turns"`
	// ModelCalls are requests to a model where no model asks for a tool: one a
	// turn, one a judgement, one for an evaluator's pick, one where a model has
	// to be asked for its choice of a handoff, and one before each of a phase's own
	// where its token_budget has the conversation summed up. A request that is
	// repeated, since the endpoint failed, on whatever rung of a ladder, or since a
	// judge answered nonsense, counts once.
	ModelCalls int `json:"model_calls"`
	// ModelCallsWithTools are requests to a model where every turn of a phase
	// with tools uses all its rounds. One message may call any number of them: where
	// a call asks a model, as that of a cascade or one that a judge looks at does,
	// only a budget bounds it. Attempts, turns and judgements of such a cascade are
	// not counted.
	ModelCallsWithTools int `json:"model_calls_with_tools"`
	// JudgeCalls are those among ModelCalls that judge.
	JudgeCalls int `json:"judge_calls"`
	// Validators are judgements, by the kind of validator; of those around tools
	// there is no bound.
	Validators ValidatorCounts `json:"validators"`
	// Tokens of those calls, where every turn of a phase with tools uses all its
	// rounds.
	Tokens Tokens `json:"tokens"`
}

// ValidatorCounts are judgements by the kind of validator. One that is started
// again, since it could not say, counts once.
type ValidatorCounts struct {
	Pure    int `json:"pure"`    // computed from the text; output_schema too
	Exec    int `json:"exec"`    // programs, and whatever else does I/O
	Judge   int `json:"judge"`   // models
	Cascade int `json:"cascade"` // cascades; what they do themselves is counted too
}

// Most is what a count is of which there is no bound.
const Most = 1 << 53

// all is n of everything.
func all(n int) Counts {
	return Counts{n, n, n, n, n, ValidatorCounts{n, n, n, n}, Tokens{n, n, n}}
}

func (c Counts) each(d Counts, op func(a, b int) int) Counts {
	v, w := c.Validators, d.Validators
	return Counts{
		op(c.Attempts, d.Attempts), op(c.Turns, d.Turns),
		op(c.ModelCalls, d.ModelCalls), op(c.ModelCallsWithTools, d.ModelCallsWithTools), op(c.JudgeCalls, d.JudgeCalls),
		ValidatorCounts{op(v.Pure, w.Pure), op(v.Exec, w.Exec), op(v.Judge, w.Judge), op(v.Cascade, w.Cascade)},
		c.Tokens.each(d.Tokens, op),
	}
}

func (c Counts) plus(d Counts) Counts   { return c.each(d, sum) }
func (c Counts) times(n int) Counts     { return c.each(all(n), product) }
func (c Counts) orMore(d Counts) Counts { return c.each(d, func(a, b int) int { return max(a, b) }) }

func sum(a, b int) int { return min(min(a, Most)+min(b, Most), Most) }

func product(a, b int) int {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high > 0 {
		return Most
	}
	return int(min(low, Most))
}
