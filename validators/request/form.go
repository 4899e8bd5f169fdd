package request

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators/schema"
)

// A form is a kind of message: its JSON Schema, as text, as a tree and
// compiled.
type form struct {
	tree   *tree
	schema *schema.Schema
}

// A tree is as much of a schema as is needed to find a message's fields.
type tree struct {
	Title      string           `json:"title"`
	Properties map[string]*tree `json:"properties"`
	Items      *tree            `json:"items"`
	Required   []string         `json:"required"`
	Enum       []string         `json:"enum"`
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

// names looks at the keys of a value: a field in the wrong case, or under a
// name of another dialect where the field itself is missing, is a problem that
// says what the field is called. It gives the missing fields that it has so
// explained, and whether no list is too long to be looked at any closer.
func (p *problems) names(value any, t *tree, at string, explained map[string]bool) bool {
	sound := true
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if sub := t.Properties[key]; sub != nil {
				sound = p.names(v[key], sub, join(at, key), explained) && sound
			} else {
				p.stranger(key, v, t, at, explained)
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
			sound = p.names(item, t.Items, fmt.Sprintf("%s[%d]", at, i), explained) && sound
		}
	}
	return sound
}

// stranger looks at a key that the form does not have. Most are nobody's
// concern.
func (p *problems) stranger(key string, v map[string]any, t *tree, at string, explained map[string]bool) {
	field, spelled := t.meant(key)
	if field == "" {
		return
	}
	_, there := v[field]
	missing := join(at, field)
	switch {
	case there && spelled:
		p.add(join(at, key), "is called %s, and that is there as well", field)
	case there, explained[missing], !spelled && !slices.Contains(t.Required, field):
	default:
		explained[missing] = true
		use := ""
		if list := t.Properties[field].Enum; list != nil {
			use = ": " + strings.Join(list, "|")
		}
		p.add(join(at, key), "use %s%s", field, use)
	}
}

// meant is the field of the form that a key stands for; spelled tells that it
// is the same word, in another case or with other hyphens.
func (t *tree) meant(key string) (field string, spelled bool) {
	word := bare(key)
	for _, name := range slices.Sorted(maps.Keys(t.Properties)) {
		if bare(name) == word {
			return name, true
		}
	}
	return dialects()[t.Title][word], false
}

var dashes = strings.NewReplacer("_", "", "-", "", " ", "")

func bare(key string) string {
	if len(key) > 100 {
		return ""
	}
	return dashes.Replace(strings.ToLower(key))
}

// The table has a row for each name that other formats, and models, use for a required
// field: the form, the name without marks, the field.
//
//go:embed tables/dialects.tsv
var dialectsTable string

var dialects = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for line := range strings.Lines(dialectsTable) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if all[c[0]] == nil {
			all[c[0]] = map[string]string{}
		}
		all[c[0]][c[1]] = c[2]
	}
	return all
})

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}
