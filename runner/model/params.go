package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Params are the parameters of a model in a cascade. The zero value of a field means
// the default of the endpoint. A replay and a resumed run find an answer only for equal
// parameters.
type Params struct {
	Temperature     *float64 `json:"temperature,omitempty"`
	TopP            *float64 `json:"top_p,omitempty"`
	MaxOutputTokens int      `json:"max_output_tokens,omitempty"` // the name of the member depends on the endpoint
	Effort          string   `json:"effort,omitempty"`            // the reasoning effort, such as low, medium or high
	Seed            *int64   `json:"seed,omitempty"`
	Stop            []string `json:"stop,omitempty"`
	NoFormat        bool     `json:"no_format,omitempty"` // response_format is off: the request has no schema
	Extra           Extra    `json:"extra,omitempty"`     // members of the request body; they replace members with the same names
}

// unmergeable are the members that Extra must not have. They choose the model and the
// conversation, or change the form of the reply.
var unmergeable = []string{"model", "messages", "input", "stream", "n"}

// Check returns an error if Extra has a member that must not be set.
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

// String returns the parameters as JSON, or "" if there are none.
func (p *Params) String() string {
	if p == nil {
		return ""
	}
	raw, err := appendWire(nil, p)
	if err != nil { // an Extra that is not an object
		return err.Error()
	}
	return string(raw)
}

// Asks returns the names of the parameters that are set, as in a cascade.
func (p *Params) Asks() []string {
	if p == nil {
		return nil
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal([]byte(p.String()), &all) // an Extra that is not an object has none; Check reports the error
	return slices.Sorted(maps.Keys(all))
}
