package cascades

import (
	"strconv"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators/schema"
)

// The JSON Schema declares the language's keys: what each is called, what it may be,
// what it is unless it is written, and in a sentence what it means. From it come what
// editors tell, the tables of docs/language.md, and what the parser suggests for a
// key that it does not know. What a key does is the parser's to say, in the one place
// that reads it; a test holds that all are read that are declared, and no others.

// declared is where the JSON Schema declares the keys of what the parser reads, by
// what that is called; where nothing is said here, a definition of that name does.
var declared = map[string]string{
	"the cascade":          "",
	"a phase":              "$defs/phase",
	"a validator":          "$defs/validator",
	"a validator in place": "$defs/check/oneOf/1",
	"a ward":               "$defs/ward",
	"a ward around tools":  "$defs/toolward",
	"a tool":               "$defs/tool",
	"requires_receipt":     "$defs/tool/properties/requires_receipt",
	"a handoff":            "$defs/handoff/oneOf/1",
	"a phase of context":   "$defs/context/properties/from/items/oneOf/1",
	"a model":              "$defs/rung/oneOf/1",
	"a provider":           "$defs/provider",
	"a price":              "$defs/price",
	"a database":           "$defs/database",
	"a sub-cascade":        "$defs/sub_cascade",
}

// placeOf is the way to where the keys of a mapping are declared.
func placeOf(kind string) []string {
	place, ok := declared[kind]
	switch {
	case !ok:
		return []string{"$defs", kind}
	case place == "":
		return nil
	}
	return strings.Split(place, "/")
}

var declaration = sync.OnceValue(func() any {
	root, _ := schema.Parse(jsonSchema)
	return root
})

// declarationOf is the schema of a mapping, nil where it is none of the language's.
func declarationOf(kind string) map[string]any {
	at := declaration()
	for _, word := range placeOf(kind) {
		switch here := at.(type) {
		case map[string]any:
			at = here[word]
		case []any:
			i, _ := strconv.Atoi(word)
			at = here[i]
		}
	}
	object, _ := at.(map[string]any)
	return object
}

// keysOf are the declared keys of a mapping, each with its schema.
func keysOf(kind string) map[string]any {
	keys, _ := declarationOf(kind)["properties"].(map[string]any)
	return keys
}
