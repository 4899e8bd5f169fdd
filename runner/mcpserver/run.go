package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/endings"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Runs make the runs of a server. An error that is not a [*runner.Error] says
// that there was no run.
type Runs interface {
	// Run runs a cascade to its end.
	Run(ctx context.Context, o Order) (runner.Result, error)
	// Answer answers open questions of a kept run, by their keys, and goes on with the
	// run. It goes on without an answer that comes too late.
	Answer(ctx context.Context, id string, answers map[event.Path]runner.Answer, o Order) (runner.Result, error)
}

// An Order says what is to be run. To go on with a run takes Ask and Sink
// alone.
type Order struct {
	Cascade *cascades.Cascade
	Input   map[string]any
	Model   string // "": the default
	Ask     func(context.Context, runner.Question) (runner.Answer, error)
	Sink    event.Sink
}

// cascade offers a cascade under a name: its inputs are the arguments.
func (s *Server) cascade(name string, c *cascades.Cascade) *offer {
	input := c.Params()
	if len(c.Inputs) > 0 {
		input["additionalProperties"] = false
	}
	return s.running(name, strings.TrimSpace("Run the cascade "+c.ID+". "+c.Description), input, c.Effect(), func(k call) (Order, error) {
		return Order{Cascade: c, Input: k.arguments}, nil
	})
}

// run offers to run a file of the root.
func (s *Server) run() *offer {
	input := object(map[string]any{
		"file":  text("the cascade's file"),
		"input": map[string]any{"type": "object", "description": "the cascade's inputs by name"},
		"model": text("the default model: a name, or scripted for the replies in NAME.scripted.yaml beside NAME.yaml"),
	}, "file")
	return s.running("run", "Run a cascade file to its end", input, tool.Writes, func(k call) (Order, error) {
		file, _ := k.arguments["file"].(string)
		name, _ := k.arguments["model"].(string)
		order := Order{}
		order.Input, _ = k.arguments["input"].(map[string]any)
		var err error
		if order.Model, err = s.root().model(name); err != nil {
			return order, err
		}
		if order.Cascade, err = s.root().load(file, s.o.Known); err != nil {
			return order, err
		}
		if err = s.admits(order.Cascade); err != nil {
			return order, fmt.Errorf("%s: %w", file, err)
		}
		return order, nil
	})
}

// running is an offer that makes the runs that are ordered by its calls, whose
// tools do to the world what effect says at worst.
func (s *Server) running(name, description string, input map[string]any, effect tool.Effect, order func(call) (Order, error)) *offer {
	return newOffer(name, description, input, hinted(effect), func(ctx context.Context, c call) (*sdk.CallToolResult, error) {
		select {
		case s.seats <- struct{}{}:
			defer func() { <-s.seats }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		return s.carry(ctx, c, order)
	})
}

// carry makes a run, or goes on with one that the client was asked about.
func (s *Server) carry(ctx context.Context, c call, order func(call) (Order, error)) (*sdk.CallToolResult, error) {
	asking := &asking{call: c, later: s.o.Kept && modern(c)}
	if c.Params.RequestState != "" {
		return s.proceed(ctx, c, asking)
	}
	o, err := order(c)
	if err != nil {
		return nil, err
	}
	if wrong := o.Cascade.CheckInput(ctx.Err, o.Input); len(wrong) > 0 {
		return nil, wrong
	}
	o.Ask, o.Sink = asking.ask, progress(ctx, c)
	result, err := s.o.Runs.Run(ctx, o)
	return s.outcome(result, err, asking)
}

// outcome is the result of a call whose run has come to an end, or to a
// question that the client can take to a person.
func (s *Server) outcome(result runner.Result, err error, asking *asking) (*sdk.CallToolResult, error) {
	if forms := asking.forms(); result.Status == runner.Waiting && forms != nil && s.remember(open{result, asking.open}) {
		return &sdk.CallToolResult{InputRequests: forms, RequestState: result.RunID}, nil
	}
	return s.told(result, err, asking.open)
}

// told tells what a run came to. A gate's no, and waiting for a person, are
// results; all else that is not a success is an error.
func (s *Server) told(result runner.Result, err error, open []runner.Question) (*sdk.CallToolResult, error) {
	var why *runner.Error
	if err != nil && !errors.As(err, &why) || result.RunID == "" {
		return nil, err
	}
	var told *sdk.CallToolResult
	if why != nil {
		told, err = answered(result, s.reason(result, why, open))
	} else {
		told, err = released(result)
	}
	if err != nil {
		return nil, err
	}
	for _, d := range result.Degraded {
		note := fmt.Sprintf("phase %s was released, but did not pass %s", d.Phase, strings.Join(d.Checks, ", "))
		told.Content = append(told.Content, &sdk.TextContent{Text: "degraded: " + note})
	}
	switch result.Status {
	case runner.Succeeded, runner.Blocked, runner.Exhausted, runner.Waiting:
	default:
		told.IsError = true
	}
	return told, nil
}

// reason returns why a run gave no text, and the next step.
func (s *Server) reason(result runner.Result, why *runner.Error, open []runner.Question) string {
	lines := []string{why.Error()}
	if result.Status == runner.Blocked || result.Status == runner.Exhausted {
		lines = append(lines, "No text was released.")
	}
	switch {
	case !s.o.Kept, errors.Is(why, runner.ErrNotKept):
	case result.Status == runner.Waiting && len(open) > 0:
		for _, q := range open {
			answer := runner.AnswerCommand(result.RunID, q.Path)
			lines = append(lines, fmt.Sprintf("A person must answer the question of phase %s: %s", q.Phase, answer))
		}
		lines = append(lines, fmt.Sprintf("Next: capstan resume %s continues after the answers", result.RunID))
	default:
		for _, line := range endings.Next(result).Lines() {
			lines = append(lines, "Next: "+line)
		}
	}
	if result.Status == runner.Cancelled {
		s.o.Log.Warn("a run was cancelled", "run", result.RunID)
	}
	return strings.Join(lines, "\n")
}

// metaRun is where an output has what there is to say of its run.
const metaRun = "capstan/run"

// released gives an output, as text and once: clients show a model the text, or
// the structured content, or both, and an output is long. The rest of the
// result goes where no model reads it.
func released(result runner.Result) (*sdk.CallToolResult, error) {
	plain, err := schema.Plain(result)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	about, _ := plain.(map[string]any)
	delete(about, "output")
	delete(about, "outputs")
	output := &sdk.TextContent{Text: tool.Result{Value: result.Output}.Text(), Meta: sdk.Meta{metaRun: about}}
	return &sdk.CallToolResult{Content: []sdk.Content{output}}, nil
}

// progress tells the client what its run does, where it has asked for that.
func progress(ctx context.Context, c call) event.Sink {
	token := c.Params.GetProgressToken()
	done := 0.0
	return event.Func(func(e event.Event) {
		words := doing(e)
		if token == nil || words == "" {
			return
		}
		done++
		_ = c.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Message: validators.OneLine(words, 200)})
	})
}

// doing tells phases, attempts and verdicts in a few words.
func doing(e event.Event) string {
	switch e.Kind {
	case event.PhaseStarted:
		return e.Phase
	case event.AttemptStarted:
		if e.Attempt > 1 {
			return fmt.Sprintf("%s: attempt %d", e.Phase, e.Attempt)
		}
	case event.VerdictGiven:
		v := e.Verdict
		switch at := fmt.Sprintf("%s: %s %s", v.Phase, v.Moment, v.Validator); {
		case v.Error != nil:
			return at + " gave no verdict: " + *v.Error
		case v.Skipped():
			return at + " was " + v.Reason
		case *v.Valid:
			return at + " passed"
		default:
			return at + " rejected the text: " + v.Reason
		}
	}
	return ""
}
