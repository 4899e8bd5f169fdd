package schema

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// expectation tells what a broken rule wanted and what it found, for the
// feedback an author of the text gets; empty where the message says it all.
func expectation(k jsonschema.ErrorKind) (expected, got string) {
	switch k := k.(type) {
	case *kind.Type:
		return strings.Join(k.Want, " or "), k.Got
	case *kind.Enum:
		return "one of " + show(k.Want), show(k.Got)
	case *kind.Const:
		return show(k.Want), show(k.Got)
	case *kind.Format:
		return "format " + k.Want, show(k.Got)
	case *kind.Required:
		return strings.Join(k.Missing, ", "), "missing"
	case *kind.AdditionalProperties:
		return "no other properties", clip(strings.Join(k.Properties, ", "), maxShown)
	case *kind.Pattern:
		return "match for " + clip(k.Want, maxShown), show(k.Got)
	case *kind.Minimum:
		return ">= " + k.Want.RatString(), k.Got.RatString()
	case *kind.Maximum:
		return "<= " + k.Want.RatString(), k.Got.RatString()
	case *kind.ExclusiveMinimum:
		return "> " + k.Want.RatString(), k.Got.RatString()
	case *kind.ExclusiveMaximum:
		return "< " + k.Want.RatString(), k.Got.RatString()
	case *kind.MultipleOf:
		return "a multiple of " + k.Want.RatString(), k.Got.RatString()
	default:
		return counted(k)
	}
}

// counted is [expectation] for the rules about how many there are.
func counted(k jsonschema.ErrorKind) (expected, got string) {
	atLeast := func(want, got int) (string, string) {
		return "at least " + strconv.Itoa(want), strconv.Itoa(got)
	}
	atMost := func(want, got int) (string, string) {
		return "at most " + strconv.Itoa(want), strconv.Itoa(got)
	}
	switch k := k.(type) {
	case *kind.MinLength:
		return atLeast(k.Want, k.Got)
	case *kind.MaxLength:
		return atMost(k.Want, k.Got)
	case *kind.MinItems:
		return atLeast(k.Want, k.Got)
	case *kind.MaxItems:
		return atMost(k.Want, k.Got)
	case *kind.MinProperties:
		return atLeast(k.Want, k.Got)
	case *kind.MaxProperties:
		return atMost(k.Want, k.Got)
	default:
		return "", ""
	}
}

// maxShown bounds a value quoted in a violation, in bytes.
const maxShown = 120

func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return clip(string(text), maxShown)
}
