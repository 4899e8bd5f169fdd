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
var unmergeable = []string{"model", "messages", "input", "stream", "n"}

// Check returns an error if Extra has a member that would change which model is asked, or
// what.
func (p *Params) Check() error {
	if p == nil {
		return nil
	}
	for _, name := range unmergeable {
		if p.Extra.Has(name) {
			return fmt.Errorf("extra: %s cannot be set there", name)
		}
	}
	return nil
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
	_ = json.Unmarshal([]byte(p.String()), &all) // an Extra that is no object has none; Check reports that
	return slices.Sorted(maps.Keys(all))
}
