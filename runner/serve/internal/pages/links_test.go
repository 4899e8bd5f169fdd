package pages_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/serve"
)

var leads = regexp.MustCompile(`(?:href|src|hx-get)="([^"]+)"`)

// TestEveryLinkLeads checks that every link of every page works, except those of a wrong
// cascade and of missing tools.
func TestEveryLinkLeads(t *testing.T) {
	w := servetest.New(t, func(o *serve.Options) {
		var err error
		if o.Runner, err = runner.New(runner.WithTools(storytest.Tools()...), runner.WithValidators(storytest.Validators()...)); err != nil {
			t.Fatal(err)
		}
	})
	for i, s := range append(storytest.RandomStories(t, 25), storytest.Embedded(t, "human_edit"), storytest.Embedded(t, "soundings_aggregate")) {
		_, _ = s.Runner(t, runner.WithJournal(w.Store)).Run(t.Context(), s.Cascade, s.Input, runner.WithRunID(fmt.Sprint("run", i)))
	}
	from := map[string]string{"/": ""}
	for todo := []string{"/"}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		r := w.Ask("GET", at, nil)
		if r.StatusCode != 200 && !strings.Contains(at, "/again") && at != "/start?cascade=wrong" {
			t.Errorf("%s leads to %s: %d", from[at], at, r.StatusCode)
		}
		here, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range leads.FindAllStringSubmatch(r.Text, -1) {
			to, err := here.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			if err != nil {
				t.Errorf("%s leads to %q: %v", at, m[1], err)
				continue
			}
			to.Fragment = ""
			next := to.String()
			if _, known := from[next]; known || to.Host != "" || strings.HasSuffix(to.Path, "/live") {
				continue
			}
			from[next], todo = at, append(todo, next)
		}
	}
	if len(from) < 500 {
		t.Errorf("only %d pages", len(from))
	}
}
