package pages_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
)

// TestCallShowsSystemAndExamples checks the system message and the examples of a call, and the tokens from the
// cache.
func TestCallShowsSystemAndExamples(t *testing.T) {
	w := servetest.New(t)
	w.Model = model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "A text.", Usage: model.Usage{Calls: 1, InputTokens: 2000, OutputTokens: 10, Cached: 1920}}, nil
	})
	id := w.Start("shown", nil)
	page := w.Send("GET", "/runs/"+id+"/call?at=draft/attempt[1]/turn[0]/model", nil).Text
	var roles []string
	for _, m := range regexp.MustCompile(`class="message m-(\w+)"`).FindAllStringSubmatch(page, -1) {
		roles = append(roles, m[1])
	}
	if !slices.Equal(roles, []string{"system", "user", "assistant", "user"}) {
		t.Errorf("the messages are %v", roles)
	}
	at := 0
	for _, text := range []string{"You edit texts for a zoo.", "Which bird", "The owl.", "Write."} {
		i := strings.Index(page[at:], text)
		if i < 0 {
			t.Fatalf("%q is not on the page, or not in its place", text)
		}
		at += i
	}
	for _, page := range []string{"/runs/" + id, "/runs/" + id + "/phase?at=draft"} {
		if text := w.Send("GET", page, nil).Text; !strings.Contains(text, "<span>1\u202f920 cached</span>") {
			t.Errorf("%s does not show the cached tokens", page)
		}
	}
}
