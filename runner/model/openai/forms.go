package openai

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
)

// The forms in which a request asks for an answer that matches its schema, the best
// first. In all but the first, the schema is in the prompt.
const (
	asSchema = "json_schema" // response_format with the schema
	asObject = "json_object" // response_format for any object
	asPrompt = "prompt"      // no response_format
)

// form returns the form of the question, as far as the endpoint is known. It is "" if
// there is no schema, or if the cascade's own extra has one.
func (q *question) form() string {
	switch {
	case len(q.r.Schema) == 0 || q.has(formatField) && strings.Contains(string(q.r.Params.Extra), asSchema):
		return ""
	case q.format.wire == "" || q.without(formatField):
		return asPrompt
	case !q.without(asSchema):
		return asSchema
	case q.format.object && !q.without(asObject):
		return asObject
	}
	return asPrompt
}

// responseFormat returns the member of that name, "" for none.
func (q *question) responseFormat() string {
	switch q.form() {
	case asSchema:
		return q.format.wire
	case asObject:
		return `{"type":"json_object"}`
	}
	return ""
}

// asked returns the request's messages, with the schema in the first one if the form
// needs it there and no message has it.
func (q *question) asked() model.Request {
	r, schema := q.r, string(q.r.Schema)
	has := func(m model.Message) bool { return strings.Contains(m.Content, schema) }
	if form := q.form(); form != asObject && form != asPrompt || len(r.Messages) == 0 || slices.ContainsFunc(r.Messages, has) {
		return r
	}
	r.Thread, r.Messages = nil, slices.Clone(r.Messages)
	r.Messages[0].Content = strings.TrimSpace(r.Messages[0].Content + "\n\n" +
		"Your final answer must be one JSON value that matches this JSON Schema, without any other text:\n" + schema)
	return r
}
