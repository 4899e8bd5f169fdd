package jsontree_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
)

// plain returns a value as encoding/json decodes it.
func plain(v jsontree.Value) any {
	switch v.Kind() {
	case '{':
		object := map[string]any{}
		for name, member := range v.Members() {
			object[string(name)] = plain(member)
		}
		return object
	case '[':
		list := []any{}
		for element := range v.Elements() {
			list = append(list, plain(element))
		}
		return list
	case '"':
		text, _ := v.Text()
		return text
	}
	var scalar any
	_ = json.Unmarshal(v.Raw(), &scalar)
	return scalar
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , -2.5e3 , "x\"]}\\" , null , { } , [ ] ] , "b":{"c":"\u0041\ud83d\ude00"} } `, `"\\"`, `1`, `null`, `[[[]]]`, `{"":""}`,
		"{\"a\xff\":\"\xff\"}", "{\"\":{\"\xb2\xb2\":0}}", `{"a":1,"a":{"b":2}}`, `{"a":1,"\u0061":2}`, `["",""]`, "[\"\u2028\"]",
		`"\ud800"`, `"\ud800\u0041"`, ` 01`, `-`, `1e400`, "\ufeff{}", `nul`, `{} {}`, ``, `"\u00g0"`, "\"\x00\"", `[1,]`, `"\/\b"`, `.5`,
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := jsontree.Parse(t.Context(), text, jsontree.Options{InvalidUTF8: true})
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return
		}
		if (err == nil) != json.Valid(text) {
			t.Fatalf("%q: Parse returns %v", text, err)
		}
		_, strict := jsontree.Parse(t.Context(), text, jsontree.Options{})
		if same := jsontext.Value(text).IsValid(); (strict == nil) != same {
			t.Fatalf("%q: Parse returns %v, jsontext accepts it: %t", text, strict, same)
		}
		var want any
		if err != nil || json.Unmarshal(text, &want) != nil {
			return
		}
		if got := plain(v); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
		if raw := bytes.Trim(text, " \n\t\r"); !bytes.Equal(v.Raw(), raw) {
			t.Errorf("%q: raw is %q", text, v.Raw())
		}
	})
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":{"content":"x","content":"y"}}`: `duplicate object member name "content" within "/a"`,
		`{"a":1,"\u0061":2}`:                  `duplicate object member name "a"`,
		"{\"a\":[\"x\xff\"]}":                 `invalid UTF-8 within "/a/0" after offset 8`,
		`["\ud83e"]`:                          `surrogate`,
		`{"a":1}{"a":1}`:                      "text after the JSON value after offset 7",
		`{"a":1} x`:                           "text after the JSON value after offset 7",
		`{"a":`:                               "unexpected EOF",
		``:                                    "unexpected EOF",
		`[1,2,3,[4]]`:                         "too many JSON values: the limit is 5",
	} {
		_, err := jsontree.Parse(t.Context(), []byte(text), jsontree.Options{MaxValues: 5})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "jsontext") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// Names do not count as values. Unused members do.
func TestParseMaxValues(t *testing.T) {
	text := []byte(`{"a":[1,2],"b":{"c":null}}`)
	for limit, want := range map[int]bool{6: true, 5: false} {
		v, err := jsontree.Parse(t.Context(), text, jsontree.Options{MaxValues: limit})
		if (err == nil) != want || errors.Is(err, jsontree.ErrTooManyValues) == want || want && v.Count() != 6 {
			t.Errorf("limit %d: %v, %d values", limit, err, v.Count())
		}
	}
	many := "[" + strings.Repeat("0,", jsontree.MaxValues-1) + "0]"
	if _, err := jsontree.Parse(t.Context(), []byte(many), jsontree.Options{}); !errors.Is(err, jsontree.ErrTooManyValues) || !strings.Contains(err.Error(), "1000000") {
		t.Errorf("got %v", err)
	}
}

func TestValueMissing(t *testing.T) {
	var v jsontree.Value
	if _, ok := v.Text(); ok || v.Kind() != 0 || v.Raw() != nil || v.Count() != 0 {
		t.Error("a missing value has something")
	}
	for range v.Members() {
		t.Error("a missing value has members")
	}
	for range v.Elements() {
		t.Error("a missing value has elements")
	}
}

// worst are JSON texts of about n bytes that cost a reader of JSON the most.
func worst(n int) map[string]string {
	fill := func(open, each, end string) string { return open + strings.Repeat(each, n/len(each)) + end }
	return map[string]string{
		"line ends":     fill(`{"a":"`, strings.Repeat("x", 47)+`\n`, `"}`),
		"escapes":       fill(`{"a":"`, `\u0001`, `"}`),
		"backslashes":   fill(`{"a":"`, `\\`, `"}`),
		"white space":   fill(`{"a":`, " ", `1}`),
		"a number":      fill(`[`, "1", `]`),
		"long elements": fill(`[`, `"`+strings.Repeat("y", 4000)+`",`, `0]`),
	}
}

// A stopping context ends after a number of checks.
type stopping struct {
	context.Context
	asked, after int
}

func (s *stopping) Err() error {
	if s.asked++; s.asked > s.after {
		return context.Canceled
	}
	return nil
}

// Parse reads each text once. It checks its context before each MiB, and ends
// when the context has ended.
func TestParseInterrupt(t *testing.T) {
	const mebibyte = 1 << 20
	for name, text := range worst(8 * mebibyte) {
		whole := &stopping{t.Context(), 0, 1 << 30}
		if _, err := jsontree.Parse(whole, []byte(text), jsontree.Options{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if whole.asked < len(text)/mebibyte || whole.asked > 64*len(text)/mebibyte {
			t.Errorf("%s: Parse looked %d times at the context of %d bytes", name, whole.asked, len(text))
		}
		cancelled, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("the operator stops"))
		half := &stopping{cancelled, 0, whole.asked / 2}
		if _, err := jsontree.Parse(half, []byte(text), jsontree.Options{}); err == nil || err.Error() != "the operator stops" || half.asked > half.after+2 { // [context.Cause] looks as well
			t.Errorf("%s: got %v after looking %d times, %d of them after the end", name, err, half.asked, half.asked-half.after)
		}
	}
}

func TestParseMemory(t *testing.T) {
	texts := worst(4 << 20)
	texts["values"] = "[" + strings.Repeat("0,", jsontree.MaxValues-2) + "0]"
	texts["objects"] = "[" + strings.Repeat("{},", jsontree.MaxValues-2) + "{}]"
	var names strings.Builder
	for i := range jsontree.MaxValues - 2 {
		fmt.Fprintf(&names, `"%x":0,`, i)
	}
	texts["names"] = "{" + names.String() + `"end":0}`
	for name, text := range texts {
		if most, got := 64<<20+20*len(text), allocated(func() {
			if _, err := jsontree.Parse(t.Context(), []byte(text), jsontree.Options{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}); got > most {
			t.Errorf("%s: Parse allocates %d bytes for %d, the limit is %d", name, got, len(text), most)
		}
	}
}

func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}
