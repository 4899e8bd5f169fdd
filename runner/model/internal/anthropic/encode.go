// Package anthropic is Anthropic's Messages protocol: it encodes requests and decodes
// replies for the client in package openai.
//
// The source is the API reference at platform.claude.com, as the types of
// anthropic-sdk-go 1.84.0 have it. Begin with encode.go, then decode.go.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// defaultMaxTokens is the max_tokens of a request that sets no limit of its own. Each
// model since Claude 4 accepts it.
const defaultMaxTokens = 32_000

// New returns the protocol as a provider speaks it.
func New(p model.Provider) protocol.Protocol { return messages{p.Name} }

// messages is the Messages protocol.
type messages struct {
	provider string // whose blocks of earlier answers go back, see [model.Message]
}

// Path implements [protocol.Protocol].
func (messages) Path() string { return "messages" }

// Unsupported implements [protocol.Protocol].
func (messages) Unsupported() []string { return []string{"seed"} }

// Optional implements [protocol.Protocol].
func (messages) Optional(protocol.Query) []protocol.Member { return nil }

// A request has the members before the conversation.
type request struct {
	Model         string    `json:"model"`
	MaxTokens     int       `json:"max_tokens"`
	Temperature   *float64  `json:"temperature,omitempty"`
	TopP          *float64  `json:"top_p,omitempty"`
	StopSequences []string  `json:"stop_sequences,omitempty"`
	Thinking      *thinking `json:"thinking,omitempty"`
	OutputConfig  *output   `json:"output_config,omitempty"`
	Stream        bool      `json:"stream,omitempty"`
	Tools         []tool    `json:"tools,omitempty"`
}

type output struct {
	Effort string  `json:"effort,omitempty"`
	Format *format `json:"format,omitempty"`
}

type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	InputSchema any    `json:"input_schema"`
}

// Encode implements [protocol.Protocol]. The messages come last, so that the requests of
// a conversation begin with the same bytes.
func (m messages) Encode(q protocol.Query) ([]byte, error) {
	p := cmp.Or(q.Request.Params, &model.Params{})
	if p.Extra.Has("system") {
		return nil, errors.New("extra: system cannot be set there")
	}
	r := request{Model: q.Request.Model, MaxTokens: cmp.Or(p.MaxOutputTokens, defaultMaxTokens), Stream: q.Stream}
	r.Temperature, r.TopP, r.StopSequences = p.Temperature, p.TopP, p.Stop
	var config output
	var err error
	if r.Thinking, config.Effort, err = thinkingOf(r.Model, p.Effort, r.MaxTokens); err != nil {
		return nil, err
	}
	if q.Form == protocol.AsSchema {
		schema, err := narrow(context.Background(), q.Request.Schema)
		if err != nil {
			return nil, err
		}
		config.Format = &format{"json_schema", schema}
	}
	extra := p.Extra
	if config != (output{}) {
		r.OutputConfig = &config
		if extra, err = withOutput(extra, config); err != nil {
			return nil, err
		}
	}
	for _, t := range q.Request.Tools {
		if t.Parameters == nil {
			t.Parameters = map[string]any{"type": "object"}
		}
		r.Tools = append(r.Tools, tool{t.Name, t.Description, t.Parameters})
	}
	object, err := protocol.Encode(r)
	if err != nil {
		return nil, err
	}
	if object, err = protocol.Merge(object, extra); err != nil {
		return nil, err
	}
	rest, err := protocol.Encode(m.conversation(q))
	if err != nil {
		return nil, err
	}
	return slices.Concat(object[:len(object)-1], []byte(","), rest[1:]), nil
}

// withOutput adds the members of config to the output_config of an extra. The extra's own
// members win. An extra without output_config stays as it is.
func withOutput(extra model.Extra, config output) (model.Extra, error) {
	const name = "output_config"
	if !extra.Has(name) {
		return extra, nil
	}
	own, _ := jsontree.Parse(context.Background(), []byte(extra), jsontree.Options{}) // made by [model.ExtraOf]
	object, err := protocol.Encode(config)
	for member, value := range own.Members() {
		if string(member) == name && err == nil {
			object, err = protocol.Merge(object, model.Extra(value.Raw()))
		}
	}
	if err != nil {
		return "", fmt.Errorf("extra: %s: %w", name, err)
	}
	text, err := protocol.Merge([]byte(extra), model.Extra(`{"`+name+`":`+string(object)+"}"))
	return model.Extra(text), err
}
