package openai

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// form returns the form of the schema, as far as the endpoint is known. Without
// a schema it returns "". It also returns "" for an extra of the cascade with a
// schema.
func (q *question) form() string {
	switch {
	case len(q.r.Schema) == 0 || q.has(formatField) && strings.Contains(string(q.r.Params.Extra), protocol.AsSchema):
		return ""
	case !q.formatted || q.without(formatField):
		return protocol.AsPrompt
	case !q.without(protocol.AsSchema):
		return protocol.AsSchema
	case q.object && !q.without(protocol.AsObject):
		return protocol.AsObject
	}
	return protocol.AsPrompt
}

// asked returns the request. It adds the schema to the first message if the
// form requires it and no message contains it.
func (q *question) asked() model.Request {
	r, schema := q.r, string(q.r.Schema)
	has := func(m model.Message) bool { return strings.Contains(m.Content, schema) }
	if form := q.form(); form != protocol.AsObject && form != protocol.AsPrompt || len(r.Messages) == 0 || slices.ContainsFunc(r.Messages, has) {
		return r
	}
	r.Thread, r.Messages = nil, slices.Clone(r.Messages)
	r.Messages[0].Content = strings.TrimSpace(r.Messages[0].Content + "\n\n" +
		"Your final answer must be one JSON value that matches this JSON Schema, without any other text:\n" + schema)
	return r
}
