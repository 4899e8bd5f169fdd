package schema

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// What was read before changes nothing in what a document reads as, nor in what is
// said to be wrong with it.
func TestUnmarshalInARow(t *testing.T) {
	type form struct {
		Name string
		List []map[string]any
		In   *form
	}
	var kept []reflect.Value
	var want []any
	for _, text := range []string{
		`{"Name":"a","List":[{"n":1.50}],"In":{"Name":"b"}}`, "\n {\"Name\":\"c\"} \r\n\t", `{"Name":"d","Name":"e","In":{"Name":"f"},"In":null,"In":{"List":[{}]}}`,
		`7`, `null`, `"text"`, `{`, ``, ` `, `{"Name":"g"`, `{"Name":5,"In":{"Name":"h"}}`, `{"Name":"i"} {"Name":"j"}`, `{"Name":"k"}]`, `{"Name": tru}`, "{\n\"Name\": x}",
		`{"Name":"` + strings.Repeat("long ", manyBytes/4) + `"}`, `{"Name":"l"}`,
	} {
		for _, into := range []any{form{}, *new(any), "", 0} {
			typ := reflect.TypeOf(&into).Elem()
			if into != nil {
				typ = reflect.TypeOf(into)
			}
			got, alone := reflect.New(typ), reflect.New(typ)
			err, wrong := Unmarshal([]byte(text), got.Interface()), decodeAnew([]byte(text), alone.Interface(), false)
			if (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
				t.Errorf("%.40q as %s: %v, and alone %v", text, typ, err, wrong)
			}
			if wrong = errors.Join(wrong, settle(alone.Elem())); wrong == nil && !reflect.DeepEqual(got.Interface(), alone.Interface()) {
				t.Errorf("%.40q as %s is %+v, and alone %+v", text, typ, got.Elem(), alone.Elem())
			}
			if err == nil {
				kept, want = append(kept, got), append(want, alone.Interface())
			}
		}
	}
	for i := range kept { // nothing of a document lies where the next one is read
		if !reflect.DeepEqual(kept[i].Interface(), want[i]) {
			t.Errorf("%+v has become %+v", want[i], kept[i].Elem())
		}
	}
}
