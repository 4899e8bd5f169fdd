package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/engine/internal/parallel"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A sounding is one of a phase's parallel tries and its result.
type sounding struct {
	*try
	candidate *candidate
	err       *Error // why it is not a candidate
	score     float64
}

// soundings runs the tries in parallel, then picks one or aggregates them.
// Post-wards judge the winner. Tries are numbered consecutively. With a factor
// of 3, an aggregator, and two reforge steps of 2, sounding[3] aggregates. The
// first step has [4] and [5], and the second step has [6] and [7].
func (v *visit) soundings() (release, error) {
	rules := v.p.Soundings
	winner, err := v.chosen(0, rules.Factor, nil, v.mutate, rules.Aggregator)
	tries := rules.Factor
	if err == nil && rules.Aggregator != nil {
		tries++
	}
	for step := 1; err == nil && rules.Reforge != nil && step <= rules.Reforge.Steps; step++ {
		done, e := v.enough(winner, step)
		if e != nil || done {
			err = e
			break
		}
		winner, err = v.chosen(tries, rules.Reforge.Factor, winner, v.hone, nil)
		tries += rules.Reforge.Factor
	}
	if err != nil {
		return v.instead(err)
	}
	winner.visit = v // the branch that made it has been joined
	winner.filter = false
	winner.past = slices.DeleteFunc(winner.past, func(c candidate) bool { return c.number == winner.candidate.number })
	for i := range winner.past {
		winner.past[i].barred = true // neither the filter nor post-wards have checked it
	}
	return winner.try.run(winner.candidate)
}

// chosen runs n tries, numbered from first, and returns the winner or the
// aggregation. A text that the tries improve is a candidate too, so that a step
// never makes the result worse.
func (v *visit) chosen(first, n int, was *sounding, ask asking, aggregator *templates.Template) (*sounding, error) {
	all, err := v.sound(first, n, was, ask)
	if err != nil {
		return nil, err
	}
	var left []*sounding
	for _, s := range append(all, was) {
		if s != nil && s.candidate != nil {
			left = append(left, s)
		}
	}
	switch {
	case len(left) == 0:
		return nil, noCandidate(v.at, all)
	case len(left) == 1 || aggregator == nil:
		return v.pick(first, left)
	}
	whole, err := v.sound(first+n, 1, nil, v.aggregate(left))
	if err != nil {
		return nil, err
	}
	if whole[0].candidate == nil {
		return nil, noCandidate(v.at, whole)
	}
	return whole[0], nil
}

// An asking changes the prompt of a try. The argument i is the try's number
// within its step. The argument was is the text to improve.
type asking func(t *try, i int, was *sounding) error

// mutate varies the prompt of all tries except the first. Pre-wards check
// instructions that a model has rewritten.
func (v *visit) mutate(t *try, i int, _ *sounding) (err error) {
	rules := v.p.Soundings
	if rules.Mutation == "" || i == 0 {
		return nil
	}
	mutation := messages.Mutation(rules.Mutation, i-1)
	if n := len(rules.Mutations); n > 0 {
		own := rules.Mutations[(i-1)%n]
		if mutation, err = own.Render(t.visit.vars(own)); err != nil {
			return unreadable(t.at, "mutations", err)
		}
	}
	if rules.Mutation != keywords.Rewrite {
		t.prompt = messages.WithMutation(rules.Mutation, t.prompt, mutation)
		return nil
	}
	question, err := messages.Rewrite(t.prompt, mutation)
	if err != nil {
		return failed(t.at, "%v", err)
	}
	req := model.Request{Messages: []model.Message{{Role: model.User, Content: question}}, Phase: v.p.Name, Role: "mutation"}
	resp, err := t.callModels(t.at.Join("mutation").Join("model"), t.model(t.asks), req, &event.Delta{})
	if err != nil {
		return err
	}
	if strings.TrimSpace(resp.Text) == "" {
		return failed(t.at, "the instructions were not put in other words: nothing was said")
	}
	t.prompt = resp.Text
	return t.pre(t.at)
}

// hone asks a try to improve the winner's text.
func (v *visit) hone(t *try, _ int, was *sounding) error {
	honing, err := v.p.Soundings.Reforge.Honing.Render(t.visit.vars(v.p.Soundings.Reforge.Honing))
	if err != nil {
		return unreadable(t.at, "honing_prompt", err)
	}
	t.prompt, err = messages.Reforge(v.prompt, was.candidate.text, honing, v.p == v.c.Tries)
	return err
}

// aggregate asks a try to combine several texts into one.
func (v *visit) aggregate(left []*sounding) asking {
	return func(t *try, _ int, _ *sounding) error {
		of := v.p.Soundings.Aggregator
		instructions, err := of.Render(t.visit.vars(of))
		if err != nil {
			return unreadable(t.at, "aggregator_instructions", err)
		}
		t.asks = v.p.Judging()
		t.prompt, err = messages.Aggregator(v.prompt, instructions, texts(left))
		return err
	}
}

// texts returns the texts of the candidates.
func texts(list []*sounding) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.candidate.text
	}
	return out
}

// enough reports whether the winner meets the threshold, so that no further
// step is needed.
func (v *visit) enough(winner *sounding, step int) (bool, error) {
	threshold := v.p.Soundings.Reforge.Threshold
	if threshold == nil {
		return false, nil
	}
	where := place{at: v.at.At("threshold", step), phase: v.p.Name, attempt: winner.attempt, unfit: winner.candidate.unfit}
	outcomes, err := v.checks(where, []*cascades.Check{threshold}, winner.subject(winner.candidate.text, winner.parsed(winner.candidate), winner.turn, winner.attempt))
	if err != nil {
		return false, err
	}
	if o := outcomes[0]; o.Err != nil {
		return false, unsaid(where.at, o)
	}
	return outcomes[0].Verdict.Valid, nil
}

// sound runs tries, numbered from first, and filters their texts.
func (v *visit) sound(first, n int, was *sounding, ask asking) ([]*sounding, error) {
	all := make([]*sounding, n)
	err := v.fan(n, v.p.Soundings.MaxParallel, func(b *flow, i int) error {
		own := *v
		own.flow = b
		t := own.newTry(v.at.At("sounding", first+i))
		t.filter, t.asks = true, v.p.Asked(first+i, v.lot(t.at))
		s := &sounding{try: t}
		all[i] = s
		err := ask(t, i, was)
		if err == nil {
			err = s.tried()
		}
		if err != nil {
			s.candidate = nil
			if s.err = lost(err); s.err == nil {
				return err
			}
		}
		return nil
	})
	for _, s := range all {
		if s != nil {
			v.record.Attempts = max(v.record.Attempts, s.record.Attempts)
		}
	}
	return all, err
}

// tried runs the try and filters its text.
func (s *sounding) tried() error {
	r, err := s.try.run(nil)
	if err == nil && r.left != "" {
		err = &Error{Code: Exhausted, Message: r.left}
	}
	if err != nil {
		return err
	}
	s.candidate = &r.candidate
	return s.filterOut()
}

// lost returns an error that only removes a try from the candidates. It returns
// nil for other errors.
func lost(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		return nil
	}
	if e.Code == Blocked || e.Code == Exhausted {
		return e
	}
	return broke(err)
}

// filtered runs the soundings' validator on a text.
func (t *try) filtered(c *candidate) ([]wards.Outcome, error) {
	filter := t.p.Soundings.Filter
	if filter == nil {
		return nil, nil
	}
	where := t.judging(c)
	where.at = where.at.Join("filter")
	if t.filter {
		where.at = t.at.Join("filter")
	}
	return t.checks(where, []*cascades.Check{filter}, t.subject(c.text, t.parsed(c), t.turn, t.attempt))
}

// filterOut returns an error if the soundings' validator rejects the text.
func (s *sounding) filterOut() error {
	outcomes, err := s.filtered(s.candidate)
	if len(outcomes) == 0 || err != nil {
		return err
	}
	o := outcomes[0]
	switch {
	case o.Err != nil:
		return unsaid(s.at.Join("filter"), o)
	case !o.Verdict.Valid:
		return &Error{Code: Exhausted, Message: o.Verdict.Reason, by: outcomes}
	case o.Verdict.Score != nil:
		s.score = *o.Verdict.Score
	}
	return nil
}

// unsaid returns the error of a check of soundings without a verdict.
func unsaid(at event.Path, o wards.Outcome) *Error {
	e := failed(at, "%s gave no verdict: %v", o.Ward.Name, o.Err).because(o.Err)
	e.by = []wards.Outcome{o}
	return e
}

// noCandidate returns the phase's error if no try is left. The phase is
// exhausted if checks rejected every try, and failed otherwise.
func noCandidate(at event.Path, all []*sounding) *Error {
	e := &Error{Code: Exhausted, Path: at, keyPath: []string{"soundings"}, Message: fmt.Sprintf("none of %d soundings is left", len(all))}
	message := e.Message
	for _, s := range all {
		if s.err.Code != Blocked && s.err.Code != Exhausted {
			e.Code = Failed
			e.with(s.err)
		}
		e.Message += fmt.Sprintf("; %s: %s", s.at, s.err.Message)
		message += fmt.Sprintf("; %s: %s", s.at, s.publicError(s.err))
	}
	e.publicMessage = message
	return e
}

// pick returns the winner: the evaluator's choice, or the candidate with the
// highest score. The first of equal candidates wins. The argument first is the
// number of the step's first try.
func (v *visit) pick(first int, left []*sounding) (*sounding, error) {
	if len(left) == 1 || v.p.Soundings.Evaluator == nil {
		best := left[0]
		for _, s := range left[1:] {
			if s.score > best.score {
				best = s
			}
		}
		return best, nil
	}
	at := nth(v.at, "evaluator", first)
	shuffled := parallel.Shuffled(left, v.lot(at))
	instructions, err := v.p.Soundings.Evaluator.Render(v.vars(v.p.Soundings.Evaluator))
	if err != nil {
		return nil, unreadable(at, "evaluator_instructions", err)
	}
	question, err := messages.Evaluator(v.prompt, instructions, texts(shuffled))
	if err != nil {
		return nil, failed(at, "%v", err)
	}
	n, err := v.evaluate(at, question, len(shuffled))
	if err != nil {
		return nil, err
	}
	return shuffled[n-1], nil
}

// evaluate asks the model for the winner's number. It asks up to three times if
// the reply names no number or several. The model then sees its reply and the
// problem.
func (v *visit) evaluate(at event.Path, question string, n int) (int, error) {
	wire, _ := json.Marshal(map[string]any{
		"type": "object", "required": []any{"winner", "reason"}, "additionalProperties": false,
		"properties": map[string]any{"winner": map[string]any{"type": "integer", "minimum": 1, "maximum": n}, "reason": map[string]any{"type": "string"}},
	})
	asked := []model.Message{{Role: model.User, Content: question}}
	req := model.Request{Messages: asked, Schema: wire, Phase: v.p.Name, Role: "evaluator"}
	none := failed(at, "the evaluator named none of the %d candidates", n)
	none.publicMessage = none.Message // the reply may contain a candidate's text
	for i := range maxJudgements {
		where := nth(at, "model", i)
		resp, err := v.callModels(where, v.model(v.p.Judging()), req, &event.Delta{})
		if err != nil {
			return 0, err
		}
		winner, _, wrong := validators.WinnerIn(resp.Text, n)
		if wrong == nil {
			return winner, nil
		}
		none.unusable = []event.Path{where}
		none.Message = validators.Unreadable(errors.New(none.publicMessage), resp.Text).Error()
		shape := fmt.Sprintf(`{"winner": a number from 1 to %d, "reason": "…"}`, n)
		if req.Messages, err = corrected(asked, resp.Text, wrong, shape); err != nil {
			return 0, failed(at, "%v", err)
		}
	}
	return 0, none
}
