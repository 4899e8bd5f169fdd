package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/wards"
)

// tools is what the model is told of the phase's tackle. One that is not there
// ends the phase: a model that does without it is not what the file says.
func (v *visit) tools() ([]model.Tool, error) {
	if v.tackle != nil {
		return v.tackle, nil
	}
	var list []model.Tool
	for _, t := range v.p.Tackle {
		if t.Name != cascades.RouteTo {
			description, params, err := t.Told()
			if err != nil {
				return nil, failed(v.at, "%v", err)
			}
			list = append(list, model.Tool{Name: t.Name, Description: description, Parameters: params})
		}
	}
	if v.p.Chooses() {
		list = append(list, words.Choice(v.p))
	}
	v.tackle = list
	return list, nil
}

func (t *try) routeTo(call tool.Call) tool.Result {
	target, _ := call.Arguments["target"].(string)
	var targets []string
	for _, h := range t.p.Handoffs {
		if h.When == nil {
			targets = append(targets, h.Target)
		}
	}
	if !slices.Contains(targets, target) {
		return tool.Fail(fmt.Errorf("no handoff goes to %q; there are %s", target, strings.Join(targets, ", ")))
	}
	t.chosen = target
	if t.c.Way(target) == "" {
		return tool.Result{Value: "the run ends here"}
	}
	return tool.Result{Value: "the run goes on with " + target}
}

// mustChoose tells whether the route hangs on a choice not made yet.
func (t *try) mustChoose() bool {
	if t.chosen != "" || t.talk == nil || !t.p.Chooses() || len(t.p.Handoffs) == 1 {
		return false
	}
	return !slices.ContainsFunc(t.p.Handoffs, func(h cascades.Handoff) bool { return h.Description == "" && h.When == nil })
}

// choose asks for the choice alone; the phase's text stays what it is.
func (t *try) choose() error {
	at := t.place().at.Join("route")
	t.talk.Append(model.Message{Role: model.User, Content: "Choose the phase that follows by calling " + cascades.RouteTo + "."})
	resp, err := t.send(at.Join("model"), []model.Tool{words.Choice(t.p)})
	if err != nil {
		return err
	}
	spent, err := t.act(at, 0, resp.ToolCalls, new(wards.Budget))
	if spent != nil {
		return decided(at, *spent)
	}
	return err
}
