package request

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/schema"
)

// A form is a kind of message: its JSON Schema, as text, as a tree and
// compiled.
type form struct {
	tree   *tree
	schema *schema.Schema
}

// A tree is the part of a schema that finds a message's fields.
type tree struct {
	Properties map[string]*tree `json:"properties"`
	Items      *tree            `json:"items"`
}

var (
	//go:embed schemas/request.schema.json
	requestSchema []byte
	//go:embed schemas/response.schema.json
	responseSchema []byte

	requestForm  = sync.OnceValue(func() form { return newForm(requestSchema) })
	responseForm = sync.OnceValue(func() form { return newForm(responseSchema) })
)

func newForm(text []byte) form {
	var f form
	source, err := schema.Parse(text)
	if err == nil {
		f.schema, err = schema.Compile(source)
	}
	if err == nil {
		err = json.Unmarshal(text, &f.tree)
	}
	if err != nil {
		panic(fmt.Sprintf("the protocol's own schema: %v", err))
	}
	return f
}

// maxItems bounds every list of a message.
const maxItems = 10_000

// names adds a problem for each key that is a field of the form in another case or with
// other hyphens. It reports whether every list is short enough to be read.
func (p *problems) names(value any, t *tree, at string) bool {
	sound := true
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if sub := t.Properties[key]; sub != nil {
				sound = p.names(v[key], sub, join(at, key)) && sound
			} else if field := t.field(key); field != "" {
				p.add(join(at, key), "use %s", field)
			}
		}
	case []any:
		if t.Items == nil {
			return true
		}
		if len(v) > maxItems {
			p.add(at, "has %d items, and more than %d are not read", len(v), maxItems)
			return false
		}
		for i, item := range v {
			sound = p.names(item, t.Items, fmt.Sprintf("%s[%d]", at, i)) && sound
		}
	}
	return sound
}

// field returns the field of the form that a key spells in another way, or "".
func (t *tree) field(key string) string {
	for name := range t.Properties {
		if bare(name) == bare(key) {
			return name
		}
	}
	return ""
}

var dashes = strings.NewReplacer("_", "", "-", "", " ", "")

func bare(key string) string {
	if len(key) > 100 {
		return ""
	}
	return dashes.Replace(strings.ToLower(key))
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}
