package telemetry

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed61713e19/capstan/runner/event"
)

// A kind is the kind of a place in a run.
type kind int

const (
	group kind = iota // a place without a span of its own
	runKind
	cascadeKind // nested in a phase, a tool or a ward
	phaseKind
	itemKind
	soundingKind
	attemptKind
	turnKind
	wardKind
	modelKind
	toolKind
	subKind
)

// within returns the kind of a segment below a place of this kind.
func (k kind) within(segment string) kind {
	word, _, _ := strings.Cut(segment, "[")
	own, known := words[word]
	switch {
	case k == modelKind && word == "fallback":
		return modelKind
	case k == runKind, k == cascadeKind:
		return phaseKind
	case k == subKind, k == modelKind, !known && (k == wardKind || k == toolKind):
		return cascadeKind
	}
	return own // unknown segments are groups
}

// words are the kinds of segments by their names.
var words = map[string]kind{
	"model": modelKind, "tool": toolKind, "turn": turnKind, "attempt": attemptKind, "sounding": soundingKind, "sub": subKind, "item": itemKind,
	"pre": wardKind, "post": wardKind, "ward": wardKind, "result_ward": wardKind, "loop_until": wardKind, "output_schema": wardKind, "tackle": wardKind,
}

// A scope is a place in a run that may still have events.
type scope struct {
	kind     kind
	above    *scope
	below    map[string]*scope
	span     trace.Span // nil without a span of its own
	last     time.Time  // of an event at or below the place
	recorded bool       // an event has recorded the result
	made     bool       // of a tool: it was called
	no       bool       // of a tool: a ward rejected it
	judged   trace.SpanContext
	asked    []attribute.KeyValue // of a model: the attributes of its metrics
	began    time.Time            // of a model: the start of the call
}

// nearest returns the closest scope with a span.
func (s *scope) nearest() *scope {
	for s.span == nil && s.above != nil {
		s = s.above
	}
	return s
}

// attempt returns the attempt of a place in its own cascade.
func (s *scope) attempt() *scope {
	for ; s != nil && s.kind != phaseKind; s = s.above {
		if s.kind == attemptKind {
			return s
		}
	}
	return nil
}

// end ends the place and all open places below it.
func (s *scope) end(at time.Time) {
	for _, b := range s.below {
		b.lapse(at)
	}
	if s.span != nil {
		s.span.End(trace.WithTimestamp(at))
	}
}

// lapse ends a place whose parent has ended. A place without an event for its end gets the time
// of its last event. Other places were interrupted.
func (s *scope) lapse(at time.Time) {
	for _, b := range s.below {
		b.lapse(at)
	}
	if s.span != nil {
		switch {
		case s.recorded || !s.kind.finishes():
		case s.kind == toolKind && !s.made:
			s.fail("not_made", "") // it was judged only
		default:
			s.fail("interrupted", "")
			s.last = at
		}
		s.span.End(trace.WithTimestamp(s.last))
	}
	if s.above != nil && s.above.last.Before(s.last) {
		s.above.last = s.last
	}
}

// finishes reports whether places of this kind have an event for their end.
func (k kind) finishes() bool {
	switch k {
	case runKind, phaseKind, itemKind, attemptKind, modelKind, toolKind:
		return true
	}
	return false
}

// close ends the place and removes it.
func (s *scope) close(segment string, at time.Time) {
	s.end(at)
	if s.above != nil {
		delete(s.above.below, segment)
	}
}

// fail marks the span as failed.
func (s *scope) fail(code, description string) {
	s.span.SetAttributes(errorType.String(code))
	description = cmp.Or(description, code)
	s.span.SetStatus(codes.Error, description)
}

// named returns the name and the attributes of a place from its path.
func named(k kind, segment string) (string, []attribute.KeyValue) {
	word, n, _ := event.SplitIndex(segment)
	switch k {
	case phaseKind:
		return "phase " + word, []attribute.KeyValue{phaseName.String(word), visit.Int(max(n, 1))}
	case attemptKind:
		return "attempt " + strconv.Itoa(n), []attribute.KeyValue{attempt.Int(n)}
	case turnKind:
		return "turn " + strconv.Itoa(n), []attribute.KeyValue{turn.Int(n)}
	case itemKind:
		return "item " + strconv.Itoa(n), []attribute.KeyValue{item.Int(n)}
	case soundingKind:
		return "sounding " + strconv.Itoa(n), []attribute.KeyValue{sounding.Int(n)}
	case cascadeKind:
		return "invoke_workflow " + segment, []attribute.KeyValue{operationName.String("invoke_workflow"), workflowName.String(segment)}
	case modelKind:
		return "chat", []attribute.KeyValue{operationName.String("chat")}
	case toolKind:
		return "execute_tool", []attribute.KeyValue{operationName.String("execute_tool")}
	}
	return "ward", nil
}
