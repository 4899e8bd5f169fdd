package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Runs executes the runs of a server. Errors other than [*engine.Error] mean that no run began.
type Runs interface {
	// Run executes a cascade to its end.
	Run(ctx context.Context, o Order) (engine.Result, error)
	// Answer answers open questions of a stored run, by their keys, and resumes the run. An
	// answer that comes too late is ignored.
	Answer(ctx context.Context, id string, answers map[event.Path]engine.Answer, o Order) (engine.Result, error)
}

// An Order describes a run. A resumed run uses only Ask and Sink.
type Order struct {
	Cascade *cascades.Cascade
	Input   map[string]any
	Model   string // "" is the default
	Ask     func(context.Context, engine.Question) (engine.Answer, error)
	Sink    event.Sink
}

// cascade returns the offer of a cascade. Its inputs are the arguments.
func (s *Server) cascade(name string, c *cascades.Cascade) *offer {
	input := c.Params()
	if len(c.Inputs) > 0 {
		input["additionalProperties"] = false
	}
	return s.running(name, strings.TrimSpace("Run the cascade "+c.ID+". "+c.Description), input, c.Effect(), func(k call) (Order, error) {
		return Order{Cascade: c, Input: k.arguments}, nil
	})
}

// run returns the tool that runs a file of the root.
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

// running returns an offer whose calls execute runs. effect is the strongest effect of the
// tools of these runs.
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

// carry executes a run, or continues one whose question the client has answered.
func (s *Server) carry(ctx context.Context, c call, order func(call) (Order, error)) (*sdk.CallToolResult, error) {
	asking := &asking{call: c, later: s.o.Stored && modern(c)}
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

// outcome returns the result of a call whose run has ended or waits for an answer of the client.
func (s *Server) outcome(result engine.Result, err error, asking *asking) (*sdk.CallToolResult, error) {
	if forms := asking.forms(); result.Status == engine.Waiting && forms != nil && s.remember(open{result, asking.open}) {
		return &sdk.CallToolResult{InputRequests: forms, RequestState: result.RunID}, nil
	}
	return s.describe(result, err, asking.open)
}

// describe returns the result of a run. Failed gates and open questions are results; other failures
// are errors.
func (s *Server) describe(result engine.Result, err error, open []engine.Question) (*sdk.CallToolResult, error) {
	var failure *engine.Error
	if err != nil && !errors.As(err, &failure) || result.RunID == "" {
		return nil, err
	}
	var out *sdk.CallToolResult
	if failure != nil {
		out, err = answered(result, s.reason(result, failure, open))
	} else {
		out, err = released(result)
	}
	if err != nil {
		return nil, err
	}
	for _, d := range result.Degraded {
		note := fmt.Sprintf("phase %s was released, but did not pass %s", d.Phase, strings.Join(d.Checks, ", "))
		out.Content = append(out.Content, &sdk.TextContent{Text: "degraded: " + note})
	}
	switch result.Status {
	case engine.Succeeded, engine.Blocked, engine.Exhausted, engine.Waiting:
	default:
		out.IsError = true
	}
	return out, nil
}

// reason returns the reason for a run without a text, and the next step.
func (s *Server) reason(result engine.Result, failure *engine.Error, open []engine.Question) string {
	lines := []string{failure.Error()}
	if result.Status == engine.Blocked || result.Status == engine.Exhausted {
		lines = append(lines, "No text was released.")
	}
	switch {
	case !s.o.Stored, errors.Is(failure, runner.ErrNotKept):
	case result.Status == engine.Waiting && len(open) > 0:
		for _, q := range open {
			answer := runner.AnswerCommand(result.RunID, q.Path)
			lines = append(lines, fmt.Sprintf("A person must answer the question of phase %s: %s", q.Phase, answer))
		}
		lines = append(lines, fmt.Sprintf("Next: capstan resume %s continues after the answers", result.RunID))
	default:
		for _, line := range nextsteps.Next(result).Lines() {
			lines = append(lines, "Next: "+line)
		}
	}
	if result.Status == engine.Cancelled {
		s.o.Log.Warn("a run was cancelled", "run", result.RunID)
	}
	return strings.Join(lines, "\n")
}

// metaRun is the key of the data about a run in the metadata of its output.
const metaRun = "capstan/run"

// released returns an output as text only, because clients show models the text, the structured
// content, or both. The rest of the result is metadata.
func released(result engine.Result) (*sdk.CallToolResult, error) {
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

// progress returns a sink that reports progress if the client has asked for it.
func progress(ctx context.Context, c call) event.Sink {
	token := c.Params.GetProgressToken()
	done := 0.0
	return event.Func(func(e event.Event) {
		words := doing(e)
		if token == nil || words == "" {
			return
		}
		done++
		_ = c.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Message: reports.Fit(words, 200)})
	})
}

// doing describes phases, attempts and verdicts.
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
