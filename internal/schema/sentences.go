package schema

import (
	"fmt"
	"strings"
)

// sentences are the messages for broken keywords, with the required value and
// the value found.
var sentences = map[string]string{
	"minimum":          "must be at least %s, is %s",
	"maximum":          "must be at most %s, is %s",
	"exclusiveMinimum": "must be greater than %s, is %s",
	"exclusiveMaximum": "must be less than %s, is %s",
	"multipleOf":       "must be a multiple of %s, is %s",
	"minLength":        "must have at least %s, has %s",
	"maxLength":        "must have at most %s, has %s",
	"minItems":         "must have at least %s, has %s",
	"maxItems":         "must have at most %s, has %s",
	"minProperties":    "must have at least %s, has %s",
	"maxProperties":    "must have at most %s, has %s",
	"minContains":      "must have at least %s that match contains, has %s",
	"maxContains":      "must have at most %s that match contains, has %s",
	"additionalItems":  "must have at most %s, has %s",
	"type":             "must be %s, is %s",
	"const":            "must be %s",
	"enum":             "must be one of %s",
	"not":              "must not match %s",
	"contains":         "must have an item that matches %s",
	"":                 "is not allowed",
}

func sentence(word string, values ...any) string { return fmt.Sprintf(sentences[word], values...) }

// countedThings are the nouns for keywords that count, by the end of the
// keyword.
var countedThings = map[string]string{"Length": "character", "Items": "item", "Properties": "property", "Contains": "item"}

// countInWords returns a number with the noun of a keyword, as "3 items".
func countInWords(n int, word string) string {
	thing := countedThings[strings.TrimPrefix(strings.TrimPrefix(word, "min"), "max")]
	if thing == "" {
		thing = "item"
	}
	switch {
	case n == 1:
		return "1 " + thing
	case thing == "property":
		thing = "propertie"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// typesInWords returns types with their articles, as "an integer or null".
func typesInWords(names []string) string {
	words := make([]string, len(names))
	for i, name := range names {
		switch {
		case name == "null":
			words[i] = name
		case strings.ContainsAny(name[:1], "aio"):
			words[i] = "an " + name
		default:
			words[i] = "a " + name
		}
	}
	return strings.Join(words, " or ")
}

// mistyped returns the violation of the keyword type.
func mistyped(types typeSet, v any) Violation {
	names, is := typeList(types), typeName(v)
	message := sentence("type", typesInWords(names), typesInWords([]string{is}))
	return Violation{Message: message, Expected: strings.Join(names, " or "), Got: is}
}
