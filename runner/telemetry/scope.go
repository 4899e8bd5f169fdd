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

// A kind is what a place in a run is.
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

// within says what a segment of a path is, below a place of this kind: the
// grammar of paths.
func (k kind) within(segment string) kind {
	word, _, _ := strings.Cut(segment, "[")
	own, known := words[word]
	switch {
	case k == modelKind && word == "rung":
		return modelKind
	case k == runKind, k == cascadeKind:
		return phaseKind
	case k == subKind, k == modelKind, !known && (k == wardKind || k == toolKind):
		return cascadeKind
	}
	return own // a group where it is not known
}

// words are what the segments of a path are, by their names.
var words = map[string]kind{
	"model": modelKind, "tool": toolKind, "turn": turnKind, "attempt": attemptKind, "sounding": soundingKind, "sub": subKind, "item": itemKind,
	"pre": wardKind, "post": wardKind, "ward": wardKind, "result_ward": wardKind, "loop_until": wardKind, "output_schema": wardKind, "tackle": wardKind,
}

// A scope is a place in a run that may still have events below it.
type scope struct {
	kind   kind
	above  *scope
	below  map[string]*scope
	span   trace.Span // nil where the place has none of its own
	last   time.Time  // of an event at or below the place
	told   bool       // an event has said what became of it
	made   bool       // of a tool: it was called
	no     bool       // of a tool: a ward around it said no
	judged trace.SpanContext
	asked  []attribute.KeyValue // of a model: what its metrics are by
	began  time.Time            // of a model: when it was asked
}

// nearest is the closest place upwards that has a span.
func (s *scope) nearest() *scope {
	for s.span == nil && s.above != nil {
		s = s.above
	}
	return s
}

// attempt is the attempt that the place is part of, in its own cascade.
func (s *scope) attempt() *scope {
	for ; s != nil && s.kind != phaseKind; s = s.above {
		if s.kind == attemptKind {
			return s
		}
	}
	return nil
}

// end ends the place and what is still open below it.
func (s *scope) end(at time.Time) {
	for _, b := range s.below {
		b.lapse(at)
	}
	if s.span != nil {
		s.span.End(trace.WithTimestamp(at))
	}
}

// lapse ends a place whose surroundings are over at a time. Some have no event
// that says so: they end with the last thing that happened in them. The others
// were interrupted then, which is the last thing that happened in what they
// are part of.
func (s *scope) lapse(at time.Time) {
	for _, b := range s.below {
		b.lapse(at)
	}
	if s.span != nil {
		switch {
		case s.told || !s.kind.finishes():
		case s.kind == toolKind && !s.made:
			s.fail("not_made", "") // it was judged, and that is all
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

// finishes says whether an event tells that such a place is over.
func (k kind) finishes() bool {
	switch k {
	case runKind, phaseKind, itemKind, attemptKind, modelKind, toolKind:
		return true
	}
	return false
}

// close ends the place and forgets it.
func (s *scope) close(segment string, at time.Time) {
	s.end(at)
	if s.above != nil {
		delete(s.above.below, segment)
	}
}

// fail marks the span as one that did not succeed.
func (s *scope) fail(why, description string) {
	s.span.SetAttributes(errorType.String(why))
	description = cmp.Or(description, why)
	s.span.SetStatus(codes.Error, description)
}

// named gives the name and the attributes of a place that its path tells.
func named(k kind, segment string) (string, []attribute.KeyValue) {
	word, n, _ := event.Numbered(segment)
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
