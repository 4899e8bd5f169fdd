package runner_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model/providers"
)

// Cascades that one runner runs at the same time each ask their own provider, with
// its own key, though both call it the same.
func TestProvidersOfTheirOwn(t *testing.T) {
	r, err := runner.New(runner.WithModel(providers.New(providers.Options{Getenv: func(name string) string { return map[string]string{"HOUSE_ONE": "one", "HOUSE_TWO": "two"}[name] }})))
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
		t.Errorf("the one was asked with %q", one)
	}
	if want := []string{"Bearer two", "Bearer two"}; !slices.Equal(two, want) {
		t.Errorf("the other was asked with %q", two)
	}
}
