package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
)

// The answers to a question about a call whose result is unknown.
const (
	happened = "done"
	repeat   = "repeat"
	giveUp   = "stop"
)

// errStop is the error of a run that a person stops. It counts as no failure of
// a phase, try or item: see [broke].
var errStop = errors.New("a person chose to stop")

// Unfinished returns the path of the question about a call whose result is
// unknown.
func Unfinished(call event.Path) event.Path { return call.Join("unfinished") }

// Stops reports whether an answer stopped the run that asked. Other runs
// continue.
func Stops(at event.Path, a Answer) bool { return Unfinished(at.Parent()) == at && a.Value == giveUp }

// unfinished asks a person about an interrupted writing call. The person can
// confirm the call, with or without a result, repeat it, or stop the run.
func (v *visit) unfinished(at event.Path, t *cascades.Tool, call tool.Call) (tool.Result, error) {
	prompt := fmt.Sprintf("The run broke off while tool %s was running on %s. Did the call take effect? done (or \"done: RESULT\") continues with that result, repeat calls the tool again, stop ends the run.",
		t.Name, clips.Bytes(messages.Text(call.Arguments), messages.MaxJudgeText))
	answer, err := v.put(Unfinished(at), Question{
		Phase: v.p.Name, Prompt: prompt, Type: cascades.Choice, Options: []string{happened, repeat, giveUp}, Result: true,
	}, "")
	if err != nil {
		return tool.Result{}, err
	}
	choice, _ := answer.Value.(string)
	switch choice {
	case repeat:
		at = at.Join("repeat")
		r, err := v.h.Tool(at, Job{Place: t.Place, Call: call, Tool: t.Tool})
		if errors.Is(err, ErrUnfinished) {
			return v.unfinished(at, t, call)
		}
		return r, err
	case giveUp:
		e := failed(at, "tool %s was at work when the run broke off, and a person chose to stop", t.Name)
		e.Err = errStop
		return tool.Result{}, e
	}
	_, result, _ := strings.Cut(choice, ":")
	result = strings.TrimSpace(result)
	if value, err := schema.ParseText(result); err == nil {
		return tool.Result{Value: value}, nil
	}
	return tool.Result{Value: result}, nil
}
