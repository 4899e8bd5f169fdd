package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
)

// refused returns the error of a run that must not begin because of an invalid
// input or a missing environment variable. It returns nil if there is no such
// problem.
func refused(ctx context.Context, wrong cascades.InputErrors, unset []string) *engine.Error {
	if ctx.Err() != nil && len(wrong) > 0 { // the checks may be incomplete
		return &engine.Error{Code: engine.Cancelled, Message: context.Cause(ctx).Error(), Err: context.Cause(ctx)}
	}
	var problems []string
	var err error
	for _, one := range wrong {
		problems, err = append(problems, one.Error()), wrong
	}
	if problems = append(problems, unset...); len(problems) == 0 {
		return nil
	}
	return &engine.Error{Code: engine.Invalid, Message: joinProblems(problems), Err: err}
}

// missingPrograms describes the required programs that cannot be started here.
func missingPrograms(needs []cascades.Need) []string {
	var problems []string
	for _, n := range needs {
		if err := n.Lacks(); err != nil {
			problems = append(problems, fmt.Sprintf("%s: phase %s: %s: %v", n.Position, n.Phase, n.What, err))
		}
	}
	return problems
}

// missingVariables describes the required environment variables that are not
// set.
func missingVariables(needs []cascades.Need) []string {
	var problems []string
	for _, n := range needs {
		for _, name := range n.Variables {
			if _, there := os.LookupEnv(name); !there {
				problems = append(problems, fmt.Sprintf("%s: phase %s: %s: the environment has no %s", n.Position, n.Phase, n.What, name))
			}
		}
	}
	return problems
}

// unavailableModels describes the models that cannot be used, each with a phase
// that uses it.
func (r *Runner) unavailableModels(c *cascades.Cascade, chosen string) []string {
	m, ok := r.model.(model.Readier)
	if !ok && r.model != nil {
		return nil
	}
	var problems []string
	reported := map[string]bool{}
	for _, a := range c.Asking(cascades.Chosen(chosen), nil) {
		if reported[a.Name] {
			continue
		}
		reported[a.Name] = true
		if r.model == nil {
			return []string{fmt.Sprintf("phase %s: no model is configured: pass runner.WithModel", a.Phase.Name)}
		}
		if err := m.Ready(a.Name); err != nil {
			problems = append(problems, fmt.Sprintf("phase %s: %v", a.Phase.Name, err))
		}
	}
	return problems
}

// missingRemoteTools asks the MCP servers for the required tools. It returns an
// error that lists the missing tools, or nil. Each server limits its own time.
func missingRemoteTools(ctx context.Context, needs []cascades.Need) *engine.Error {
	if !slices.ContainsFunc(needs, func(n cascades.Need) bool { return n.Remote.Name != "" }) {
		return nil
	}
	problems := make([]string, len(needs))
	var all sync.WaitGroup
	for i, n := range needs {
		if n.Remote.Name == "" {
			continue
		}
		all.Go(func() {
			if _, err := n.Remote.Described(ctx); err != nil {
				reason := strings.TrimPrefix(err.Error(), "tool "+n.Remote.Name+": ")
				problems[i] = fmt.Sprintf("%s: phase %s: %s: %s", n.Position, n.Phase, n.What, reason)
			}
		})
	}
	all.Wait()
	problems = slices.DeleteFunc(problems, func(s string) bool { return s == "" })
	switch {
	case len(problems) == 0:
		return nil
	case ctx.Err() != nil:
		return &engine.Error{Code: engine.Cancelled, Message: context.Cause(ctx).Error(), Err: context.Cause(ctx)}
	}
	return &engine.Error{Code: engine.Failed, Message: joinProblems(problems)}
}

// joinProblems returns the problems without repetitions, one per line.
func joinProblems(problems []string) string { return strings.Join(slices.Compact(problems), "\n") }
