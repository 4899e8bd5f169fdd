package cascades

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// homes are the mappings that a key may have strayed from, and what they are called.
// The first that has a key is told.
var homes = []struct{ kind, what string }{
	{"a phase", "a phase, beside its name"},
	{"the cascade", "the file's top, beside phases"},
	{"rules", "rules"},
	{"wards", "wards"},
	{"a model", "a model, which is then a mapping: {name: …, %s: …}"},
	{"soundings", "soundings"},
	{"human_input", "human_input"},
	{"each", "each"},
	{"context", "context"},
	{"budget", "budget"},
	{"output_extraction", "output_extraction"},
}

// belongs says where a key stands that means nothing where it is: under with, where
// the validator beside it has a parameter of that name, or in another mapping. It
// is "" of a key that stands nowhere.
func (o *object) belongs(key string) string {
	for _, form := range []string{"validator", "use"} {
		n := o.value[form]
		if n == nil {
			continue
		}
		if found, err := o.p.known.Validators.Find(n.Value); err == nil {
			if properties, _ := found.Params()["properties"].(map[string]any); properties[key] != nil {
				return fmt.Sprintf(": it is a parameter of %s, with: {%s: …}", n.Value, key)
			}
		}
	}
	return ""
}

// home says in which other mapping a key stands that has strayed from the file's top
// or a phase, "" where it stands in none.
func (o *object) home(key string) string {
	if !slices.Contains([]string{"the cascade", "a phase", "rules", "wards"}, o.kind) {
		return ""
	}
	for _, home := range homes {
		if !declares(home.kind, key) {
			continue
		}
		what := home.what
		if strings.Contains(what, "%s") {
			what = fmt.Sprintf(what, key)
		}
		return ": it belongs to " + what
	}
	return ""
}

// asWritten says how a value of another kind is written where a list or a mapping is
// asked for.
func asWritten(what string, n *yaml.Node) string {
	switch {
	case what == "phases" && n.Kind == yaml.MappingNode:
		return ": each begins with a dash and its name, - name: draft"
	case what == "wards":
		return ": name the moment, such as post: [{validator: no_secrets}]"
	case (what == "a ward" || what == "a ward around tools") && n.Tag == "!!str":
		return fmt.Sprintf(": write {validator: %s}", short(n.Value))
	case what == "soundings" && n.Tag == "!!int":
		return fmt.Sprintf(": write {factor: %s}", n.Value)
	case what == "feedback":
		return ": write {keep: last}"
	case what == "each" && n.Tag == "!!str":
		return ": write {in: …}, with the list or one variable that holds it"
	case what == "context":
		return ": name the phases under from, such as {from: [previous]}"
	case what == "a validator" && n.Kind == yaml.ScalarNode:
		return ": write {judge: …}, {expr: …} or another of its forms"
	case n.Kind == yaml.MappingNode && slices.Contains([]string{"pre", "tool", "result", "turn", "post"}, what):
		return ": each ward begins with a dash"
	}
	return ""
}
