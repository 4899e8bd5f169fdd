package reader

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// homes are the mappings that may have an unknown key of another mapping, with their names in
// messages. The message names the first one with the key.
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

// parameter returns advice for an unknown key that is a parameter of the validator in the
// mapping. It returns "" for other keys.
func (o *Object) parameter(key string) string {
	for _, form := range []string{"validator", "use"} {
		n := o.Value[form]
		if n == nil || o.r.Params == nil {
			continue
		}
		if properties, _ := o.r.Params(n.Value)["properties"].(map[string]any); properties[key] != nil {
			return fmt.Sprintf(": it is a parameter of %s, with: {%s: …}", n.Value, key)
		}
	}
	return ""
}

// home returns the mapping that has the unknown key, as advice. It returns "" if no mapping
// has the key.
func (o *Object) home(key string) string {
	if !slices.Contains([]string{"the cascade", "a phase", "rules", "wards"}, o.Kind) {
		return ""
	}
	for _, home := range homes {
		if !Declares(home.kind, key) {
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

// asWritten returns advice on a value that must be a list or a mapping.
func asWritten(what string, n *yaml.Node) string {
	switch {
	case what == "phases" && n.Kind == yaml.MappingNode:
		return ": each begins with a dash and its name, - name: draft"
	case what == "wards":
		return ": name the moment, such as post: [{validator: no_secrets}]"
	case (what == "a ward" || what == "a ward around tools") && n.Tag == "!!str":
		return fmt.Sprintf(": write {validator: %s}", Short(n.Value))
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
