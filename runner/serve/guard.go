package serve

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// policy allows a page only the server's own files and forms, and no frames.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded checks the host, the origin and the token of a request before next serves it.
func (s *Server) guarded(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, orders.NewProblem(http.StatusForbidden, "cross_origin", "the request comes from another site"))
	}))
	inner := cross.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isFree(r) || s.guard.Lets(r) {
			next.ServeHTTP(w, r)
			return
		}
		if isAPI(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="capstan"`)
			s.refuse(w, r, orders.NewProblem(http.StatusUnauthorized, "unauthorized", "send the header Authorization: Bearer TOKEN"))
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
		if !s.guard.Knows(r.Host) {
			s.refuse(w, r, unknownHost())
			return
		}
		inner.ServeHTTP(w, r)
	})
}

func unknownHost() error {
	return orders.NewProblem(http.StatusMisdirectedRequest, "unknown_host", "this server does not go by that name: start it with --hostname NAME")
}

// isAPI reports whether the client is a program, which receives a problem instead of a page.
func isAPI(r *http.Request) bool {
	switch path := r.URL.Path; path {
	case "/v1", "/healthz", "/readyz", "/metrics":
		return true
	default:
		return strings.HasPrefix(path, "/v1/")
	}
}

// isFree reports whether a request needs no token.
func isFree(r *http.Request) bool {
	return r.URL.Path == "/login" || r.URL.Path == "/favicon.ico" || strings.HasPrefix(r.URL.Path, "/static/")
}
