package main

import (
	"context"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// answersByPhase are the answers to the questions of evaluated runs, by phase.
type answersByPhase map[string]string

// phaseAnswers reads the values of --answer.
func phaseAnswers(list []string) (answersByPhase, error) {
	answers := answersByPhase{}
	for _, one := range list {
		phase, value, ok := strings.Cut(one, "=")
		if _, twice := answers[phase]; !ok || phase == "" || twice {
			return nil, usage("--answer %s: want phase=value, once for each phase", one)
		}
		answers[phase] = value
	}
	return answers, nil
}

// check returns an error if a phase of the cascade asks no question, or one that its
// answer does not fit.
func (a answersByPhase) check(c *cascades.Cascade) error {
	for phase, value := range a {
		i := slices.IndexFunc(c.EveryPhase(), func(p *cascades.Phase) bool { return p.Name == phase })
		if i < 0 {
			return usage("--answer %s=%s: %s has no phase %s", phase, value, c.File, phase)
		}
		h := c.EveryPhase()[i].Human
		if h == nil {
			continue // a model may ask
		}
		q := engine.Question{Phase: phase, Type: h.Type, Options: h.Options}
		if problem := q.Problem(q.ParseAnswer(value)); problem != "" {
			return usage("--answer %s=%s: %s", phase, value, problem)
		}
	}
	return nil
}

// ask answers a question of a run. A question without a fitting answer leaves the run
// waiting.
func (a answersByPhase) ask(_ context.Context, q engine.Question) (engine.Answer, error) {
	text, ok := a[q.Phase]
	value := q.ParseAnswer(text)
	if !ok || q.Problem(value) != "" {
		return engine.Answer{}, runner.ErrNobody
	}
	return engine.Answer{Value: value, By: "--answer"}, nil
}
