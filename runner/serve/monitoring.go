package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/guards"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// monitoring returns the routes of probes and of Prometheus.
func (s *Server) monitoring() routes {
	return routes{
		"GET /healthz": func(w http.ResponseWriter, _ *http.Request) error { return answer(w, http.StatusOK, health{"ok"}) },
		"GET /readyz":  s.ready,
		"GET /metrics": func(w http.ResponseWriter, r *http.Request) error { s.metrics.ServeHTTP(w, r); return nil },
	}
}

type health struct {
	Status string `json:"status"`
}

// maxReady limits the time of the store for a probe.
const maxReady = 2 * time.Second

// ready answers 200 if the store can be read and another run can begin.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), maxReady)
	defer cancel()
	done := s.metrics.Store("probe")
	_, err := s.o.Store.Runs(ctx, journal.Filter{Limit: 1})
	done()
	if err != nil {
		return unready("unavailable", "the store of runs cannot be read; check its address, its disk and its server", err)
	}
	if s.orders.Enabled() != nil {
		return answer(w, http.StatusOK, health{"ready"})
	}
	switch err := s.orders.Ready(); {
	case errors.Is(err, orders.ErrFull):
		return unready("full", "the maximum number of runs is already running; raise --parallel, or start another server", nil)
	case err != nil:
		return unready("closing", err.Error(), nil)
	}
	return answer(w, http.StatusOK, health{"ready"})
}

// unready returns the answer of a server that accepts no runs at the moment. The cause,
// which may be nil, goes to the log.
func unready(code, detail string, cause error) error {
	p := orders.NewProblem(http.StatusServiceUnavailable, code, detail)
	if cause == nil {
		return p
	}
	return errors.Join(p, cause)
}

// ServeMonitoring serves only /healthz, /readyz and /metrics, without a token, until ctx ends.
// End ctx after the ctx of [Server.Serve], so that probes see the shutdown.
func (s *Server) ServeMonitoring(ctx context.Context, l net.Listener) error {
	addr := ""
	if l.Addr().Network() == "tcp" {
		addr = l.Addr().String()
	}
	guard := guards.Monitoring(addr, s.o.Hosts)
	mux := s.mux(s.monitoring())
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !guard.Knows(r.Host) {
			s.refuse(w, r, unknownHost())
			return
		}
		mux.ServeHTTP(w, r)
	})
	return s.serve(ctx, l, handler, maxTaking, func() {})
}
