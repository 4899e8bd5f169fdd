package cascades

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
)

func TestChosen(t *testing.T) {
	own, file := Model{{Name: "a", Attempts: 2}, {Name: "b", Attempts: 1}}, Model{{Name: "f", Attempts: 1}}
	for _, c := range []struct {
		chosen    Chosen
		own, file Model
		want      string
	}{
		{"", own, file, "a → b"}, {"", nil, file, "f"}, {"", nil, nil, ""},
		{"n", own, file, "a → b"}, {"n", nil, file, "n"}, {"n", nil, nil, "n"},
		{"a=x", own, file, "x → b"}, {"a=x", nil, file, "f"}, {"a=b\nb=a", own, nil, "b → a"}, {"f=x\nn", nil, file, "n"},
		{"*=x", own, file, "x → x"}, {"*=x", nil, nil, "x"}, {"*=x\nb=y", own, nil, "x → y"},
		{"scripted:s=1.yaml", own, file, "scripted:s=1.yaml → scripted:s=1.yaml"}, {"replay:r", nil, file, "replay:r"}, {"replay:r\na=x", own, nil, "x → replay:r"}, {"*=x\nn", nil, file, "n"}, {"n=x\nn", nil, file, "n"},
	} {
		got := c.chosen.Of(c.own, c.file)
		if got.String() != c.want {
			t.Errorf("%q of %v, %v: got %s, want %s", c.chosen, c.own, c.file, got, c.want)
		}
		if len(got) == 1 && got[0].Attempts != 1 {
			t.Errorf("%q of %v, %v serves %d attempts", c.chosen, c.own, c.file, got[0].Attempts)
		}
	}
	for attempt, want := range map[int]string{0: "a → b", 1: "a → b", 2: "a → b", 3: "b", 9: "b"} {
		if got := own.From(attempt).String(); got != want {
			t.Errorf("attempt %d: %s", attempt, got)
		}
	}
}

// TestProvidersWithin checks that a file has the providers of its nested files,
// each once. Equal providers of one name are allowed.
func TestProvidersWithin(t *testing.T) {
	const same = "same: {base_url: 'http://a/v1', prices: {m: {input: 1, output: 2}}}"
	c := parsed(t, "cascade_id: x\nproviders: {first: {base_url: 'http://b/v1'}, "+same+"}\nphases: [{name: a, instructions: x, sub_cascades: [{ref: in.yaml}]}]\n", map[string]string{
		"in.yaml": "cascade_id: in\nproviders: {own: {base_url: 'http://c/v1'}, " + same + "}\nphases: [{name: a, instructions: x}]\n",
	})
	var names []string
	for _, p := range c.EveryProvider() {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"first", "same", "own"}) {
		t.Errorf("got %q", names)
	}
}

// TestProviderLimits checks that an entry with the name of a built-in provider
// and without base_url changes that provider. For nested cascades, the stricter
// limits apply.
func TestProviderLimits(t *testing.T) {
	c := parsed(t, "cascade_id: x\nproviders: {openai: {requests_per_minute: 60, timeout: 90s}}\nphases: [{name: a, instructions: x, sub_cascades: [{ref: in.yaml}]}]\n", map[string]string{
		"in.yaml": "cascade_id: in\nproviders: {openai: {requests_per_minute: 90, concurrency: 2, timeout: 1m, tries: 3}}\nphases: [{name: a, instructions: x}]\n",
	})
	list := c.EveryProvider()
	if len(list) != 1 {
		t.Fatalf("got %+v", list)
	}
	want, _ := model.Builtin("openai")
	want.Limits = model.Limits{RequestsPerMinute: 60, Concurrency: 2, Timeout: time.Minute, Tries: 3}
	if !reflect.DeepEqual(list[0], want) {
		t.Errorf("got %+v", list[0])
	}
	if c.Providers[0].Limits.Concurrency != 0 || slices.Contains(c.Variables(), "OPENAI_API_KEY") {
		t.Errorf("got %+v, variables %q", c.Providers[0], c.Variables())
	}
	if text := c.Describe().Text(); !strings.Contains(text, "\nproviders\n  openai  https://api.openai.com/v1  requests_per_minute: 60, concurrency: 2, tries: 3, timeout: 1m0s\n") {
		t.Errorf("got %s", text)
	}
}

// TestModelOfTries checks that a cascade among the tools of a try uses the
// try's model unless the cascade names a model.
func TestModelOfTries(t *testing.T) {
	c := parsed(t, "cascade_id: x\nmodel: other\ntools: {in: {cascade: in.yaml}}\nphases: [{name: a, instructions: x, tackle: [in], soundings: {factor: 2, models: [m]}}]\n", map[string]string{
		"in.yaml": "cascade_id: in\nphases: [{name: a, instructions: x}]\n",
	})
	if names := c.Models(""); !slices.Equal(names, []string{"m"}) {
		t.Errorf("got %q", names)
	}
}

// TestTryOfTheWhole checks that a try of a whole cascade shares the cascade's
// model and budget.
func TestTryOfTheWhole(t *testing.T) {
	c := parsed(t, "cascade_id: x\nmodel: m\nbudget: {max_calls: 9, max_phases: 7}\nsoundings: {factor: 2}\nphases: [{name: a, instructions: x}]\n", nil)
	if one := c.Tries.Tool.Cascade; one.Model != nil || one.Budget != (Budget{MaxPhases: 7}) {
		t.Errorf("it has the model %q and the budget %+v", one.Model, one.Budget)
	}
}
