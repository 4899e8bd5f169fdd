package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
)

// refused is the error of a run that is not begun: its input is wrong, or the
// environment lacks a variable; nil where neither is so.
func refused(ctx context.Context, wrong cascades.InputErrors, unset []string) *Error {
	if ctx.Err() != nil && len(wrong) > 0 { // nobody can say how far the checks came
		return &Error{Code: Cancelled, Message: context.Cause(ctx).Error(), Err: context.Cause(ctx)}
	}
	var said []string
	var err error
	for _, one := range wrong {
		said, err = append(said, one.Error()), wrong
	}
	if said = append(said, unset...); len(said) == 0 {
		return nil
	}
	return &Error{Code: Invalid, Message: lines(said), Err: err}
}

// absent describes the programs that are needed and cannot be started here.
func absent(needs []cascades.Need) []string {
	var said []string
	for _, n := range needs {
		if err := n.Lacks(); err != nil {
			said = append(said, fmt.Sprintf("%s: phase %s: %s: %v", n.Position, n.Phase, n.What, err))
		}
	}
	return said
}

// unset tells which variables of the environment are needed and not there.
func unset(needs []cascades.Need) []string {
	var said []string
	for _, n := range needs {
		for _, name := range n.Variables {
			if _, there := os.LookupEnv(name); !there {
				said = append(said, fmt.Sprintf("%s: phase %s: %s: the environment has no %s", n.Position, n.Phase, n.What, name))
			}
		}
	}
	return said
}

// unready tells which models cannot be asked, each with a phase that asks it.
func (r *Runner) unready(c *cascades.Cascade, chosen string) []string {
	m, ok := r.model.(model.Readier)
	if !ok {
		return nil
	}
	var said []string
	told := map[string]bool{}
	for _, a := range c.Asking(cascades.Chosen(chosen)) {
		if told[a.Name] {
			continue
		}
		told[a.Name] = true
		if err := m.Ready(a.Name); err != nil {
			said = append(said, fmt.Sprintf("phase %s: %v", a.Phase.Name, err))
		}
	}
	return said
}

// unreached asks the MCP servers for the tools that are needed, and tells which
// cannot be had, all at once; nil for none. The servers bound their own time.
func unreached(ctx context.Context, needs []cascades.Need) *Error {
	if !slices.ContainsFunc(needs, func(n cascades.Need) bool { return n.Remote.Name != "" }) {
		return nil
	}
	said := make([]string, len(needs))
	var all sync.WaitGroup
	for i, n := range needs {
		if n.Remote.Name == "" {
			continue
		}
		all.Go(func() {
			if _, err := n.Remote.Described(ctx); err != nil {
				why := strings.TrimPrefix(err.Error(), "tool "+n.Remote.Name+": ")
				said[i] = fmt.Sprintf("%s: phase %s: %s: %s", n.Position, n.Phase, n.What, why)
			}
		})
	}
	all.Wait()
	said = slices.DeleteFunc(said, func(s string) bool { return s == "" })
	switch {
	case len(said) == 0:
		return nil
	case ctx.Err() != nil:
		return &Error{Code: Cancelled, Message: context.Cause(ctx).Error(), Err: context.Cause(ctx)}
	}
	return &Error{Code: Failed, Message: lines(said)}
}

// lines puts each of several mistakes on a line of its own, once.
func lines(said []string) string { return strings.Join(slices.Compact(said), "\n") }
