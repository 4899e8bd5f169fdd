package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Params are what is asked of a model beside the conversation, as the cascade
// writes it. What is nil or empty is not asked for. They are part of what a
// request is recognised by: a replay or a resumed run finds an answer only
// under the same ones.
type Params struct {
	Temperature     *float64 `json:"temperature,omitempty"`
	TopP            *float64 `json:"top_p,omitempty"`
	MaxOutputTokens int      `json:"max_output_tokens,omitempty"` // sent under the name that the endpoint takes
	Effort          string   `json:"effort,omitempty"`            // of reasoning: low, medium, high, or what the model takes
	Seed            *int64   `json:"seed,omitempty"`
	Stop            []string `json:"stop,omitempty"`
	NoFormat        bool     `json:"no_format,omitempty"` // response_format: off; the schema is not sent
	Extra           Extra    `json:"extra,omitempty"`     // merged into the request's body as it is, and wins
}

// unmergeable are the members of a body that Extra must not have: without them
// an answer would not be read, or would be of another conversation.
var unmergeable = []string{"model", "messages", "stream", "n"}

// Body is the members of a request's body that the parameters are, each
// followed by a comma, for an endpoint that takes the limit of the output as
// limit. An Extra that would change what is asked of whom is an error that
// names the member.
func (p *Params) Body(limit string) ([]byte, error) {
	if p == nil {
		return nil, nil
	}
	for _, name := range unmergeable {
		if p.Extra.Has(name) {
			return nil, fmt.Errorf("extra: %s cannot be set there", name)
		}
	}
	var body []byte
	var wrong error
	add := func(name string, value any, wanted bool) {
		if !wanted || p.Extra.Has(name) || wrong != nil {
			return
		}
		var raw []byte
		if raw, wrong = appendWire(nil, value); wrong == nil {
			body = slices.Concat(body, []byte(`"`+name+`":`), raw, []byte(","))
		}
	}
	add("temperature", p.Temperature, p.Temperature != nil)
	add("top_p", p.TopP, p.TopP != nil)
	add(limit, p.MaxOutputTokens, p.MaxOutputTokens != 0)
	add("reasoning_effort", p.Effort, p.Effort != "")
	add("seed", p.Seed, p.Seed != nil)
	add("stop", p.Stop, len(p.Stop) > 0)
	if p.Extra != "" {
		body = append(append(body, p.Extra[1:len(p.Extra)-1]...), ',')
	}
	return body, wrong
}

// String is the parameters as JSON, "" for none.
func (p *Params) String() string {
	if p == nil {
		return ""
	}
	raw, err := appendWire(nil, p)
	if err != nil { // an Extra that is no object
		return err.Error()
	}
	return string(raw)
}

// Asks are the names, as a cascade writes them, of the parameters that are
// asked for.
func (p *Params) Asks() []string {
	if p == nil {
		return nil
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal([]byte(p.String()), &all) // an Extra that is no object has none; Body tells
	return slices.Sorted(maps.Keys(all))
}
