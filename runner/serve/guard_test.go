package serve_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/serve"
)

const token = "a-token-of-many-characters"

// TestFavicon checks that browsers find the icon without a login.
func TestFavicon(t *testing.T) {
	w := servetest.New(t, func(o *serve.Options) { o.Token = token })
	r := w.Send("GET", "/favicon.ico", nil)
	icon := w.Send("GET", r.Header.Get("Location"), nil)
	if r.StatusCode != http.StatusSeeOther || icon.StatusCode != http.StatusOK || icon.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("%d to %q: %d %s", r.StatusCode, r.Header.Get("Location"), icon.StatusCode, icon.Header.Get("Content-Type"))
	}
}

func TestAnOpenAddressNeedsAToken(t *testing.T) {
	for _, c := range []struct {
		addr, token string
		ok          bool
	}{
		{"", "", true}, {"127.0.0.1:7070", "", true}, {"localhost:0", "", true}, {"[::1]:7070", "", true}, {"127.8.8.8:1", "", true},
		{"0.0.0.0:7070", "", false}, {":7070", "", false}, {"[::]:7070", "", false}, {"192.168.0.2:7070", "", false}, {"example.org:80", "", false},
		{"0.0.0.0:7070", token, true}, {":7070", "short", false}, {"127.0.0.1:7070", "short", false}, {"127.0.0.1", "", false},
	} {
		if _, err := serve.New(serve.Options{Store: &servetest.Shelf{}, Addr: c.addr, Token: c.token}); (err == nil) != c.ok {
			t.Errorf("%q with token %q: %v", c.addr, c.token, err)
		}
	}
	if _, err := serve.New(serve.Options{}); err == nil {
		t.Error("a server without a store")
	}
}

func TestHosts(t *testing.T) {
	w := servetest.New(t, func(o *serve.Options) { o.Hosts = []string{"capstan.example"} })
	for host, ok := range map[string]bool{
		"localhost:1": true, "127.0.0.1": true, "[::1]:7": true, "LOCALHOST": true, "capstan.example:443": true,
		"evil.example": false, "127.0.0.1.evil.example": false, "localhost.evil.example:80": false, "192.168.0.1": false,
	} {
		if got := w.Send("GET", "/v1/runs", nil, "Host", host); (got.StatusCode == 200) != ok {
			t.Errorf("host %s: %d", host, got.StatusCode)
		}
		if got := w.Send("GET", "/", nil, "Host", host); (got.StatusCode == 200) != ok {
			t.Errorf("page of host %s: %d", host, got.StatusCode)
		}
	}
	w.Problem(421, "unknown_host", "GET", "/v1/runs", nil, "Host", "evil.example")
}

func TestOtherSitesPostNothing(t *testing.T) {
	w := servetest.New(t)
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		w.Problem(403, "cross_origin", "POST", "/v1/runs", `{"cascade": "post"}`, header...)
		w.Problem(403, "cross_origin", "POST", "/v1/gates/word_count", `{"content": "x"}`, header...)
		if r := w.Send("POST", "/runs/x/cancel", nil, header...); r.StatusCode != 403 {
			t.Errorf("%v: %d", header, r.StatusCode)
		}
	}
	w.Want(202, "POST", "/v1/runs", `{"cascade": "ask"}`, "Sec-Fetch-Site", "same-origin")
}

func TestToken(t *testing.T) {
	w := servetest.New(t, func(o *serve.Options) { o.Token = token })
	w.Want(200, "GET", "/v1/runs", nil)
	for _, header := range []string{"", "Bearer", "Bearer x", "Basic " + token, token, "Bearer " + token + "x", "Bearer " + strings.ToUpper(token)} {
		r := w.Problem(401, "unauthorized", "GET", "/v1/runs", nil, "Authorization", header)
		if r.Header.Get("WWW-Authenticate") == "" {
			t.Error("no WWW-Authenticate")
		}
		w.Problem(401, "unauthorized", "POST", "/v1/runs", `{"cascade": "ask"}`, "Authorization", header)
		for _, path := range []string{"/", "/gates", "/runs/x", "/runs/x/raw", "/live", "/compare", "/nothing"} {
			if r := w.Send("GET", path, nil, "Authorization", header); r.StatusCode != 303 || !strings.HasPrefix(r.Header.Get("Location"), "/login?to=") {
				t.Errorf("%s with %q: %d", path, header, r.StatusCode)
			}
		}
	}
}

func TestLogin(t *testing.T) {
	w := servetest.New(t, func(o *serve.Options) { o.Token = token })
	w.Token = ""
	form := func(values url.Values, header ...string) servetest.Reply {
		return w.Send("POST", "/login", values.Encode(), append(header, "Content-Type", "application/x-www-form-urlencoded")...)
	}
	if r := w.Send("GET", "/login?to=/gates", nil); r.StatusCode != 200 || !strings.Contains(r.Text, `value="/gates"`) {
		t.Errorf("%d %s", r.StatusCode, r.Text)
	}
	if r := form(url.Values{"token": {"wrong"}}); r.StatusCode != 403 || len(r.Cookies()) != 0 {
		t.Errorf("%d %v", r.StatusCode, r.Cookies())
	}
	for to, want := range map[string]string{"/gates": "/gates", "//evil.example": "/", `/\evil.example`: "/", "https://evil.example": "/", "/\t/evil.example": "/", "": "/"} {
		r := form(url.Values{"token": {token}, "to": {to}})
		if r.StatusCode != 303 || r.Header.Get("Location") != want {
			t.Errorf("%q: %d %s", to, r.StatusCode, r.Header.Get("Location"))
		}
	}
	if r := form(url.Values{"token": {strings.Repeat("x", 100<<10)}}); r.StatusCode != 413 {
		t.Errorf("%d", r.StatusCode)
	}
	r := form(url.Values{"token": {token}})
	c := r.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || strings.Contains(c.Value, token) {
		t.Errorf("%+v", c)
	}
	if secure := form(url.Values{"token": {token}}, "X-Forwarded-Proto", "https").Cookies()[0]; !secure.Secure {
		t.Errorf("%+v", secure)
	}
	if r := w.Send("GET", "/", nil, "Cookie", c.Name+"="+c.Value); r.StatusCode != 200 || !strings.Contains(r.Text, "Log out") {
		t.Errorf("%d", r.StatusCode)
	}
	if r := w.Send("GET", "/", nil, "Cookie", c.Name+"="+c.Value+"0"); r.StatusCode != 303 {
		t.Errorf("%d", r.StatusCode)
	}
	if out := w.Send("POST", "/logout", nil, "Cookie", c.Name+"="+c.Value); out.Cookies()[0].MaxAge >= 0 {
		t.Errorf("%v", out.Cookies())
	}
}

func TestHeaders(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("post", map[string]any{"topic": "owls"})
	for _, path := range []string{"/", "/runs/" + id, "/gates", "/compare", "/nothing", "/v1/runs", "/v1/nothing", "/static/page.js", "/static/nothing.js"} {
		h := w.Send("GET", path, nil).Header
		csp := h.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") == "" {
			t.Errorf("%s: %v", path, h)
		}
		if !strings.HasPrefix(path, "/static/page.js") && h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, h)
		}
	}
	raw := w.Send("GET", "/runs/"+id+"/raw?what=attempt&at=draft/attempt[1]", nil)
	if raw.Text != "Owls hoot.\nThey fly at night." || !strings.Contains(raw.Header.Get("Content-Security-Policy"), "sandbox") || !strings.HasPrefix(raw.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("%v %q", raw.Header, raw.Text)
	}
	svg := w.Send("GET", "/runs/"+id+"/graph.svg", nil)
	if svg.Header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(svg.Header.Get("Content-Security-Policy"), "sandbox") || !strings.Contains(svg.Text, ">draft<") {
		t.Errorf("%v %.200s", svg.Header, svg.Text)
	}
	id = w.Start("keep", nil)
	svg = w.Send("GET", "/runs/"+id+"/proof.svg", nil)
	if svg.Header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(svg.Header.Get("Content-Security-Policy"), "sandbox") || !strings.Contains(svg.Text, ">no_secrets (draft, post, blocking)<") {
		t.Errorf("%v %.200s", svg.Header, svg.Text)
	}
	if page := w.Send("GET", "/runs/"+id+"/graph", nil).Text; !strings.Contains(page, "proof.svg") || !strings.Contains(page, "keep.yaml: proven: every way") {
		t.Errorf("%s", page)
	}
	if r := w.Send("GET", "/static/..%2fserve.go", nil); r.StatusCode != 404 {
		t.Errorf("%d", r.StatusCode)
	}
}
