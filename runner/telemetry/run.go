package telemetry

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed61713e19/capstan/runner/event"
)

// A run makes the spans of one run. It does not use the tree of a run, because it stores
// only the open places.
type run struct {
	t      *Telemetry
	id     string
	parent trace.SpanContext
	ctx    context.Context
	root   *scope
}

// emit processes one event without waiting.
func (r *run) emit(e event.Event) {
	switch e.Kind {
	case event.RunStarted:
		r.abandon() // the previous execution was interrupted
		r.open(e.CascadeID, e.Time)
		return
	case event.RunFinished:
		r.finish(e)
		return
	case event.Route, event.Feedback, event.Pruned, event.Waiting, event.Answered:
		r.remark(e)
		return
	}
	s, segment := r.reach(e)
	switch e.Kind {
	case event.TurnStarted:
		s.above.lapseOthers(s, turnKind)
	case event.ModelCalled:
		s.above.lapseOthers(s, toolKind)
		r.called(s, e)
	case event.ModelReplied:
		r.replied(s, e)
		s.close(segment, e.Time)
	case event.ToolCalled:
		r.toolCalled(s, e)
	case event.ToolReplied:
		// Wards judge the result after this event: the span ends before the next one begins.
		r.toolReplied(s, e)
	case event.VerdictGiven:
		r.verdict(s, e)
		s.close(segment, e.Time)
	case event.AttemptFinished:
		s.setResult(e.Status)
		// The winner of soundings is judged after it has finished.
		if s.above.kind != soundingKind {
			s.close(segment, e.Time)
		}
	case event.PhaseFinished:
		s.setResult(e.Status)
		s.close(segment, e.Time)
	}
}

// lapseOthers ends the earlier places of a kind.
func (s *scope) lapseOthers(now *scope, k kind) {
	for segment, b := range s.below {
		if b != now && b.kind == k {
			b.lapse(b.last)
			delete(s.below, segment)
		}
	}
}

// open begins the span of the run.
func (r *run) open(cascade string, at time.Time) {
	name := "invoke_workflow"
	attributes := []attribute.KeyValue{operationName.String(name)}
	if cascade != "" {
		name += " " + cascade
		attributes = append(attributes, workflowName.String(cascade), cascadeID.String(cascade))
	}
	if r.id != "" {
		attributes = append(attributes, runID.String(r.id), conversation.String(r.id))
	}
	r.ctx = context.WithValue(context.Background(), runKey{}, r.id)
	_, span := r.t.tracer.Start(trace.ContextWithRemoteSpanContext(r.ctx, r.parent), name, trace.WithTimestamp(at), trace.WithAttributes(attributes...))
	r.root = &scope{kind: runKind, span: span, last: at, below: map[string]*scope{}}
}

// finish ends the span of the run and all open places.
func (r *run) finish(e event.Event) {
	if r.root == nil {
		r.open(e.CascadeID, e.Time)
	}
	s := r.root
	s.span.SetAttributes(status.String(e.Status))
	if u := e.Usage; u != nil {
		s.span.SetAttributes(calls.Int(u.Calls), totalInput.Int(u.InputTokens), totalOutput.Int(u.OutputTokens), cost.Float64(u.CostUSD))
		if u.Estimated {
			s.span.SetAttributes(estimated.Bool(true))
		}
	}
	if e.Error != nil && e.Error.Phase != "" {
		s.span.SetAttributes(errorPhase.String(e.Error.Phase))
	}
	if broken(e.Status) {
		description := ""
		if e.Error != nil && r.t.content {
			description = e.Error.Message
		}
		s.fail(e.Status, description)
	}
	s.end(e.Time)
	r.root = nil
}

// abandon ends an interrupted run.
func (r *run) abandon() {
	if r.root != nil {
		r.root.lapse(r.root.last)
		r.root = nil
	}
}

// reach returns the place of an event and its segment. It opens missing places on the path,
// because a resumed run may begin anywhere.
func (r *run) reach(e event.Event) (*scope, string) {
	if r.root == nil {
		r.open("", e.Time)
	}
	s, at := r.root, string(e.Path)
	for start := 0; ; {
		s.last = e.Time
		length := strings.IndexByte(at[start:], '/')
		if length < 0 {
			return r.enter(s, at, start, e), at[start:]
		}
		s = r.enter(s, at[:start+length], start, e)
		start += length + 1
	}
}

// enter returns the place of a path, below the place of the path before start. It opens a new
// place. The span of a model or a tool begins with its own event.
func (r *run) enter(above *scope, at string, start int, e event.Event) *scope {
	segment := at[start:]
	if s := above.below[segment]; s != nil {
		s.last = e.Time
		return s
	}
	s := &scope{kind: above.kind.within(segment), above: above, last: e.Time, below: map[string]*scope{}}
	if whole := len(at) == len(e.Path); whole && above.kind == phaseKind && s.kind != itemKind && e.IsVisit() {
		s.kind = phaseKind // a phase of a group, with any name
	}
	above.below[segment] = s
	switch s.kind {
	case group, subKind:
	case modelKind, toolKind:
		if len(at) == len(e.Path) || s.kind == toolKind && guards(string(e.Path[len(at)+1:])) {
			r.start(s, at, segment, e)
		}
	default:
		r.start(s, at, segment, e)
	}
	return s
}

// guards reports whether a place below a tool is one of its wards.
func guards(below string) bool {
	return strings.HasPrefix(below, "ward[") || strings.HasPrefix(below, "result_ward[")
}

// start begins the span of a place.
func (r *run) start(s *scope, at, segment string, e event.Event) {
	name, attributes := named(s.kind, segment)
	attributes = append(attributes, path.String(at))
	var options []trace.SpanStartOption
	switch s.kind {
	case modelKind:
		name, attributes = r.call(s, name, attributes, e)
		options = append(options, trace.WithSpanKind(trace.SpanKindClient))
	case toolKind:
		name, attributes = r.use(name, attributes, e)
	case wardKind:
		// A result ward does not judge a reply of a model.
		if a := s.attempt(); a != nil && a.judged.IsValid() && !strings.HasPrefix(segment, "result_ward[") {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: a.judged}))
		}
	}
	options = append(options, trace.WithTimestamp(e.Time), trace.WithAttributes(attributes...))
	_, s.span = r.t.tracer.Start(trace.ContextWithSpan(r.ctx, s.above.nearest().span), name, options...)
}

// remark adds an event to the span of the nearest open place.
func (r *run) remark(e event.Event) {
	if r.root == nil {
		r.open("", e.Time)
	}
	s := r.root
	for segment := range strings.SplitSeq(string(e.Path), "/") {
		s.last = e.Time
		if s.below[segment] == nil {
			break
		}
		s = s.below[segment]
	}
	s.last = e.Time
	name, attributes := routeEvent, []attribute.KeyValue{routeFrom.String(e.From), routeTo.String(e.To)}
	switch e.Kind {
	case event.Feedback:
		name, attributes = feedbackEvent, r.text(messageText, e.Message)
	case event.Pruned:
		name, attributes = prunedEvent, []attribute.KeyValue{prunedOf.Int(e.Pruning.Messages), prunedFrom.Int(e.Pruning.Tokens), prunedTo.Int(e.Pruning.Left)}
	case event.Waiting:
		name, attributes = waitingEvent, r.text(messageText, e.Message)
	case event.Answered:
		name, attributes = answeredEvent, r.text(messageText, fmt.Sprint(e.Output))
	}
	s.nearest().span.AddEvent(name, trace.WithTimestamp(e.Time), trace.WithAttributes(attributes...))
}

// setResult records the result of a phase or an attempt.
func (s *scope) setResult(what string) {
	s.recorded = true
	if s.span == nil {
		return
	}
	s.span.SetAttributes(status.String(what))
	if broken(what) {
		s.fail(what, "")
	}
}

// broken reports whether the span of a status has an error. error.type separates failed
// verdicts from failures.
func broken(what string) bool {
	switch what {
	case "blocked", "exhausted", "failed", "over_budget", "cancelled":
		return true
	}
	return false
}
