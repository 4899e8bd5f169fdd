package schema

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// Earlier documents must not affect the result or the error of later ones.
func TestUnmarshalInARow(t *testing.T) {
	type form struct {
		Name string
		List []map[string]any
		In   *form
	}
	var stored []reflect.Value
	var want []any
	for _, text := range []string{
		`{"Name":"a","List":[{"n":1.50}],"In":{"Name":"b"}}`, "\n {\"Name\":\"c\"} \r\n\t", `{"Name":"d","Name":"e","In":{"Name":"f"},"In":null,"In":{"List":[{}]}}`,
		`7`, `null`, `"text"`, `{`, ``, ` `, `{"Name":"g"`, `{"Name":5,"In":{"Name":"h"}}`, `{"Name":"i"} {"Name":"j"}`, `{"Name":"k"}]`, `{"Name": tru}`, "{\n\"Name\": x}",
		`{"Name":"` + strings.Repeat("long ", maxPooled/4) + `"}`, `{"Name":"l"}`,
	} {
		for _, into := range []any{form{}, *new(any), "", 0} {
			typ := reflect.TypeOf(&into).Elem()
			if into != nil {
				typ = reflect.TypeOf(into)
			}
			got, alone := reflect.New(typ), reflect.New(typ)
			err, wrong := Unmarshal([]byte(text), got.Interface()), decodeOnce([]byte(text), alone.Interface(), false)
			if (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
				t.Errorf("%.40q as %s: %v, and alone %v", text, typ, err, wrong)
			}
			if wrong = errors.Join(wrong, makePlain(alone.Elem())); wrong == nil && !reflect.DeepEqual(got.Interface(), alone.Interface()) {
				t.Errorf("%.40q as %s is %+v, and alone %+v", text, typ, got.Elem(), alone.Elem())
			}
			if err == nil {
				stored, want = append(stored, got), append(want, alone.Interface())
			}
		}
	}
	for i := range stored { // the memory of a document must not be reused for the next
		if !reflect.DeepEqual(stored[i].Interface(), want[i]) {
			t.Errorf("%+v has become %+v", want[i], stored[i].Elem())
		}
	}
}
