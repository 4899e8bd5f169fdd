package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// What is made of pieces is what the encoder makes, to the byte; what has more
// to it is left to the encoder.
func TestQuickly(t *testing.T) {
	turn, yes, no, score, why := 3, true, false, 0.5, "broke"
	verdict := func(change func(*event.Verdict)) event.Event {
		v := event.Verdict{Path: "p/ward[0]", Phase: "p", Attempt: 1, Turn: 2, Moment: "turn", Validator: "v", Mode: "retry", Valid: &yes, Reason: "good"}
		change(&v)
		return event.Event{Kind: event.VerdictGiven, Path: "p/ward[0]", Verdict: &v}
	}
	for i, c := range []struct {
		e      event.Event
		effect int64
		quick  bool
	}{
		{event.Event{Kind: event.TurnStarted, Path: "p", Phase: "p", Attempt: 1, Turn: &turn}, 0, true},
		{event.Event{Kind: event.TurnStarted, Path: "p", Phase: "<é\"\n\u2028>", Attempt: 1, Turn: &turn}, 0, true},
		{event.Event{Kind: event.TurnStarted, Path: "p", Phase: "\xff", Attempt: 1, Turn: &turn}, 0, false},
		{event.Event{Kind: event.TurnStarted, Path: "p", Phase: "p", Turn: &turn}, 0, false},
		{event.Event{Kind: event.TurnStarted, Path: "p", Phase: "p", Attempt: 1}, 0, false},
		{event.Event{Kind: event.TurnStarted, Path: "p", Phase: "p", Attempt: 1, Turn: &turn, Text: "more"}, 0, false},
		{event.Event{Kind: event.ModelReplied, Path: "p", Phase: "p", Attempt: 1, Turn: &turn}, 17, true},
		{event.Event{Kind: event.ModelReplied, Path: "p", Phase: "p", Attempt: 1, Turn: &turn, Response: &model.Response{}}, 0, false},
		{event.Event{Kind: event.ModelReplied, Path: "p", Phase: "p", Attempt: 1, Turn: &turn, Validator: "judge"}, 17, false},
		{event.Event{Kind: event.ModelReplied, Path: "p", Phase: "p", Attempt: 1, Turn: &turn}, 0, false},
		{event.Event{Kind: event.VerdictGiven, Path: "p"}, 0, false},
		{verdict(func(*event.Verdict) {}), 0, true},
		{verdict(func(v *event.Verdict) { v.Valid = &no }), 0, true},
		{verdict(func(v *event.Verdict) { v.Valid, v.Error = nil, &why }), 0, false},
		{verdict(func(v *event.Verdict) { v.Score = &score }), 0, false},
		{verdict(func(v *event.Verdict) { v.Issues = []validators.Issue{} }), 0, false},
		{verdict(func(v *event.Verdict) { v.Path = "other" }), 0, false},
		{verdict(func(v *event.Verdict) { v.Reason = "\x00\x7f \\ </script> \U0001F600" }), 0, true},
		{verdict(func(v *event.Verdict) { v.Reason = "cut \xe2\x82" }), 0, false},
	} {
		b := bodyOf(&c.e, &packer{})
		if b.Effect = c.effect; c.effect != 0 {
			b.Response = nil
		}
		raw, quick := quickly(&c.e, &b)
		if quick != c.quick {
			t.Errorf("%d: quick is %v", i, quick)
		}
		want, err := encodings.Of(b)
		if err != nil {
			t.Fatal(err)
		}
		if quick && string(raw) != string(want) {
			t.Errorf("%d: got %s\nwant %s", i, raw, want)
		}
	}
	for _, f := range []engine.Finding{
		{Verdict: validators.Verdict{Valid: true, Reason: "a \"reason\""}}, {Failure: "broke"}, {Verdict: validators.Verdict{Score: &score}},
		{Verdict: validators.Verdict{Reason: "\xff"}}, {Verdict: validators.Verdict{Details: map[string]any{"a": 1}}},
	} {
		c := came{Finding: &f}
		got, lossy, err := c.encode(true)
		want, wasLossy, e := encodings.Lossy(c)
		if err != nil || e != nil || string(got) != string(want) || lossy != wasLossy {
			t.Errorf("got %s, %v, %v\nwant %s, %v, %v", got, lossy, err, want, wasLossy, e)
		}
	}
}

// Whatever has one thing more to it is not told without that.
func TestQuicklyLeavesNothingOut(t *testing.T) {
	yes, turn := true, 2
	verdict := event.Verdict{Path: "p", Phase: "p", Attempt: 1, Turn: 2, Moment: "turn", Validator: "v", Mode: "retry", Valid: &yes, Reason: "good"}
	same := func(what string, v any, raw []byte, quick bool) {
		if want, err := encodings.Of(v); err != nil || quick && string(raw) != string(want) {
			t.Errorf("%s: got %s, want %s, %v", what, raw, want, err)
		}
	}
	for kind, b := range map[event.Kind]body{
		event.TurnStarted:  {Phase: "p", Attempt: 1, Turn: &turn},
		event.ModelReplied: {Phase: "p", Attempt: 1, Turn: &turn, Effect: 17},
		event.VerdictGiven: {Verdict: &verdict},
	} {
		e := event.Event{Kind: kind, Path: "p"}
		if _, quick := quickly(&e, &b); !quick {
			t.Errorf("%s is not quick", kind)
		}
		for name, b := range eachMore(b) {
			raw, quick := quickly(&e, &b)
			same(string(kind)+" with "+name, b, raw, quick)
		}
	}
	for name, v := range eachMore(verdict) {
		b := body{Verdict: &v}
		raw, quick := quickly(&event.Event{Kind: event.VerdictGiven, Path: "p"}, &b)
		same("a verdict with "+name, b, raw, quick)
	}
	for name, v := range eachMore(validators.Verdict{Valid: true, Reason: "good"}) {
		f := engine.Finding{Verdict: v}
		raw, quick := quickFinding(&f)
		same("a finding with "+name, came{Finding: &f}, raw, quick)
	}
	for name, m := range eachMore(model.Message{Role: model.User, Content: "a"}) {
		raw, quick := quickMessage(&m)
		same("a message with "+name, m, raw, quick)
	}
	for name, r := range eachMore(model.Response{Text: "a"}) {
		c := came{Response: &r}
		raw, quick := quickReply(&c)
		same("a reply with "+name, c, raw, quick)
	}
	for name, c := range eachMore(came{Response: &model.Response{Text: "a"}}) {
		raw, quick := quickReply(&c)
		same("what came with "+name, c, raw, quick)
	}
}

// eachMore is a struct with one field after the other, by its name, not what it was.
func eachMore[T any](v T) map[string]T {
	all := map[string]T{}
	for i := range reflect.TypeFor[T]().NumField() {
		more := v
		field := reflect.ValueOf(&more).Elem().Field(i)
		switch field.Kind() {
		case reflect.String:
			field.SetString(field.String() + "7") // which is JSON too
		case reflect.Int, reflect.Int64:
			field.SetInt(field.Int() + 1)
		case reflect.Bool:
			field.SetBool(!field.Bool())
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Map:
			field.Set(reflect.MakeMap(field.Type()))
			if field.Type().Elem().Kind() == reflect.Interface {
				field.SetMapIndex(reflect.ValueOf("a").Convert(field.Type().Key()), reflect.ValueOf(1))
			}
		case reflect.Interface:
			field.Set(reflect.ValueOf("x"))
		case reflect.Struct: // usage, or a verdict: its first number
			field.Field(0).Set(reflect.ValueOf(7).Convert(field.Field(0).Type()))
		}
		all[reflect.TypeFor[T]().Field(i).Name] = more
	}
	return all
}

func TestQuickReply(t *testing.T) {
	asked := came{Model: "m", Phase: "p <é>", Attempt: 1, Turn: 2, Validator: "v", Moment: "post", Role: "judge"}
	full := model.Response{
		Text: "a \"text\" <of> \u2028 & é\n", Model: "m-1", Finish: "stop", ID: "1", Provider: "openai", Server: "localhost:1",
		Usage: model.Usage{Calls: 1, InputTokens: 2, OutputTokens: 3, Cached: 4, CacheWrite: 1, Reasoning: 5, CostUSD: 0.0000125, Estimated: true},
	}
	with := func(change func(*model.Response)) *model.Response {
		r := full
		change(&r)
		return &r
	}
	for i, c := range []struct {
		asked came
		r     *model.Response
		quick bool
	}{
		{asked, &full, true},
		{came{}, &model.Response{}, true},
		{came{Model: "m", Phase: "p", Attempt: 1}, &model.Response{Text: "t", Usage: model.Usage{Calls: -1, InputTokens: math.MaxInt}}, true},
		{asked, with(func(r *model.Response) { r.Usage.CostUSD = 123456789012345.67 }), true},
		{asked, with(func(r *model.Response) { r.Usage.CostUSD = 1e-7 }), false},
		{asked, with(func(r *model.Response) { r.Usage.CostUSD = 1e21 }), false},
		{asked, with(func(r *model.Response) { r.Usage.CostUSD = math.Copysign(0, -1) }), false},
		{asked, with(func(r *model.Response) { r.Usage.CostUSD = -1 }), false},
		{asked, with(func(r *model.Response) { r.Text = "cut \xe2\x82" }), false},
		{asked, with(func(r *model.Response) { r.Server = "\xff" }), false},
		{came{Role: "\xff"}, &full, false},
		{asked, with(func(r *model.Response) { r.Text = "a rune that says so: \ufffd" }), true},
		{asked, with(func(r *model.Response) { r.ToolCalls = []model.ToolCall{{ID: "1"}} }), false},
		{asked, with(func(r *model.Response) { r.Extra = `{"a":1}` }), false},
		{asked, with(func(r *model.Response) { r.Without = []string{"response_format"} }), false},
		{asked, with(func(r *model.Response) { r.Failure = &model.Failure{} }), false},
		{came{Finding: &engine.Finding{}}, &full, false},
		{came{Result: &tool.Result{}}, &full, false},
		{came{Answer: &engine.Answer{}}, &full, false},
		{asked, nil, false},
	} {
		c.asked.Response = c.r
		raw, quick := quickReply(&c.asked)
		want, err := encodings.Of(c.asked)
		if err != nil {
			t.Fatal(err)
		}
		if quick != c.quick || quick && string(raw) != string(want) {
			t.Errorf("%d: %v, got %s, want %s", i, quick, raw, want)
		}
	}
	// A field that comes to be is one that has to be thought of here.
	for of, n := range map[reflect.Type]int{reflect.TypeFor[came](): 11, reflect.TypeFor[model.Response](): 12, reflect.TypeFor[model.Usage](): 8} {
		if of.NumField() != n {
			t.Errorf("%v has %d fields, not %d: does quickReply know the new ones?", of, of.NumField(), n)
		}
	}
}

func TestQuickMessage(t *testing.T) {
	for i, c := range []struct {
		m     model.Message
		quick bool
	}{
		{model.Message{Role: model.User, Content: "a \"question\" <of> \u2028 & é\n"}, true},
		{model.Message{}, true},
		{model.Message{Role: model.Assistant, Content: "\xff"}, false},
		{model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "1"}}}, false},
		{model.Message{Role: model.ToolReply, ToolCallID: "1"}, false},
		{model.Message{Role: model.Assistant, Extra: `{"a":1}`}, false},
		{model.Message{Role: model.Assistant, Provider: "p"}, false},
	} {
		raw, quick := quickMessage(&c.m)
		want, err := encodings.Of(c.m)
		if err != nil {
			t.Fatal(err)
		}
		if quick != c.quick || quick && string(raw) != string(want) {
			t.Errorf("%d: %v, got %s, want %s", i, quick, raw, want)
		}
	}
}

// Whatever rows hold, its pack gives it back to the byte.
func FuzzRows(f *testing.F) {
	f.Add("p/attempt[1]/turn[0]", "p/attempt[1]/turn[0]/model", string(event.ModelCalled), `{"phase":"p","attempt":1,"turn":0,"request":{"model":"m","phase":"p","attempt":1,"said":[{"role":"user","content":"a, \"b\" ]}"}]}}`, []byte("print"))
	f.Add("p/ward[0]", "p/ward[0]", string(event.VerdictGiven), `{"verdict":{"path":"p/ward[0]","phase":"p","attempt":1,"turn":0,"moment":"turn","validator":"v","mode":"retry","valid":true,"reason":"r","error":null}}`, []byte(nil))
	f.Add("é/ward[0]", "è", modelEffect, `{"model":"m","phase":"p","attempt":1,"turn":1,"response":{"text":"t","model":"m","finish":"stop","usage":{"model_calls":1,"input_tokens":1,"output_tokens":1,"cost_usd":0}}}`, []byte("print"))
	f.Add("a", "b", findingEffect, `{"finding":{"verdict":{"valid":true,"reason":"r"}}}`, []byte{})
	f.Add("0", "0", "00", `"`, []byte{})
	f.Fuzz(func(t *testing.T, first, second, kind, data string, p []byte) {
		if !utf8.ValidString(first) || !utf8.ValidString(second) || !utf8.ValidString(kind) || len(kind) < 2 {
			t.Skip() // each is made by us, and a kind is a word
		}
		if list, ok := encodings.Elements(nil, []byte("["+data+"]")); !ok || len(list) != 1 || !json.Valid([]byte(data)) {
			data = "null" // it is JSON
		}
		var made bytes.Buffer // that we made: with no spaces in it
		if err := json.Compact(&made, []byte(data)); err != nil {
			t.Fatal(err)
		}
		data = made.String()
		rows := []row{
			{n: 7, time: 5, kind: string(event.TurnStarted), path: first},
			{n: 8, time: 9, kind: kind, path: second, print: p, data: []byte(data)},
			{n: 9, time: 9, took: 3, kind: kind, path: second, print: p, data: []byte(data)},
			{n: 10, time: 12, kind: string(event.VerdictGiven), path: second, data: []byte(data)},
		}
		k, _ := packed(1, 4, rows, nil)
		list, ok := k.rows(nil)
		if !ok || len(list) != len(rows) {
			t.Fatalf("%s does not read", k.data)
		}
		seq := int64(4)
		for i, l := range list {
			w, number := rows[i], int64(0)
			if isEvent(w.kind) {
				seq++
				number = seq
			}
			if string(w.data) == "null" {
				w.data = nil
			}
			if l.shape != nil && !l.shape.took {
				w.took = 0 // a finding's, which nobody asks for
			}
			clear(l.json()) // it is the caller's
			want := fmt.Sprint(w.n, number, w.time, w.took, w.kind, w.path, string(w.data), w.print == nil, string(w.print))
			if got := fmt.Sprint(l.row, l.seq, l.time, l.took, l.kind, string(l.path), string(l.json()), l.print == nil, string(l.print)); got != want {
				t.Fatalf("row %d: got %s\nwant %s\nin %s", i, got, want, k.data)
			}
		}
		some, ok := k.rows(func(is string) bool { return is == kind })
		all := slices.DeleteFunc(list, func(l logged) bool { return l.kind != kind })
		if !ok || fmt.Sprint(some) != fmt.Sprint(all) {
			t.Fatalf("of kind %s there are %v, want %v, in %s", kind, some, all, k.data)
		}
	})
}

// tooShort are rows that end before all is said.
var tooShort = []string{`["t","p",0]`, `["b","p",0]`, `["m","p",0]`, `["m","p",0,1]`, `["v","p"]`, `["v","p",0]`, `["x"]`, `["b"`, `[""]`, `["tool_called","p",0,1,null]`}

func TestShortRowsAreRefused(t *testing.T) {
	for _, short := range tooShort {
		k := pack{run: 1, first: 1, last: 1, data: "[" + short + "]"}
		if list, ok := k.rows(nil); ok {
			t.Errorf("%s reads as %+v", short, list)
		}
	}
}

// A row without a kind is refused, whatever kinds are wanted.
func TestKindlessRowsAreRefused(t *testing.T) {
	for _, row := range []string{`[7,"p",0]`, `[]`, `7`, `"x"`} {
		k := pack{run: 1, first: 1, last: 1, data: "[" + row + "]"}
		if _, ok := k.rows(func(string) bool { return false }); ok {
			t.Errorf("%s reads", row)
		}
	}
}

// A pack that is damaged reads or is refused; nothing falls over.
func FuzzDamagedPack(f *testing.F) {
	f.Add(`[["f",1],`+"\n"+`["v","p/ward[0]",3,"p",1,0,"turn","x","retry",true,"r"]]`, int64(2))
	f.Add(`[["c","p/model",0,"QUJD","a",1,3,"m",6,5,"f",1,7,[{"role":"user","content":"x"}]],["m","p/model",3,9,"=","m","a",1,3,"t","g","stop",1,2,3,0]]`, int64(2))
	f.Add(`[["f",9]]`, int64(1))
	f.Add(`[["f",1],`+"\n"+`["v","p/ward[0]",3,"p",1,0,"turn","x","retry",true,"r"]]`, int64(3))
	f.Add(`[[7,"p",0]]`, int64(1))
	f.Add(`[["f",9]]`, int64(2))
	f.Add(`[["v"],["tool_called","",0,0,"=",null],["tool_called","",0,0,"=",{}]]`, int64(3))
	f.Add(`[["tool_called","p",0,1,"=",null]]`, int64(1))
	for _, before := range []string{`["v"]`, `["feedback"]`, `["feedback","",0,0]`, `["b","",0]`, `["b"`} {
		f.Add("["+before+",\n"+`["tool_called","",0,0,"=",null]]`, int64(2))
	}
	for _, short := range tooShort {
		f.Add("["+short+"]", int64(1))
	}
	f.Fuzz(func(t *testing.T, data string, last int64) {
		k := pack{run: 1, first: 1, last: last, data: data}
		list, ok := k.rows(nil)
		if ok && int64(len(list)) != last {
			t.Errorf("%d rows of %d", len(list), last)
		}
		some, _ := k.rows(func(kind string) bool { return kind == string(event.ToolCalled) }) // the others are not looked at
		list = append(list, some...)
		for i := range list {
			(&brief{words: map[string]string{}}).verdict(&list[i])
			list[i].json()
		}
	})
}
