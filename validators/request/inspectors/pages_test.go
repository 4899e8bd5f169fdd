package inspectors

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/hints"
)

// needChromium skips a test where no Chromium is installed.
func needChromium(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long")
	}
	if _, err := FindBrowser(""); err != nil {
		t.Skip(err)
	}
}

// app is a small app with pages of every kind.
func app(t *testing.T, elsewhere string) *httptest.Server {
	pages := map[string]string{
		"/": `<title>Small app</title><h1>Welcome  home</h1><p id="gone" style="display:none">hidden words</p>`,
		"/late": `<div id="out"></div><script>setTimeout(() => {
			document.title = "Late"; out.innerHTML = "<b class=ok>at last</b>"; document.querySelector(".spin")?.remove() }, 200)</script><i class="spin">…</i>`,
		"/form": `<form onsubmit="event.preventDefault(); said.textContent = 'Hello ' + user.value + ' from ' + land.value">
			<input id="user" value="old"><select id="land"><option>nowhere</option><option>here</option></select>
			<button id="go">Go</button><a id="next" href="/">next</a></form><p id="said"></p><button id="no" style="display:none">x</button>`,
		"/noisy":   `<script>console.error("oh no", 7); throw new Error("thrown")</script>`,
		"/loop":    `<h1>busy</h1><script>while (true) {}</script>`,
		"/alert":   `<script>alert("stop"); document.write("<h1>went on</h1>")</script>`,
		"/hostile": `<h1>real</h1><script>document.querySelectorAll = () => []; Element.prototype.getClientRects = () => []; JSON.stringify = () => "no"</script>`,
		"/away":    `<script>location = "` + elsewhere + `/x"</script>`,
		"/popup":   `<h1>here</h1><a id=a target=_blank href="` + elsewhere + `/link">a</a><script>open("` + elsewhere + `/popup")</script>`,
		"/frame":   `<h1>here</h1><iframe src="` + elsewhere + `/frame"></iframe>`,
	}
	return server(t, func(w http.ResponseWriter, r *http.Request) {
		text, known := pages[r.URL.Path]
		switch {
		case r.URL.Path == "/gone":
			http.Redirect(w, r, elsewhere+"/gone", http.StatusFound)
		case r.URL.Path == "/near":
			http.Redirect(w, r, "/", http.StatusMovedPermanently)
		case r.URL.Path == "/missing", !known:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<h1>Not found</h1>")
		default:
			fmt.Fprint(w, "<!doctype html>", text)
		}
	})
}

// A hinted is a criterion by its hint, and the result.
type hinted struct {
	hint     string
	status   request.Verdict
	evidence string // texts, separated by " … "
}

// shown reports whether evidence has the texts of a case.
func (h hinted) shown(evidence string) bool {
	return !slices.ContainsFunc(strings.Split(h.evidence, " … "), func(s string) bool { return !strings.Contains(evidence, s) })
}

func TestPages(t *testing.T) {
	needChromium(t)
	elsewhere := server(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("a foreign host was asked for %s", r.URL) })
	site := app(t, elsewhere.URL)
	const pass, fail, blocked = request.Pass, request.Fail, request.Blocked
	cases := []hinted{
		{`page: / title Small element h1 text "Welcome home" no console errors`, pass, `page / opened with status 200, title "Small app"`},
		{`page: / text "hidden words"`, fail, "does not show"},
		{`page: / element "#gone"`, fail, "shows none of them"},
		{`page: / absent ".error" screenshot`, pass, ""},
		{`page: / element "h1["`, blocked, "selector"},
		{`page: /late element .ok text "at last" title Late absent .spin`, pass, ""},
		{`page: /form fill "#user" "ann" fill "#land" here click "#go" text "Hello ann from here"`, pass, ""},
		{`page: /form fill "#user" "" click "#go" text "Hello from nowhere"`, pass, ""},
		{`page: /form fill "#land" there`, fail, "there is no such choice"},
		{`page: /form click "#next" title "Small app"`, pass, ""},
		{`page: /form click "#no"`, fail, "shows none of them"},
		{`page: /noisy no console errors`, fail, "oh no 7 … thrown"},
		{`page: /missing status 404 text "Not found"`, pass, ""},
		{`page: /near text "Welcome"`, pass, "opened with status 200"},
		{`page: /near status 301 text "Welcome"`, pass, "/near answered with status 301"},
		{`page: /near status 302`, fail, "301 and leads to"},
		{`page: /alert element h1 text "went on"`, pass, ""},
		{`page: /hostile element h1 text real`, pass, ""},
		{`page: /loop element h1`, blocked, "does not respond"},
		{`page: /away element h1`, blocked, "GET " + elsewhere.URL + "/x: not checked"},
		{`page: /gone`, blocked, "GET " + elsewhere.URL + "/gone: not checked"},
		{`page: /popup element h1 no console errors`, pass, ""},
		{`page: /popup click "#a" title "nowhere"`, blocked, "GET " + elsewhere.URL + "/link: not checked"},
		{`page: /frame element h1`, blocked, "GET " + elsewhere.URL + "/frame: not checked"},
		{"page: " + elsewhere.URL, blocked, "is not one of the request's services"},
		{"page: file:///etc/passwd", blocked, "is not one of"},
		{"file: nope.md", fail, "does not exist"},
		{"file: a.md", pass, "a.md exists"},
	}
	r := request.Request{ValidationType: request.Both, WorktreePath: tree(t, map[string]string{"a.md": "x"}), Services: &request.Services{AppURL: site.URL}}
	patiently(t, Network{Services: true}, r, cases)
}

// TestPageClauses judges pages that were seen without a browser.
func TestPageClauses(t *testing.T) {
	seen := view{Count: 1, Visible: 1, Title: "Small  app", Text: "Welcome\n home", Status: 200}
	for _, c := range []struct {
		hint string
		view view
		want string // empty if the page matches the clause
	}{
		{`page: / text "Welcome home"`, seen, ""},
		{`page: / text "Goodbye"`, seen, `page / does not show "Goodbye" but "Welcome home"`},
		{`page: / title "Small app"`, seen, ""},
		{`page: / title Large`, seen, `the title of page / is "Small  app", and does not contain "Large"`},
		{`page: / element h1`, seen, ""},
		{`page: / element h1`, view{Count: 2}, `page / has 2 elements "h1", and shows none of them`},
		{`page: / element h2`, view{}, `page / has no element "h2"`},
		{`page: / absent h2`, view{}, ""},
		{`page: / absent h1`, seen, `page / has 1 elements "h1"`},
		{`page: /`, seen, ""},
		{`page: /`, view{Status: 404}, "page / opened with status 404"},
		{`page: / status 404`, view{Status: 404}, ""},
		{`page: / status 404`, seen, "page / opened with status 200, not 404"},
	} {
		got := ""
		one := check{hints.Parse(c.hint)[0]}
		if f := one.judgeOpened(c.view); f.status != request.Pass {
			got = f.message
		}
		for _, demand := range one.Clauses {
			if demand.Word != "status" && !clause(demand).met(c.view) {
				got = clause(demand).missed(one.Args[0], c.view)
			}
		}
		if got != c.want {
			t.Errorf("%s of %+v: got %q, want %q", c.hint, c.view, got, c.want)
		}
	}
}

// patiently checks the cases and repeats those that fail with four times the wait, up to a
// minute. A page of a loaded machine is late.
func patiently(t *testing.T, network Network, r request.Request, cases []hinted) {
	evidence := filepath.Join(t.TempDir(), "evidence")
	for wait := 2 * time.Second; len(cases) > 0; wait *= 4 {
		var hints []string
		for _, c := range cases {
			hints = append(hints, c.hint)
		}
		i := &Inspector{Network: network, EvidenceDir: evidence, limits: limits{Wait: wait, Criterion: 20 * wait}}
		got := ask(t, i, r, hints...)
		pictures(t, i, got)
		left := cases[:0]
		for n, c := range cases {
			switch g := got.Results[n]; {
			case g.Status == c.status && c.shown(g.Evidence):
			case wait >= time.Minute:
				t.Errorf("%s: got %s %q", c.hint, g.Status, g.Evidence)
			default:
				left = append(left, c)
			}
		}
		if cases = left; wait >= time.Minute {
			break
		}
	}
}

// pictures wants a picture for everything that is PASS, under safe names.
func pictures(t *testing.T, i *Inspector, got *request.Response) {
	t.Helper()
	shown := map[string]bool{}
	name := regexp.MustCompile(`^\d{3}-[0-9a-f]{16}\.png$`)
	var screenshots []request.Screenshot
	if got.Evidence != nil { // it is nil when no page opened in time
		screenshots = got.Evidence.Screenshots
	}
	for _, s := range screenshots {
		shown[s.Step] = true
		text, err := os.ReadFile(s.Path)
		if err != nil {
			t.Error(err)
			continue
		}
		if picture, err := png.DecodeConfig(bytes.NewReader(text)); err != nil || picture.Width < 800 {
			t.Errorf("%s: %v", s.Path, err)
		}
		if filepath.Dir(s.Path) != i.EvidenceDir || !name.MatchString(filepath.Base(s.Path)) {
			t.Errorf("a picture at %s", s.Path)
		}
	}
	for _, r := range got.Results {
		if r.Status == request.Pass && !shown[r.CriterionID] {
			t.Errorf("%s is PASS without a screenshot", r.CriterionID)
		}
	}
}

func TestBrowserType(t *testing.T) {
	needChromium(t)
	site := app(t, "http://127.0.0.1:1")
	down := fmt.Sprintf("http://127.0.0.1:%d", closedPort)
	i := &Inspector{EvidenceDir: t.TempDir()}
	r := request.Request{ValidationType: request.Browser, Services: &request.Services{AppURL: site.URL}}
	r.Criteria = []request.Criterion{
		{ID: "../../etc/x", Description: "The page opens", Hint: "page: /late"},
		{ID: "b", Description: "It looks good", Hint: "Look at the colours"},
		{ID: "c", Description: "The heading is shown", Hint: `page: / element "[data-x]"`},
	}
	got := ask(t, i, r)
	for n, want := range []request.Verdict{request.Pass, request.Blocked, request.Fail} {
		if got.Results[n].Status != want {
			t.Errorf("got %+v", got.Results[n])
		}
	}
	pictures(t, i, got)
	if got.Evidence.Screenshots[0].Step != "../../etc/x" || len(got.Evidence.Screenshots) != 3 {
		t.Errorf("got %+v", got.Evidence.Screenshots)
	}

	r.Criteria, r.Services = nil, &request.Services{AppURL: down}
	one(t, i, r, "page: / element h1", request.Blocked, "does not answer")
	one(t, i, r, "Look at the colours", request.Blocked, "does not answer")
	r.Services = &request.Services{AppURL: site.URL}
	for browser, want := range map[string]string{NoBrowser: "switched off", "/no/such/chromium": "no Chromium", "true": "did not start"} {
		i := &Inspector{EvidenceDir: t.TempDir(), Browser: browser}
		got := ask(t, i, r, "page: / element h1", "page: / element h2").Results
		for _, g := range got {
			if g.Status != request.Blocked || !strings.Contains(g.Evidence, want) {
				t.Errorf("%s: got %+v", browser, g)
			}
		}
	}
	// A start that fails once is tried again.
	if program, err := FindBrowser(""); err == nil {
		dir := t.TempDir()
		flaky := filepath.Join(dir, "flaky")
		script := fmt.Sprintf("#!/bin/sh\n[ -e %[1]s/tried ] || { touch %[1]s/tried; exit 1; }\nexec %s \"$@\"\n", dir, program)
		if err := os.WriteFile(flaky, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		one(t, &Inspector{EvidenceDir: t.TempDir(), Browser: flaky}, r, "page: / element h1", request.Pass, "")
	}
	// A page that does not load must not delay the end of the criterion.
	sleeper := filepath.Join(t.TempDir(), "sleeper")
	if err := os.WriteFile(sleeper, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	i = &Inspector{EvidenceDir: t.TempDir(), Browser: sleeper, limits: limits{Criterion: time.Second}}
	one(t, i, r, "page: / element h1", request.Blocked, "did not start: out of time")
	// Its child processes must not remain.
	if err := os.WriteFile(sleeper, []byte("#!/bin/sh\ntrap '' TERM INT HUP\nsleep 1000.0625\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	one(t, i, r, "page: / element h1", request.Blocked, "did not start: out of time")
	if out, err := exec.Command("pgrep", "-f", "sleep 1000.0625").Output(); err == nil && len(out) > 0 {
		t.Errorf("still running: %s", out)
	}
	// A judge's PASS needs a picture.
	i = &Inspector{Browser: NoBrowser, Judge: never(t)}
	one(t, i, r, "Look at the colours", request.Blocked, "needs a screenshot")
}

// TestBrowserEnds checks that the end of the context ends the Chromium and
// deletes its files.
func TestBrowserEnds(t *testing.T) {
	needChromium(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ctx, cancel := context.WithCancel(t.Context())
	site := server(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		fmt.Fprint(w, "<script>while (true) {}</script>")
	})
	r := &request.Request{TaskID: "t", ValidationType: request.Browser, Services: &request.Services{AppURL: site.URL}}
	r.Criteria = []request.Criterion{{ID: "1", Hint: "page: / element h1"}, {ID: "2", Hint: "page: / element h1"}}
	if got, err := (&Inspector{EvidenceDir: t.TempDir(), Network: Network{Services: true}}).Inspect(ctx, r); err != context.Canceled || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if out, err := exec.Command("pgrep", "-f", temporary).Output(); err == nil && len(out) > 0 {
		t.Errorf("still running: %s", out)
	}
}
