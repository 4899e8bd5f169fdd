package guards_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner/serve/internal/guards"
)

const token = "0123456789abcdef"

// TestNew checks that a server which other machines can reach needs a token of
// at least sixteen characters.
func TestNew(t *testing.T) {
	for _, c := range []struct{ addr, token, want string }{
		{"", "", ""}, {"localhost:80", "", ""}, {"LocalHost:80", "", ""}, {"127.1.2.3:80", "", ""}, {"[::1]:80", "", ""}, {":80", token, ""}, {"0.0.0.0:80", token, ""}, {"", token, ""},
		{":80", "", "needs a token"}, {"0.0.0.0:80", "", "needs a token"}, {"example.com:80", "", "needs a token"}, {"10.0.0.1:80", "", "needs a token"},
		{"localhost", "", `address "localhost": `}, {"localhost", token, `address "localhost": `}, {"", token + " ", "begins or ends with white space"}, {"", "\t" + token, "begins or ends with white space"}, {":80", token + "\n", "white space"}, {":80", token + "\r\n", "white space"}, {":80", token[:8] + "\n" + token, "must not contain line ends"}, {"", "0123456789 abcdef", ""},
		{"", token[1:], "the token has fewer than 16 characters"}, {":80", token[1:], "the token has fewer than 16"},
	} {
		g, err := guards.New(c.addr, c.token, nil)
		if c.want == "" && (err != nil || g.Open() != (c.token == "")) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q with %q: %v", c.addr, c.token, err)
		}
	}
}

// TestKnows checks the accepted host names, in any case and with any port.
// Without a list of names, a server that other machines can reach accepts all
// names.
func TestKnows(t *testing.T) {
	for _, c := range []struct {
		addr           string
		names          []string
		known, unknown string
	}{
		{"", nil, "localhost localhost:8 LOCALHOST:8 127.0.0.1:8 [::1]:8 [::1] ::1", "evil.example evil.example:8 localhost.evil.example 127.0.0.2"},
		{"127.0.0.2:8", nil, "127.0.0.2:8 127.0.0.2:9 localhost", "127.0.0.3 evil.example"},
		{"localhost:8", []string{"Own.example"}, "own.example OWN.example:9 localhost", "evil.example"},
		{":8", nil, "evil.example 10.0.0.1:8", ""},
		{":8", []string{"own.example"}, "own.example localhost", "evil.example 10.0.0.1:8"},
		{"Host.example:8", []string{"own.example"}, "own.example host.example:8", "evil.example"},
	} {
		g, err := guards.New(c.addr, token, c.names)
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range strings.Fields(c.known) {
			if !g.Knows(host) {
				t.Errorf("%q %v does not know %s", c.addr, c.names, host)
			}
		}
		for _, host := range append(strings.Fields(c.unknown), "") {
			if g.Knows(host) {
				t.Errorf("%q %v knows %q", c.addr, c.names, host)
			}
		}
	}
}

// TestLets checks that a request needs the token or its cookie, and that the
// cookie does not reveal the token.
func TestLets(t *testing.T) {
	g, err := guards.New(":8", token, nil)
	if err != nil {
		t.Fatal(err)
	}
	lets := func(name, value string) bool {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set(name, value)
		return g.Lets(r)
	}
	for value, want := range map[string]bool{
		"Bearer " + token: true, "bearer  " + token + " ": true, "Bearer " + token + "0": false, "Bearer": false, "Bearer ": false, token: false, "Basic " + token: false, "": false,
	} {
		if lets("Authorization", value) != want {
			t.Errorf("%q: let in is %t", value, !want)
		}
	}
	for _, wrong := range []string{"", "x", token + "0"} {
		if w := httptest.NewRecorder(); g.Login(w, httptest.NewRequest("POST", "/", nil), wrong) || len(w.Result().Cookies()) > 0 {
			t.Errorf("%q logs in", wrong)
		}
	}
	for how, secure := range map[string]bool{"": false, "http": false, "HTTPS": true, "tls": true} {
		r := httptest.NewRequest("POST", "/", nil)
		if r.Header.Set("X-Forwarded-Proto", how); how == "tls" {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		if !g.Login(w, r, " "+token+"\n") {
			t.Fatal("the token does not log in")
		}
		c := w.Result().Cookies()[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.MaxAge != 12*60*60 || c.Secure != secure || strings.Contains(c.Value, token) {
			t.Errorf("over %q: got %v", how, c)
		}
		if !lets("Cookie", c.Name+"="+c.Value) || lets("Cookie", c.Name+"="+token) || lets("Cookie", c.Name+"=") || lets("Cookie", "other="+c.Value) {
			t.Error("another cookie than that lets in, or that does not")
		}
	}
	w := httptest.NewRecorder()
	if g.Logout(w, httptest.NewRequest("POST", "/", nil)); w.Result().Cookies()[0].MaxAge != -1 || w.Result().Cookies()[0].Value != "" {
		t.Errorf("got %v", w.Result().Cookies())
	}
	open, err := guards.New("", "", nil)
	if err != nil || !open.Open() || !open.Lets(httptest.NewRequest("GET", "/", nil)) || open.Login(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil), "") {
		t.Errorf("where nobody needs a token: %+v, %v", open, err)
	}
}

// TestSessionEnd checks that a cookie is invalid twelve hours after its login,
// whatever end it names. A server with another token rejects it.
func TestSessionEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := guards.New(":8", token, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		g.Login(w, httptest.NewRequest("POST", "/", nil), token)
		cookie := w.Result().Cookies()[0]
		lets := func(g guards.Guard, value string) bool {
			r := httptest.NewRequest("GET", "/", nil)
			r.AddCookie(&http.Cookie{Name: cookie.Name, Value: value})
			return g.Lets(r)
		}
		other, err := guards.New(":8", token+"0", nil)
		if err != nil {
			t.Fatal(err)
		}
		end, proof, _ := strings.Cut(cookie.Value, ".")
		for _, value := range []string{"9" + end + "." + proof, "0" + cookie.Value, "+" + cookie.Value, "." + proof, proof, end, end + ".", "-1." + proof} {
			if lets(g, value) {
				t.Errorf("%q is a session", value)
			}
		}
		if lets(other, cookie.Value) {
			t.Error("it is a session of a server with another token")
		}
		time.Sleep(12*time.Hour - time.Second)
		if !lets(g, cookie.Value) {
			t.Error("the session has ended early")
		}
		if time.Sleep(time.Second); lets(g, cookie.Value) {
			t.Error("the session has not ended")
		}
	})
}
