package backtest_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// Every check of every cascade has one row.
func TestRowsWithin(t *testing.T) {
	f := files{"cascade.yaml": `cascade_id: c
validators: {a: {cascade: a.yaml}, b: {cascade: b.yaml}, d: {cascade: d.yaml}, e: {cascade: e.yaml}, g: {cascade: g.yaml}, h: {cascade: h.yaml}}
phases:
- name: p
  instructions: x
  sub_cascades: [{ref: n0.yaml}]
  rules: {loop_until: d}
  soundings: {factor: 2, validator: e}
  wards: {pre: [{validator: a}], turn: [{validator: b}], post: [{validator: g}]}
- {name: gate, tool: h}
`}
	const leaf = "cascade_id: %s\nphases: [{name: p, instructions: x, wards: {post: [{validator: non_empty}]}}]"
	for _, id := range []string{"a", "b", "d", "e", "g", "h"} {
		f[id+".yaml"] = fmt.Sprintf(leaf, id)
	}
	for i := range 14 { // each of them eight times in the one before it
		subs := strings.Repeat(fmt.Sprintf("{ref: n%d.yaml},", i+1), 8)
		f[fmt.Sprintf("n%d.yaml", i)] = fmt.Sprintf("cascade_id: n%d\nphases: [{name: p, instructions: x, sub_cascades: [%s]}]", i, subs)
	}
	f["n14.yaml"] = fmt.Sprintf(leaf, "n14")
	var got []string
	for _, row := range run(t, (&store{}).test(t, f)).Wards {
		got = append(got, row.Cascade+":"+row.Validator)
	}
	if want := ":a :b :d :e :g n14:non_empty a:non_empty b:non_empty g:non_empty d:non_empty e:non_empty :h h:non_empty"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

// The report names the nested cascade of a phase.
func TestRenderingWithin(t *testing.T) {
	s := &store{}
	if r := s.record(t, wardsOf("", "", "kind"), deepRun, nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	r := run(t, s.test(t, deep("{validator: excludes, with: {text: found}, mode: retry}", "{validator: non_empty}", "{validator: non_empty}")))
	if got, want := moves(r), []string{"run1 draft/sub[0]/look/draft/attempt[1]: released → retried by post excludes -0 +2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	text := words(t, r)
	for _, want := range []string{"\nlook/draft post excludes ", "\nsum/s post expr ", "\nsum/s post non_empty ", "\ndraft post expr "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if a, b := strings.Index(text, "look/draft post expr"), strings.Index(text, "sum/s post expr"); a > b {
		t.Errorf("what is gone is not sorted:\n%s", text)
	}
	var b bytes.Buffer
	if err := (&backtest.Result{UnknownVisits: 2, Wards: r.Wards, AttemptChanges: r.AttemptChanges, Changes: []backtest.Change{{Cascade: "look", Phase: "l", Kind: backtest.NowFails}}}).Report().Write(&b, "junit"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`classname="look/l"`, `classname="look/draft"`, `classname="sum/s"`, `name="2 visits left out: `} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

// A listener records the names of models.
type listener struct {
	engine.Host
	asked *[]string
}

func (l listener) Model(_ event.Path, req model.Request) (model.Response, error) {
	*l.asked = append(*l.asked, req.Model)
	return model.Response{Text: "true"}, nil
}

func (l listener) Each(n, limit int, body func(engine.Host, int) error) error {
	return l.Host.Each(n, limit, func(h engine.Host, i int) error { return body(listener{h, l.asked}, i) })
}

// A judge of a nested cascade gets the model that the run gives it.
func TestModelWithin(t *testing.T) {
	for _, c := range []struct{ given, outer, inner, want string }{
		{"", "big", "", "big"}, {"", "big", "small", "small"}, {"mine", "big", "small", "mine"},
	} {
		f := files{
			"cascade.yaml": "cascade_id: c\nmodel: '" + c.outer + "'\nphases: [{name: p, instructions: x, sub_cascades: [{ref: look.yaml}]}]",
			"look.yaml":    "cascade_id: look\nmodel: '" + c.inner + "'\nphases: [{name: l, instructions: x, wards: {post: [{judge: 'nice?', name: nice}]}}]",
		}
		for name := range f {
			f[name] = strings.Replace(f[name], "model: ''\n", "", 1)
		}
		s := &store{}
		s.record(t, f, "[{phase: l, reply: x}, {validator: nice, reply: 'true'}, {phase: p, reply: x}]", nil)
		test := s.test(t, f)
		var asked []string
		test.Judges, test.Model, test.Host = true, c.given, listener{test.Host, &asked}
		if run(t, test); len(asked) != 1 || asked[0] != c.want {
			t.Errorf("%+v: asked %q", c, asked)
		}
	}
}
