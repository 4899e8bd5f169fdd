package cascades

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/cascadestest"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/wards"
)

// TestParsed compares the parsed form of some files with a file. Each phase has
// a line, with all fields that are set.
func TestParsed(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"full", "models", "databases", "tries", "remote", "rest", "anchors", "windlass_loop", "in_place", "ways"} {
		c, err := Load(name+".yaml", folder("testdata/good"), known())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "-- %s --\n", name)
		for _, p := range append(c.EveryPhase(), c.Tries) {
			if p != nil {
				fmt.Fprintf(&b, "%s\n", fieldsOf(reflect.ValueOf(*p), "\n  "))
			}
		}
		for _, field := range []any{c.Budget, c.Providers, c.Validators, c.Tools, c.Inputs, c.Model, c.Databases} {
			fmt.Fprintf(&b, "%s\n", fieldsOf(reflect.ValueOf(field), "\n  "))
		}
	}
	cascadestest.Golden(t, *update, "testdata/parsed.txt", b.String())
}

// TestPlainValues checks that plain values have their types in YAML, and that
// numbers keep their spelling if it is valid JSON.
func TestPlainValues(t *testing.T) {
	for source, want := range map[string]string{
		"0x1F": "31", "0o17": "15", "1_000": "1000", "+1": "1", "1.": "1.0", ".5": "0.5", "1e3": "1e3", "1.50": "1.50", "1e400": "1e400", `"1e400"`: `"1e400"`, "'7'": `"7"`,
		"~": "null", "yes": `"yes"`, "true": "true", "!!bool maybe": `"maybe"`, "2020-01-01": `"2020-01-01"`, "[a, {b: 1.0}]": `["a",{"b":1.0}]`,
	} {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(source), &n); err != nil {
			t.Fatal(err)
		}
		if got := string(asJSON(t, reader.PlainValue(n.Content[0]))); got != want {
			t.Errorf("%s is %s, not %s", source, got, want)
		}
	}
}

// fieldsOf writes a value of this package with all its set fields. Other values
// write themselves.
func fieldsOf(v reflect.Value, between string) string {
	if !v.IsValid() || v.IsZero() {
		return ""
	}
	if v.CanInterface() {
		switch v := v.Interface().(type) {
		case *yaml.Node, *Place:
			return ""
		case *wards.Ward, Model: // with its behaviour in addition to its name
		case *Cascade:
			return v.ID
		case tool.Tool:
			return v.Name
		case interface{ Source() string }:
			return strconv.Quote(v.Source())
		case interface{ Source() any }:
			return fmt.Sprint(v.Source())
		case fmt.Stringer:
			return v.String()
		}
	}
	var parts []string
	put := func(name any, one reflect.Value) {
		if text := fieldsOf(one, " "); text != "" {
			parts = append(parts, fmt.Sprintf("%v: %s", name, text))
		}
	}
	switch kind := v.Kind(); {
	case kind == reflect.Pointer || kind == reflect.Interface:
		return fieldsOf(v.Elem(), between)
	case kind == reflect.Struct && (v.Type().PkgPath() == reflect.TypeFor[Phase]().PkgPath() || v.Type() == reflect.TypeFor[wards.Ward]() || v.Type() == reflect.TypeFor[syntax.Position]() || v.Type() == reflect.TypeFor[checks.Field]() || v.Type() == reflect.TypeFor[tool.Database]()):
		for i := range v.NumField() {
			put(v.Type().Field(i).Name, v.Field(i))
		}
	case kind == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		for i := range v.Len() {
			put(i, v.Index(i))
		}
	case kind == reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			put(key, v.MapIndex(key))
		}
	case kind == reflect.Struct || kind == reflect.Func || kind == reflect.Slice:
		return kind.String()
	default:
		return fmt.Sprint(v)
	}
	return "{" + strings.Join(parts, between) + "}"
}
