package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
)

// byReflection is an event's JSON as the tags of its fields have it.
func byReflection(e Event) ([]byte, error) {
	switch {
	case e.Verdict != nil:
		return json.Marshal(verdictEvent{e.Seq, e.Time, e.Kind, *e.Verdict})
	case e.Kind == ModelCalled && e.Request != nil:
		req := *e.Request
		req.Messages = append([]model.Message{}, e.news()...)
		e.Request = &req
		return json.Marshal(calledEvent{plain(e), e.Before})
	}
	return json.Marshal(plain(e))
}

// encoder has written what the tests had before.
var encoder Encoder

func sameAsReflection(t *testing.T, e Event) {
	t.Helper()
	want, refused := byReflection(e)
	got, err := e.MarshalJSON()
	if again, _ := encoder.AppendJSON(nil, &e); err == nil && string(again) != string(got) {
		t.Fatalf("an encoder gives %s\nand the event %s", again, got)
	}
	if (err != nil) != (refused != nil) || refused == nil && string(got) != string(want) {
		t.Fatalf("got  %s, %v\nwant %s, %v", got, err, want, refused)
	}
}

// filled sets everything that a value has to something, as deep as it goes.
func filled(v reflect.Value, text string, n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
		if v.Type() == reflect.TypeFor[model.Extra]() {
			v.SetString(`{"a":[1.50,"b"]}`)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Float64:
		v.SetFloat(float64(n) / 3e9)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(map[string]any{"z": []any{text, n, nil}, "a": text}))
		}
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*model.Thread]() {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), text, n)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"type": "object", "title": "<a>"}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		filled(v.Index(0), text, n)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]any{text: n, "a": nil}))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, n, time.FixedZone("", 3600))))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "Verdict" {
				filled(v.Field(i), text, n)
			}
		}
	}
}

// members sets each field of what holds by itself, and calls do with it set.
func members(holds reflect.Value, text string, n int, do func(name string)) {
	for i := range holds.NumField() {
		f := holds.Field(i)
		was := reflect.ValueOf(f.Interface())
		filled(f, text, n)
		do(holds.Type().Field(i).Name)
		if f.SetZero(); was.IsValid() {
			f.Set(was)
		}
	}
}

// Events are written as encoding/json writes them by their fields' tags: with
// every field alone, with all, and with none, whatever stands in them.
func TestEventsAreWrittenByTheirTags(t *testing.T) {
	for n, text := range map[int]string{1: "plain", -7: "<b>&\u2028\xff\x00\"\\é", 1 << 40: "\U0001f600\u007f", 9: strings.Repeat("long, <b>\n", 20)} {
		for _, kind := range []Kind{RunFinished, ModelCalled} {
			e := Event{Kind: kind}
			sameAsReflection(t, e)
			members(reflect.ValueOf(&e).Elem(), text, n, func(string) { sameAsReflection(t, e) })
			e = Event{Kind: kind, Request: &model.Request{}, Response: &model.Response{}, Usage: &model.Usage{}}
			sameAsReflection(t, e)
			for _, part := range []any{e.Request, e.Response, e.Usage} {
				of := reflect.ValueOf(part).Elem()
				kept := reflect.New(of.Type()).Elem()
				members(kept, text, n, func(name string) {
					if name == "Thread" || name == "OnText" {
						return
					}
					of.Set(kept)
					sameAsReflection(t, e)
				})
				of.SetZero()
			}
			v := Event{Kind: kind, Verdict: &Verdict{}}
			sameAsReflection(t, v)
			members(reflect.ValueOf(v.Verdict).Elem(), text, n, func(string) { sameAsReflection(t, v) })
		}
		e := Event{}
		filled(reflect.ValueOf(&e).Elem(), text, n)
		for _, e.Kind = range []Kind{ModelCalled, ModelReplied} {
			for e.Before = range 4 {
				for _, e.Cut = range []bool{true, false} {
					sameAsReflection(t, e)
				}
			}
		}
	}
	for _, e := range []Event{
		{Time: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}, {Output: func() {}}, {Output: ""}, {Output: strings.Repeat("<", 3)},
		{Input: map[string]any{"a": make(chan int)}}, {Verdict: &Verdict{Details: func() {}}}, {Output: json.Number("1.50")}, {Output: []byte("x")},
		{Kind: ModelCalled, Request: &model.Request{Messages: []model.Message{{Content: fmt.Sprint(1)}}}, Before: -1},
	} {
		sameAsReflection(t, e)
	}
}
