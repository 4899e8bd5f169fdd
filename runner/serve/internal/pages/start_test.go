package pages_test

import (
	"html"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

var controls = regexp.MustCompile(`(?s)<(?:input|textarea|select)[^>]*? name="([^"]*)"[^>]*>`)

// form returns the fields of a form as a browser would send them.
func form(page string) url.Values {
	out := url.Values{}
	_, page, _ = strings.Cut(page, `<form class="start"`)
	for _, m := range controls.FindAllStringSubmatchIndex(page, -1) {
		control, name, rest := page[m[0]:m[1]], page[m[2]:m[3]], page[m[1]:]
		value := ""
		switch {
		case strings.HasPrefix(control, "<textarea"):
			value, _, _ = strings.Cut(strings.TrimPrefix(rest, "\n"), "</textarea>")
		case strings.HasPrefix(control, "<select"):
			rest, _, _ = strings.Cut(rest, "</select>")
			if chosen := regexp.MustCompile(`value="([^"]*)" selected`).FindStringSubmatch(rest); chosen != nil {
				value = chosen[1]
			}
		default:
			value = regexp.MustCompile(` value="([^"]*)"`).FindStringSubmatch(control)[1]
		}
		out.Set(html.UnescapeString(name), strings.ReplaceAll(html.UnescapeString(value), "\n", "\r\n"))
	}
	return out
}

func postForm(w *servetest.World, path string, fields url.Values, header ...string) servetest.Reply {
	w.Helper()
	return w.Send("POST", path, fields.Encode(), append([]string{"Content-Type", "application/x-www-form-urlencoded"}, header...)...)
}

// TestTheFormStartsARun checks the inputs of a run, and that a form sent twice starts one run.
func TestTheFormStartsARun(t *testing.T) {
	w := servetest.New(t)
	if page := w.Send("GET", "/start", nil).Text; !strings.Contains(page, `href="/start?cascade=form"`) || strings.Contains(page, "<form class=\"start\"") {
		t.Error(page)
	}
	page := w.Send("GET", "/start?cascade=form", nil).Text
	fields := form(page)
	for name, want := range map[string]string{
		"in.note": "", "in.title": "", "in.audience": "everyone & all", "in.size": "3", "in.share": "", "in.loud": "", "in.colour": "blue",
		"in.tags": "[\r\n  \"<a>\"\r\n]", "in.either": "", "cascade": "form", "model": "",
	} {
		if got, ok := fields[name]; !ok || got[0] != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	// A note may be empty; required inputs may not.
	if !strings.Contains(page, `>note</label> <span class="soft">optional`) {
		t.Error("the note is required")
	}
	if page := w.Send("GET", "/start?cascade=told", nil).Text; strings.Contains(page, ">optional") || !strings.Contains(page, " required>") {
		t.Error("the topic may be left empty", page)
	}
	if !strings.Contains(page, "the &lt;b&gt;title&lt;/b&gt;") {
		t.Error("no description")
	}
	if !strings.Contains(page, "default <code>{ &#34;x&#34;: 1 }</code>") {
		t.Error("no default")
	}
	for name, value := range map[string]string{"in.title": "Owls\r\nat night", "in.share": "0.5", "in.loud": "false", "in.audience": ""} {
		fields.Set(name, value)
	}
	r := postForm(w, "/start", fields)
	<-w.Done
	at := r.Header.Get("Location")
	if r.StatusCode != http.StatusSeeOther || at != "/runs/"+fields.Get("run_id") {
		t.Fatalf("%d %s %s", r.StatusCode, at, r.Text)
	}
	want := map[string]any{"title": "Owls\nat night", "audience": "", "size": 3, "share": 0.5, "loud": false, "colour": "blue", "tags": []any{"<a>"}}
	if got := w.Run("last").Start.Input; !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	if w.Send("GET", at, nil).StatusCode != 200 || w.Run("last").Status != "succeeded" {
		t.Errorf("%+v", w.Run("last").Summary)
	}
	if again := postForm(w, "/start", fields); again.Header.Get("Location") != at {
		t.Errorf("%d %s", again.StatusCode, again.Text)
	}
	fields.Set("in.title", "Something else")
	other := postForm(w, "/start", fields)
	if other.StatusCode != http.StatusConflict || !strings.Contains(other.Text, "Something else") {
		t.Errorf("%d %s", other.StatusCode, other.Text)
	}
	if r := postForm(w, "/start", form(other.Text)); r.StatusCode != http.StatusSeeOther {
		t.Errorf("%d %s", r.StatusCode, r.Text)
	}
	<-w.Done
}

// TestTheFormSaysWhatIsWrong checks that each invalid field has an error, and keeps its value.
func TestTheFormSaysWhatIsWrong(t *testing.T) {
	w := servetest.New(t)
	fields := form(w.Send("GET", "/start?cascade=form", nil).Text)
	typed := map[string]string{
		"in.note": "</textarea><script>x</script>", "in.title": "x", "in.size": "three", "in.share": "", "in.tags": "[1", "in.colour": "green", "model": "slow",
	}
	for name, value := range typed {
		fields.Set(name, value)
	}
	r := postForm(w, "/start", fields)
	if r.StatusCode != 422 {
		t.Fatalf("%d %s", r.StatusCode, r.Text)
	}
	for _, want := range []string{`role="alert">must have at least 2 characters, has 1`, "is no number", "is no JSON: line 1", "is missing"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("no %q", want)
		}
	}
	// title, size, share, loud, tags and colour.
	if n := strings.Count(r.Text, `<p class="wrong" id=`); n != 6 {
		t.Errorf("%d fields are wrong: %s", n, r.Text)
	}
	again := form(r.Text)
	for name, value := range typed {
		if name != "in.colour" && again.Get(name) != value {
			t.Errorf("%s: %q was typed, %q is there", name, value, again.Get(name))
		}
	}
	if strings.Contains(r.Text, "<script>x") {
		t.Error("what was typed is taken for more than text")
	}
	w.Problem(404, "no_run", "GET", "/v1/runs/last", nil)
}

// TestFormsThatStartNothing checks that the form accepts no more than the API.
func TestFormsThatStartNothing(t *testing.T) {
	t.Parallel()
	w := servetest.New(t)
	good := form(w.Send("GET", "/start?cascade=ask", nil).Text)
	with := func(name, value string) url.Values {
		fields := url.Values{}
		for k, v := range good {
			fields[k] = v
		}
		fields.Set(name, value)
		return fields
	}
	for _, c := range []struct {
		fields url.Values
		header []string
		status int
		want   string
	}{
		{with("cascade", "none"), nil, 422, "no cascade of that name"},
		{with("cascade", "../ask"), nil, 422, "no cascade of that name"},
		{with("cascade", "wrong"), nil, 422, "frobnicate"},
		{with("model", "gpt-dear"), nil, 422, "no model of that name"},
		{with("run_id", "../x"), nil, 422, "no name for a run"},
		{with("run_id", ""), nil, 422, "no name for a run"},
		{good, []string{"Content-Type", "text/plain"}, 415, "urlencoded"},
		{good, []string{"Origin", "http://elsewhere.example"}, 403, "another site"},
		{good, []string{"Sec-Fetch-Site", "same-site"}, 403, "another site"},
		{with("in.x", strings.Repeat("x", 17<<20)), nil, 413, "16384 KiB"},
	} {
		if r := postForm(w, "/start", c.fields, c.header...); r.StatusCode != c.status || !strings.Contains(r.Text, c.want) {
			t.Errorf("%v: %d %.300s", c.header, r.StatusCode, r.Text)
		}
	}
	w.Problem(404, "no_run", "GET", "/v1/runs/last", nil)
	if page := w.Send("GET", "/start?cascade=none", nil); page.StatusCode != 422 || !strings.Contains(page.Text, "/start?cascade=ask") {
		t.Errorf("%d %s", page.StatusCode, page.Text)
	}
	if page := w.Send("GET", "/", nil).Text; !strings.Contains(page, `href="/start"`) {
		t.Error("no way to the form")
	}
}

func TestNoFormWhereNothingIsOffered(t *testing.T) {
	w := servetest.New(t, func(o *serve.Options, c *orders.PoolOptions) { o.Cascades, c.Cascades = nil, nil })
	if page := w.Send("GET", "/start", nil).Text; !strings.Contains(page, "capstan serve cascades/") {
		t.Error(page)
	}
	if page := w.Send("GET", "/", nil).Text; strings.Contains(page, `href="/start"`) {
		t.Error("a way to a form that is empty")
	}
	shows, err := serve.New(serve.Options{Store: w.Store, Cascades: []string{"ask"}})
	if err != nil {
		t.Fatal(err)
	}
	w.HTTP.Config.Handler = shows
	for _, method := range []string{"GET", "POST"} {
		if r := w.Send(method, "/start", nil); r.StatusCode != 501 {
			t.Errorf("%s: %d", method, r.StatusCode)
		}
	}
}

// TestLinesOfAnswers checks that CRLF becomes a line end.
func TestLinesOfAnswers(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("tell", nil)
	if r := postForm(w, "/runs/"+id+"/answer", url.Values{"value": {"Shorter.\r\nAnd warmer."}}); r.StatusCode != 303 {
		t.Fatalf("%d %s", r.StatusCode, r.Text)
	}
	<-w.Done
	request, err := w.Store.Requests(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := request("again/attempt[1]/turn[0]/model")
	if err != nil {
		t.Fatal(err)
	}
	if got := asked.Messages[0].Content; got != "Shorter.\nAnd warmer." {
		t.Errorf("got %q", got)
	}
}
