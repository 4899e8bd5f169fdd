package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/templates/prompts"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A sounding is one of a phase's parallel tries and what came of it.
type sounding struct {
	*try
	candidate *candidate
	err       *Error // why it is no candidate
	score     float64
}

// soundings makes the tries at the same time, picks one, and goes on with it
// as if it had been the only one: post-wards judge the winner.
func (v *visit) soundings() (release, error) {
	all, err := v.sound()
	if err != nil {
		return release{}, err
	}
	var left []*sounding
	for _, s := range all {
		if s.candidate != nil {
			left = append(left, s)
		}
	}
	if len(left) == 0 {
		return release{}, noCandidate(v.at, all)
	}
	winner, err := v.pick(left)
	if err != nil {
		return release{}, err
	}
	winner.visit = v
	winner.filter = false
	return winner.try.run(winner.candidate)
}

// sound makes every try and filters what it gave.
func (v *visit) sound() ([]*sounding, error) {
	n := v.p.Soundings.Factor
	all := make([]*sounding, n)
	err := v.fan(n, v.p.Soundings.MaxParallel, func(b *flow, i int) error {
		own := *v
		own.flow = b
		t := own.newTry(v.at.At("sounding", i))
		t.filter, t.asks = true, v.p.Asked(i)
		s := &sounding{try: t}
		all[i] = s
		r, err := t.run(nil)
		if err == nil && r.left != "" {
			err = &Error{Code: Exhausted, Path: t.at, Message: r.left}
		}
		if err == nil {
			s.candidate = &r.candidate
			err = s.filterBy(v.p.Soundings.Filter)
		}
		if err != nil {
			s.candidate = nil
			s.err = lost(err)
			if s.err == nil {
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

// lost gives the error of a try that only costs it its candidacy.
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

// filterBy holds the sounding's text against the soundings' validator.
func (s *sounding) filterBy(filter *cascades.Check) error {
	if filter == nil {
		return nil
	}
	where := s.place()
	where.at = s.at.Join("filter")
	outcomes, err := s.checks(where, []*cascades.Check{filter}, s.subject(s.candidate.text, s.parsed(s.candidate), s.turn, s.attempt))
	if err != nil {
		return err
	}
	o := outcomes[0]
	if o.Err != nil {
		return failed(where.at, "%s could not say: %v", filter.Ward.Name, o.Err)
	}
	if !o.Verdict.Valid {
		return &Error{Code: Exhausted, Path: where.at, Check: filter.Ward.Name, Message: o.Verdict.Reason}
	}
	if o.Verdict.Score != nil {
		s.score = *o.Verdict.Score
	}
	return nil
}

// noCandidate fails the phase: as a gate's no where every try got one, else as
// something that broke.
func noCandidate(at event.Path, all []*sounding) *Error {
	e := &Error{Code: Exhausted, Path: at, Message: fmt.Sprintf("none of %d soundings is left", len(all))}
	told := e.Message
	for _, s := range all {
		if s == nil || s.err == nil {
			continue
		}
		if s.err.Code == Failed {
			e.Code = Failed
		}
		e.Message += fmt.Sprintf("; %s: %s", s.at, s.err.Message)
		told += fmt.Sprintf("; %s: %s", s.at, s.tellable(s.err))
	}
	e.told = told
	return e
}

// pick chooses the winner: the evaluator's choice, or without one the highest
// score of the soundings' validator, the first among equals.
func (v *visit) pick(left []*sounding) (*sounding, error) {
	if len(left) == 1 || v.p.Soundings.Evaluator == nil {
		best := left[0]
		for _, s := range left[1:] {
			if s.score > best.score {
				best = s
			}
		}
		return best, nil
	}
	at := v.at.Join("evaluator")
	shuffled := shuffle(left, v.key(at))
	instructions, err := v.p.Soundings.Evaluator.Render(v.vars(0, v.p.Soundings.Evaluator))
	if err != nil {
		return nil, invalid(at, "evaluator_instructions: %v", err)
	}
	var shown []any
	texts := []string{v.prompt}
	for i, s := range shuffled {
		texts = append(texts, s.candidate.text)
		shown = append(shown, map[string]any{"number": i + 1, "text": s.candidate.text})
	}
	question, err := words.Prompt("sounding_evaluator", map[string]any{"task": v.prompt, "instructions": instructions, "candidates": shown, "mark": prompts.Mark(texts...)})
	if err != nil {
		return nil, failed(at, "%v", err)
	}
	n, err := v.evaluate(at, question, len(shuffled))
	if err != nil {
		return nil, err
	}
	return shuffled[n-1], nil
}

// shuffle orders the candidates so that their place says nothing of which try
// they come from, and the same way whenever the run is done again.
func shuffle(list []*sounding, key string) []*sounding {
	h := fnv.New64a()
	h.Write([]byte(key))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	out := append([]*sounding(nil), list...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// evaluate asks the model for the winner's number, up to three times where it
// answers nonsense or names two.
func (v *visit) evaluate(at event.Path, question string, n int) (int, error) {
	wire, err := json.Marshal(map[string]any{
		"type": "object", "required": []any{"winner", "reason"}, "additionalProperties": false,
		"properties": map[string]any{"winner": map[string]any{"type": "integer", "minimum": 1, "maximum": n}, "reason": map[string]any{"type": "string"}},
	})
	if err != nil {
		return 0, failed(at, "%v", err)
	}
	req := model.Request{
		Messages: []model.Message{{Role: model.User, Content: question}},
		Schema:   wire, Phase: v.p.Name, Role: "evaluator",
	}
	winner := schema.NumberUpTo("winner", n)
	for i := range maxJudgements {
		where := at.Join("model")
		if i > 0 {
			where = at.At("model", i)
		}
		resp, err := v.climb(where, v.model(v.p.Judging()), req, &event.Telling{})
		if err != nil {
			return 0, err
		}
		if chosen, err := winner.Decide(resp.Text); err == nil && winner.Accept(chosen) {
			number, _ := schema.Whole(chosen.(map[string]any)["winner"])
			return number, nil
		}
	}
	return 0, failed(at, "the evaluator named none of the %d candidates", n)
}
