package openai_test

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

// TestParameters sends parameters as a cascade has them: 0 is sent, and extra wins.
func TestParameters(t *testing.T) {
	cold, top, seed := 0.0, 0.9, int64(9007199254740993)
	for want, p := range map[string]*model.Params{
		``: nil,
		`"max_tokens":800,"stop":["<END>","\n"],"reasoning_effort":"low","temperature":0,"top_p":0.9,"seed":9007199254740993`: {
			Temperature: &cold, TopP: &top, MaxOutputTokens: 800, Effort: "low", Seed: &seed, Stop: []string{"<END>", "\n"}},
		`"n_best":{"a":[1.50,1e3]},"service_tier":"flex"`: {Extra: `{"service_tier":"flex","n_best":{"a":[1.50,1e3]}}`},
		`"temperature":1.50`:                              {Temperature: &cold, Extra: `{"temperature":1.50}`},
	} {
		e := newEndpoint(t, reply("Hello"))
		r := ask("Hello?")
		r.Params = p
		if _, err := e.client(t).Call(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		members, _, _ := strings.Cut(e.bodies[0], `,"messages":`)
		members = strings.Trim(strings.Replace(strings.Trim(members, "{}"), `"model":"gpt-5-mini"`, "", 1), ",")
		if members != want {
			t.Errorf("sent %s, want %s", members, want)
		}
	}
}
