package telemetry

import (
	"math"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// The events of models, tools and wards. Events from other sources may lack fields.

// call returns the first attributes of a model's span.
func (r *run) call(s *scope, name string, attributes []attribute.KeyValue, e event.Event) (string, []attribute.KeyValue) {
	attributes = r.conversing(attributes)
	if e.Validator != "" {
		attributes = append(attributes, validator.String(e.Validator))
	}
	if e.Kind == event.ModelCalled {
		s.began = e.Time
	}
	if e.Request == nil {
		return name, append(attributes, providerName.String(r.t.provider))
	}
	provider, model := r.t.provided(e.Request.Model)
	s.asked = append(s.asked, providerName.String(provider))
	if model != "" {
		name += " " + model
		s.asked = append(s.asked, requestModel.String(model))
	}
	attributes = append(attributes, s.asked...)
	if e.Request.Role != "" {
		attributes = append(attributes, role.String(e.Request.Role))
	}
	kind := "text"
	if e.Request.Schema != nil {
		kind = "json"
	}
	return name, append(attributes, outputType.String(kind))
}

func (r *run) conversing(attributes []attribute.KeyValue) []attribute.KeyValue {
	if r.id == "" {
		return attributes
	}
	return append(attributes, conversation.String(r.id))
}

// called adds attributes after the start of a model's span.
func (r *run) called(s *scope, e event.Event) {
	if r.t.content && e.Request != nil && s.span != nil && s.span.IsRecording() {
		s.span.SetAttributes(inputOf(e.Request.Messages, e.Partial)...)
	}
}

func (r *run) replied(s *scope, e event.Event) {
	if e.Response == nil || s.span == nil {
		return
	}
	answered := answerer(e.Response)
	s.span.SetAttributes(answered...)
	s.span.SetAttributes(answerOf(e.Response)...)
	r.t.meters.answered(e, s.began, replaced(s.asked, answered))
	if r.t.content && s.span.IsRecording() {
		s.span.SetAttributes(outputOf(*e.Response)...)
	}
	if f := e.Response.Failure; f != nil {
		r.failed(s, f)
		return
	}
	// Wards judge the last reply of the phase's own model.
	if a := s.attempt(); a != nil && e.Validator == "" {
		a.judged = s.span.SpanContext()
	}
}

func (r *run) failed(s *scope, f *model.Failure) {
	description := ""
	if r.t.content {
		description = f.Message
	}
	s.fail(string(f.Class), description)
	if f.Status != 0 {
		s.span.SetAttributes(httpStatus.Int(f.Status))
	}
}

// use returns the first attributes of a tool's span.
func (r *run) use(name string, attributes []attribute.KeyValue, e event.Event) (string, []attribute.KeyValue) {
	attributes = append(r.conversing(attributes), toolType.String("function"))
	if e.Call == nil {
		return name, attributes
	}
	if e.Call.ID != "" {
		attributes = append(attributes, toolCallID.String(clips.Bytes(e.Call.ID, maxName)))
	}
	// The name of an unknown tool is the model's choice.
	tool := clips.Bytes(e.Call.Name, maxName)
	return name + " " + tool, append(attributes, toolName.String(tool))
}

// toolCalled adds the attributes of the call. A ward may have begun the span before it.
func (r *run) toolCalled(s *scope, e event.Event) {
	if s.made = true; s.span != nil {
		name, attributes := r.use("execute_tool", nil, e)
		s.span.SetName(name)
		s.span.SetAttributes(attributes...)
	}
	if r.t.content && e.Call != nil && s.span != nil && s.span.IsRecording() {
		arguments, _ := schema.Encode(e.Call.Arguments)
		s.span.SetAttributes(r.text(toolArguments, string(arguments))...)
	}
}

func (r *run) toolReplied(s *scope, e event.Event) {
	s.recorded = true
	if e.Result == nil || s.span == nil {
		return
	}
	if r.t.content && s.span.IsRecording() {
		s.span.SetAttributes(r.text(toolResult, e.Result.Text())...)
	}
	switch {
	case e.Result.Failed && s.no:
		s.fail("refused", "")
	case e.Result.Failed:
		s.fail("tool_error", "")
	}
}

// verdict adds a verdict to a ward's span.
func (r *run) verdict(s *scope, e event.Event) {
	v := e.Verdict
	if v == nil || s.span == nil {
		return
	}
	r.t.meters.judged(v)
	if v.Valid != nil && !*v.Valid && !v.NonBinding() {
		s.above.no = true
	}
	s.span.SetName("ward " + v.Validator)
	s.span.SetAttributes(
		validator.String(v.Validator), moment.String(v.Moment), mode.String(v.Mode),
		issues.Int(len(v.Issues)), warnings.Int(len(v.Warnings)),
	)
	result := []attribute.KeyValue{evaluated.String(v.Validator)}
	if v.Valid != nil {
		s.span.SetAttributes(valid.Bool(*v.Valid))
	}
	if v.Error == nil {
		result = append(result, scoreLabel.String(label(v)))
	}
	if v.Score != nil && !math.IsNaN(*v.Score) {
		result = append(result, scoreValue.Float64(*v.Score))
	}
	reason := v.Reason
	if v.Error != nil {
		reason = *v.Error
		result = append(result, errorType.String("validator_error"))
		s.fail("validator_error", "")
	}
	if reason != "" {
		result = append(result, r.text(explanation, reason)...)
	}
	s.span.AddEvent(evaluationEvent, trace.WithTimestamp(e.Time), trace.WithAttributes(result...))
}
