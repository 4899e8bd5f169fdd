package runner_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/internal/providers"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// TestProvidersOfCascades checks that concurrent cascades of a runner call their own
// providers with their own keys, even if the providers have the same name.
func TestProvidersOfCascades(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"HOUSE_ONE": "one", "HOUSE_TWO": "two"}[name] }
	for name, m := range map[string]model.Model{
		"router": openai.NewRouter(getenv, openai.Options{}), "command": providers.New(providers.Options{Getenv: getenv}),
	} {
		t.Run(name, func(t *testing.T) { runTwoProviders(t, m) })
	}
}

func runTwoProviders(t *testing.T, m model.Model) {
	r, err := runner.New(runner.WithModel(m))
	if err != nil {
		t.Fatal(err)
	}
	text := "cascade_id: %[1]s\nmodel: house:m\nproviders: {house: {base_url: '%[2]s', key_env: HOUSE_%[1]s}}\nphases: [{name: a, instructions: x}, {name: b, instructions: x}]\n"
	run := func(key, url string) {
		c, err := r.Parse(key+".yaml", fmt.Appendf(nil, text, key, url))
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := r.Run(t.Context(), c, nil); err != nil {
			t.Error(err)
		}
	}
	answer := func(w http.ResponseWriter) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}`)
	}
	var one, two []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		two = append(two, q.Header.Get("Authorization"))
		answer(w)
	}))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if one = append(one, q.Header.Get("Authorization")); len(one) == 1 {
			run("TWO", other.URL) // while the first phase waits
		}
		answer(w)
	}))
	defer s.Close()
	run("ONE", s.URL)
	if want := []string{"Bearer one", "Bearer one"}; !slices.Equal(one, want) {
		t.Errorf("the first endpoint got the keys %q, want %q", one, want)
	}
	if want := []string{"Bearer two", "Bearer two"}; !slices.Equal(two, want) {
		t.Errorf("the second endpoint got the keys %q, want %q", two, want)
	}
}
