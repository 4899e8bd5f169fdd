package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/wards"
)

// tools returns the phase's tools for the model. A missing tool ends the phase,
// because the file requires it.
func (v *visit) tools() ([]model.Tool, error) {
	if v.tackle != nil {
		return v.tackle, nil
	}
	var list []model.Tool
	for _, t := range v.p.Tackle {
		if t.Name != keywords.RouteTo {
			description, params, err := t.Described()
			if err != nil {
				return nil, failed(v.at, "%v", err)
			}
			list = append(list, model.Tool{Name: t.Name, Description: description, Parameters: params})
		}
	}
	if v.p.Chooses() {
		list = append(list, messages.RouteTool(v.p))
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

// mustChoose reports whether the model must still choose the next phase if no
// handoff's condition holds.
func (t *try) mustChoose() bool { return t.chosen == "" && t.talk != nil && t.p.MustChoose() }

// choose asks the model only for the choice. The phase's text does not change,
// and no other tool runs.
func (t *try) choose() error {
	at := t.place().at.Join("route")
	t.talk.Append(model.Message{Role: model.User, Content: "Choose the phase that follows by calling " + keywords.RouteTo + "."})
	req := t.request([]model.Tool{messages.RouteTool(t.p)})
	req.Schema = nil // the schema applies only to the text
	resp, err := t.send(at.Join("model"), req)
	if err != nil {
		return err
	}
	list, budget := t.readAll(at, 0, resp.ToolCalls), new(wards.Budget)
	if spent, err := t.judgeCalls(list, budget); err != nil {
		return err
	} else if spent != nil {
		return decided(at, *spent)
	}
	for _, a := range list {
		if a.tool != nil && a.answer == nil {
			a.refuse(fmt.Errorf("there is no tool %q here; there is %s", a.call.Name, keywords.RouteTo))
		}
	}
	_, err = t.actOn(list, budget)
	return err
}
