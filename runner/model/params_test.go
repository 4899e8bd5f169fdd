package model_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

func TestParamsCheck(t *testing.T) {
	for _, p := range []*model.Params{nil, {}, {NoFormat: true}, {Extra: `{"service_tier":"flex","temperature":1.50}`}} {
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, name := range []string{"model", "messages", "input", "stream", "n"} {
		p := &model.Params{Extra: model.Extra(`{"a":1,"` + name + `":2}`)}
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), name+" cannot be set") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestExtraOf(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: ``, ` { } `: ``, `{"a":1}`: `{"a":1}`, `{ "b" : [ 1.0 , "\u003c\u0041\/\ud83d\ude00" ] , "a":{ } }`: `{"b":[1.0,"<A/😀"],"a":{}}`,
		`{"\u0061":"\u2028"}`: `{"a":"\u2028"}`, `{"a":"\\"}`: `{"a":"\\"}`,
	} {
		e, err := model.ExtraOf([]byte(text))
		if err != nil || string(e) != want {
			t.Errorf("%s: got %s, %v", text, e, err)
		}
		raw, _ := json.Marshal(map[string]model.Extra{"extra": e}) // escapes for HTML
		var back map[string]model.Extra
		if err := json.Unmarshal(raw, &back); err != nil || back["extra"] != e {
			t.Errorf("%s: came back as %s, %v", e, back["extra"], err)
		}
	}
	for _, text := range []string{``, `[]`, `1`, `null`, `"a"`, `{`, `{"a"}`} {
		if e, err := model.ExtraOf([]byte(text)); err == nil {
			t.Errorf("%s: got %q", text, e)
		}
	}
}

// An Extra has the same text after any number of round trips.
func FuzzExtra(f *testing.F) {
	f.Add([]byte(`{"a":"\u003c\ud800","b":[1.50,{"c":"\\\""}]}`))
	f.Add([]byte("{\"a\xff\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, object []byte) {
		e, err := model.ExtraOf(object)
		if err != nil || e == "" {
			return
		}
		var before, after any
		if json.Unmarshal(object, &before) != nil || json.Unmarshal([]byte(e), &after) != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%q became %q", object, e)
		}
		raw, err := json.Marshal(e)
		var again model.Extra
		if err != nil || json.Unmarshal(raw, &again) != nil || again != e {
			t.Errorf("%q came back as %q, %v", e, again, err)
		}
	})
}

func TestSplitName(t *testing.T) {
	for name, want := range map[string][2]string{
		"gpt-5-mini": {"openai", "gpt-5-mini"}, "openai:gpt-5": {"openai", "gpt-5"}, "ollama:llama3:8b": {"ollama", "llama3:8b"},
		"openrouter:anthropic/claude-3:free": {"openrouter", "anthropic/claude-3:free"}, "house:big": {"house", "big"}, "openai:ft:gpt-4o:me::id": {"openai", "ft:gpt-4o:me::id"}, "": {"openai", ""},
	} {
		provider, name2, err := model.SplitName(name, "house")
		if err != nil || provider != want[0] || name2 != want[1] {
			t.Errorf("%s: got %s, %s, %v", name, provider, name2, err)
		}
	}
	for name, says := range map[string]string{
		"llama3:8b": "ollama:llama3:8b", "House:big": `no provider "House"`, "antropic:claude": "anthropic, azure", "ft:gpt-4o:me::id": "openai:ft:gpt-4o:me::id",
		":x": `no provider ""`, "ollama:": "ollama:MODEL", "house: ": "",
	} {
		if provider, rest, err := model.SplitName(name, "house"); says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: got %s, %s, %v", name, provider, rest, err)
		}
	}
}

// Each provider is valid.
func TestProviders(t *testing.T) {
	var names []string
	for _, p := range model.Providers() {
		names = append(names, p.Name)
		local := strings.HasPrefix(p.BaseURL, "http://127.0.0.1:")
		if p.KeyEnv == "" || local != p.Keyless || !local && p.BaseURL != "" && !strings.HasPrefix(p.BaseURL, "https://") || strings.HasSuffix(p.BaseURL, "/") {
			t.Errorf("%+v", p)
		}
		if _, err := model.ExtraOf([]byte(p.ForeignCall)); p.ForeignCall != "" && err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if p.Missing(func(string) string { return "" }) == "" != p.Keyless {
			t.Errorf("%s: without a variable: %q", p.Name, p.Missing(func(string) string { return "" }))
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("providers %q", names)
	}
}

func TestBase(t *testing.T) {
	for _, test := range []struct{ provider, value, base, missing string }{
		{"openai", "", "https://api.openai.com/v1", "OPENAI_API_KEY"},
		{"openai", "http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1", ""},
		{"azure", "", "", "AZURE_OPENAI_ENDPOINT"},
		{"azure", "https://house.openai.azure.com/", "https://house.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY"},
		{"azure", "https://door.example/azure/openai/deployments/d", "https://door.example/azure/openai/deployments/d", "AZURE_OPENAI_API_KEY"},
		{"azure", "https://openai-house.openai.azure.com", "https://openai-house.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY"},
		{"azure", "https://house.openai.azure.com/?api-version=preview", "https://house.openai.azure.com/openai/v1?api-version=preview", "AZURE_OPENAI_API_KEY"},
		{"azure", "https://house.openai.azure.com/openai/deployments/d?api-version=2024-10-21", "https://house.openai.azure.com/openai/deployments/d?api-version=2024-10-21", "AZURE_OPENAI_API_KEY"},
		{"ollama", "", "http://127.0.0.1:11434/v1", ""},
		{"ollama", " http://there:1/v1 ", "http://there:1/v1", ""},
		{"anthropic", "", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"},
		{"anthropic", "https://gateway.example/claude/", "https://gateway.example/claude/v1", ""},
		{"anthropic", "https://gateway.example/v1", "https://gateway.example/v1", ""},
	} {
		p, _ := model.Builtin(test.provider)
		getenv := func(name string) string {
			if name == p.BaseEnv {
				return test.value
			}
			return ""
		}
		base, _ := p.Base(getenv)
		if missing := p.Missing(getenv); base != test.base || (missing == "") != (test.missing == "") || !strings.Contains(missing, test.missing) {
			t.Errorf("%+v: got %s, %q", test, base, missing)
		}
	}
}

// The page has a row for each provider, and no other rows.
func TestModelsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|.*\\| `\\w+_API_KEY`").FindAllStringSubmatch(string(text), -1) {
		if _, known := model.Builtin(row[1]); !known {
			t.Errorf("docs/reference/models.md has %s, which is no provider", row[1])
		}
	}
	for _, p := range model.Providers() {
		row := "| `" + p.Name + "` |"
		if p.BaseURL != "" {
			row += " `" + p.BaseURL + "`"
		}
		row += " | `" + p.KeyEnv + "`"
		_, rest, found := strings.Cut(string(text), row)
		if line, _, _ := strings.Cut(rest, "\n"); !found || p.BaseEnv != "" && !strings.Contains(line, "`"+p.BaseEnv+"`") {
			t.Errorf("docs/reference/models.md has no row %s … %s", row, p.BaseEnv)
		}
	}
}
