// Package guards checks the host name and the token of a request. Programs send the token.
// People enter the token on a page and receive a cookie.
package guards

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Guard checks the requests of one server. Make one with [New].
type Guard struct {
	token string
	hosts map[string]bool // nil accepts any name
}

// minToken is the minimum length of a token.
const minToken = 16

// New returns the guard of a server with an address and further names. The address "" is one
// that only the owner of the process reaches, such as a Unix socket. An address that other
// machines reach needs a token.
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
		return Guard{}, errors.New("the token must not contain line ends or control characters")
	}
	g := Guard{token: token}
	if loopback || len(names) > 0 {
		g.hosts = hosts(addr, names)
	}
	return g, nil
}

// Monitoring returns the guard of an address for health and metrics without a token. On a
// loopback address it accepts the same names as [New].
func Monitoring(addr string, names []string) Guard {
	if loopback, err := isLoopback(addr); err == nil && !loopback && len(names) == 0 {
		return Guard{}
	}
	return Guard{hosts: hosts(addr, names)}
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

// hosts returns the names of the server. A page of another name that resolves to this address
// must not read anything.
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

// sessionLength is how long a session lasts after its login.
const sessionLength = 12 * time.Hour

// session returns the cookie of a session that ends at a time in seconds since 1970. The
// cookie has the time and the HMAC of the time with the token as key.
func (g Guard) session(end int64) string {
	mac := hmac.New(sha256.New, []byte(g.token))
	fmt.Fprintf(mac, "capstan page session 2 %d", end)
	return fmt.Sprintf("%d.%x", end, mac.Sum(nil))
}

// inSession reports whether a cookie is valid and its session has not ended.
func (g Guard) inSession(cookie string) bool {
	until, _, _ := strings.Cut(cookie, ".")
	end, err := strconv.ParseInt(until, 10, 64)
	return err == nil && time.Now().Unix() < end && same(cookie, g.session(end))
}

// Knows reports whether the name in a request is a name of the server.
func (g Guard) Knows(host string) bool {
	if g.hosts == nil {
		return host != ""
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return g.hosts[strings.ToLower(strings.Trim(host, "[]"))]
}

// Open reports whether the server has no token.
func (g Guard) Open() bool { return g.token == "" }

// Lets reports whether a request may pass: the server has no token, or the request has the
// token or the cookie of a session.
func (g Guard) Lets(r *http.Request) bool {
	if g.Open() {
		return true
	}
	if kind, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(kind, "Bearer") {
		return same(strings.TrimSpace(token), g.token)
	}
	c, err := r.Cookie(cookieName)
	return err == nil && g.inSession(c.Value)
}

const cookieName = "capstan_session"

// Login reports whether the token is right and, if so, sets the cookie of a session of twelve
// hours.
func (g Guard) Login(w http.ResponseWriter, r *http.Request, token string) bool {
	ok := !g.Open() && same(strings.TrimSpace(token), g.token)
	if ok {
		setCookie(w, r, g.session(time.Now().Add(sessionLength).Unix()), int(sessionLength.Seconds()))
	}
	return ok
}

// Logout removes the cookie.
func (g Guard) Logout(w http.ResponseWriter, r *http.Request) { setCookie(w, r, "", -1) }

func setCookie(w http.ResponseWriter, r *http.Request, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: isTLS(r), MaxAge: seconds,
	})
}

// isTLS also believes a proxy: a wrong header can only keep the cookie from plain connections.
func isTLS(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// same compares two texts in constant time.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
