// Package guards says who may come in to a server: by the name that it is called by,
// and by a token, which a program sends and a page shows once for a cookie. It knows
// requests, and nothing of what is served.
package guards

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"unicode"
)

// A Guard is that of one server. Make one with [New].
type Guard struct {
	token   string
	session string          // the cookie's value
	hosts   map[string]bool // nil takes any
}

// minToken is how many characters a token has at least.
const minToken = 16

// New is the guard of a server at an address, "" being one that only this process
// reaches, that goes by further names. Without a token everybody may come in, which an
// address that other machines reach does not allow: whoever reaches the server starts
// runs and reads every text.
func New(addr, token string, names []string) (Guard, error) {
	loopback, err := isLoopback(addr)
	switch {
	case err != nil:
		return Guard{}, fmt.Errorf("address %q: %w", addr, err)
	case token == "" && !loopback:
		return Guard{}, fmt.Errorf("address %s can be reached from other machines: it needs a token", addr)
	case token != "" && len(token) < minToken:
		return Guard{}, fmt.Errorf("the token has fewer than %d characters", minToken)
	case strings.TrimSpace(token) != token:
		return Guard{}, errors.New("the token begins or ends with white space, which who brings it cannot: take it off")
	case strings.ContainsFunc(token, unicode.IsControl):
		return Guard{}, errors.New("the token has characters in it that a request cannot bring: no line ends, no control characters")
	}
	g := Guard{token: token, session: session(token)}
	if loopback || len(names) > 0 {
		g.hosts = hosts(addr, names)
	}
	return g, nil
}

func isLoopback(addr string) (bool, error) {
	if addr == "" {
		return true, nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, err
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback(), nil
}

// hosts are the names the server goes by: a page of another name that resolves
// to this address must not read it. An address that other machines reach goes
// by any name unless some are given; there the token keeps strangers out.
func hosts(addr string, names []string) map[string]bool {
	all := map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		all[strings.ToLower(host)] = true
	}
	for _, name := range names {
		all[strings.ToLower(name)] = true
	}
	return all
}

// session is what the cookie holds: proof of the token that does not give it
// away.
func session(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("capstan page session 1"))
	return hex.EncodeToString(mac.Sum(nil))
}

// Knows tells whether the server goes by the name that a request asks for.
func (g Guard) Knows(host string) bool {
	if g.hosts == nil {
		return host != ""
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return g.hosts[strings.ToLower(strings.Trim(host, "[]"))]
}

// Open tells whether everybody may come in.
func (g Guard) Open() bool { return g.token == "" }

// Lets tells whether who sends the request may come in: nobody needs a token, or it
// brings that or the cookie.
func (g Guard) Lets(r *http.Request) bool {
	if g.Open() {
		return true
	}
	if kind, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(kind, "Bearer") {
		return same(strings.TrimSpace(token), g.token)
	}
	c, err := r.Cookie(cookieName)
	return err == nil && same(c.Value, g.session)
}

// cookieName is the page's session.
const cookieName = "capstan_session"

// Login sets the cookie, for twelve hours, where the token is right, and tells
// whether it is.
func (g Guard) Login(w http.ResponseWriter, r *http.Request, token string) bool {
	ok := !g.Open() && same(strings.TrimSpace(token), g.token)
	if ok {
		setCookie(w, r, g.session, 12*60*60)
	}
	return ok
}

// Logout takes the cookie away.
func (g Guard) Logout(w http.ResponseWriter, r *http.Request) { setCookie(w, r, "", -1) }

func setCookie(w http.ResponseWriter, r *http.Request, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: isTLS(r), MaxAge: seconds,
	})
}

// isTLS also believes a proxy that says so: all it can do is keep a cookie from
// plain connections.
func isTLS(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// same compares in a time that tells nothing of either.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
