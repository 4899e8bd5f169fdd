package serve

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// policy lets a page load nothing but the server's own files, send nothing
// elsewhere, and be framed by nobody.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard puts before next what every request must pass: the right host, no
// other site's doing, a token where there is one.
func (s *Server) guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, problem(http.StatusForbidden, "cross_origin", "the request comes from another site"))
	}))
	inner := cross.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.open(r) {
			next.ServeHTTP(w, r)
			return
		}
		if isAPI(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="capstan"`)
			s.refuse(w, r, problem(http.StatusUnauthorized, "unauthorized", "send the header Authorization: Bearer TOKEN"))
			return
		}
		http.Redirect(w, r, "/login?to="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.isOurs(r.Host) {
			s.refuse(w, r, problem(http.StatusMisdirectedRequest, "unknown_host", "this server does not go by that name"))
			return
		}
		inner.ServeHTTP(w, r)
	})
}

func isAPI(r *http.Request) bool { return r.URL.Path == "/v1" || strings.HasPrefix(r.URL.Path, "/v1/") }

// hosts are the names the server goes by: a page of another name that resolves
// to this address must not read it. An address that other machines reach goes
// by any name unless some are given; there the token keeps strangers out.
func hosts(o Options, loopback bool) map[string]bool {
	if !loopback && len(o.Hosts) == 0 {
		return nil
	}
	names := map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}
	if host, _, err := net.SplitHostPort(o.Addr); err == nil && host != "" {
		names[strings.ToLower(host)] = true
	}
	for _, h := range o.Hosts {
		names[strings.ToLower(h)] = true
	}
	return names
}

func (s *Server) isOurs(host string) bool {
	if s.hosts == nil {
		return host != ""
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return s.hosts[strings.ToLower(strings.Trim(host, "[]"))]
}

// cookieName is the page's session.
const cookieName = "capstan_session"

// session is what the cookie holds: proof of the token that does not give it
// away.
func session(token string) string {
	if token == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("capstan page session 1"))
	return hex.EncodeToString(mac.Sum(nil))
}

// open tells whether the request may pass: there is no token, it brings it, or
// it is the login.
func (s *Server) open(r *http.Request) bool {
	if s.o.Token == "" || r.URL.Path == "/login" || r.URL.Path == "/favicon.ico" || strings.HasPrefix(r.URL.Path, "/static/") {
		return true
	}
	if kind, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(kind, "Bearer") {
		return same(strings.TrimSpace(token), s.o.Token)
	}
	c, err := r.Cookie(cookieName)
	return err == nil && same(c.Value, s.session)
}

// same compares in a time that tells nothing of either.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
