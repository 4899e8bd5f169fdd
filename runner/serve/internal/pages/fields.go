package pages

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// A fieldView is an input of a cascade as a field of a form.
type fieldView struct {
	Name        string
	Kind        string // text, number, truth, choice, json, or fixed for a field that cannot be changed
	Description string
	Value       string // as typed
	Options     []string
	Default     string // the default of an empty field that does not show it
	Missing     bool   // an empty field has no value
	Required    bool
	Stays       bool   // an empty field has the previous value
	Wrong       string // the error of the value
}

// newField returns the field of an input with its default.
func newField(in cascades.Input) fieldView {
	f := fieldView{Name: in.Name, Kind: "text", Description: in.Description, Missing: true}
	if in.Schema != nil {
		f.like(in)
	}
	f.Required = f.Missing && in.Required && !in.HasDefault
	text, isText := in.Default.(string)
	switch {
	case !in.HasDefault:
	case isText && (f.Kind == "text" || f.Kind == "choice"):
		f.Value = text
	case f.Kind == "text":
		f.Missing, f.Default = true, exact(in.Default) // the default is not a text
	default:
		f.Value = exact(in.Default)
	}
	return f
}

// like sets the kind of the field from the input's schema.
func (f *fieldView) like(in cascades.Input) {
	source, _ := in.Schema.Source().(map[string]any)
	types := typesOf(source)
	f.Options = choices(source)
	switch {
	case len(f.Options) > 0:
		f.Kind = "choice"
	case slices.Contains(types, "string"):
	case len(types) == 0:
		f.Kind = "json"
	case only(types, "boolean"):
		f.Kind, f.Options = "truth", []string{"true", "false"}
	case only(types, "integer", "number"):
		f.Kind = "number"
	default:
		f.Kind = "json"
	}
	f.Missing = f.Kind != "text"
}

// typesOf returns the types of a schema.
func typesOf(source map[string]any) []string {
	switch t := source["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var list []string
		for _, v := range t {
			name, _ := v.(string)
			list = append(list, name)
		}
		return list
	}
	return nil
}

func only(types []string, allowed ...string) bool {
	return !slices.ContainsFunc(types, func(t string) bool { return !slices.Contains(allowed, t) })
}

// choices returns the values of an enum of texts.
func choices(source map[string]any) []string {
	list, _ := source["enum"].([]any)
	var out []string
	for _, v := range list {
		text, ok := v.(string)
		if !ok || text == "" {
			return nil
		}
		out = append(out, text)
	}
	return out
}

// exact returns a value as JSON.
func exact(v any) string {
	switch v.(type) {
	case nil, string:
		text, _ := json.Marshal(v) // these values always encode
		return string(text)
	}
	return prettyJSON(v)
}

var (
	errTyped = orders.NewProblem(http.StatusUnprocessableEntity, "invalid_input", "some of what was typed does not fit")
	errName  = orders.NewProblem(http.StatusUnprocessableEntity, "invalid_body", "that is no name for a run")
)

// take adds the value of the field to the input and reports whether it is valid.
func (f *fieldView) take(r *http.Request, in cascades.Input, form func(string) string, input map[string]any) bool {
	value, given := f.read(form)
	if wrong := in.Check(r.Context().Err, value, given); f.Wrong == "" && len(wrong) > 0 {
		f.Wrong = wrong[0].Message
	}
	if given {
		input[in.Name] = value
	}
	return f.Wrong == ""
}

// read returns the value of the field, and whether there is one.
func (f *fieldView) read(form func(string) string) (value any, given bool) {
	f.Value = form("in." + f.Name)
	switch {
	case f.Value == "" && f.Missing:
		return nil, false
	case f.Kind == "text", f.Kind == "choice":
		return f.Value, true
	}
	value, err := schema.Parse([]byte(f.Value))
	if err != nil {
		f.Wrong = "is no JSON: " + err.Error()
		if f.Kind == "number" {
			f.Wrong = "is no number"
		}
		return nil, false
	}
	return value, true
}
