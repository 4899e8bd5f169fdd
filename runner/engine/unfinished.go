package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/validators/schema"
)

// What a person may say of a call that nobody knows the end of.
const (
	happened = "done"
	repeat   = "repeat"
	giveUp   = "stop"
)

// errStop is why a run ends that a person stops. It is nothing that broke, which a
// phase, a try or an item could be left for: see [broke].
var errStop = errors.New("a person chose to stop")

// Unfinished is where a person is asked about a call of which nobody knows whether it
// happened.
func Unfinished(call event.Path) event.Path { return call.Join("unfinished") }

// Stops tells whether an answer stopped the run that asked: no other run ends with it.
func Stops(at event.Path, a Answer) bool { return Unfinished(at.Up()) == at && a.Value == giveUp }

// unfinished asks a person about a call that writes and was at work when its
// process died: whether it happened, perhaps with what came of it; or to make it
// again; or to stop the run.
func (v *visit) unfinished(at event.Path, t *cascades.Tool, call tool.Call) (tool.Result, error) {
	prompt := fmt.Sprintf("The run broke off while tool %s was running on %s. Did the call take effect? done (or \"done: RESULT\") continues with that result, repeat calls the tool again, stop ends the run.",
		t.Name, schema.Clip(words.Text(call.Arguments), words.MaxWords))
	answer, err := v.put(Unfinished(at), Question{
		Phase: v.p.Name, Prompt: prompt, Type: cascades.Choice, Options: []string{happened, repeat, giveUp}, Result: true,
	})
	if err != nil {
		return tool.Result{}, err
	}
	said, _ := answer.Value.(string)
	switch said {
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
	_, came, _ := strings.Cut(said, ":")
	came = strings.TrimSpace(came)
	if value, err := schema.ParseText(came); err == nil {
		return tool.Result{Value: value}, nil
	}
	return tool.Result{Value: came}, nil
}
