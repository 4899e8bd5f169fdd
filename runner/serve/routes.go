package serve

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// routes are handlers by pattern, see [pages.Site.Routes].
type routes map[string]func(http.ResponseWriter, *http.Request) error

// api returns the routes of the API.
func (s *Server) api() routes {
	return routes{
		"GET /v1/openapi.json":                             s.openapiJSON,
		"GET /v1/openapi.yaml":                             s.openapiYAML,
		"GET /v1/cascades":                                 s.listCascades,
		"GET /v1/runs":                                     s.listRuns,
		"POST /v1/runs":                                    s.startRun,
		"GET /v1/runs/{id}":                                s.getRun,
		"GET /v1/runs/{id}/events":                         s.runEvents,
		"POST /v1/runs/{id}/answer":                        s.answerRun,
		"POST /v1/runs/{id}/cancel":                        s.cancelRun,
		"POST /v1/runs/{id}/resume":                        s.resumeRun,
		"POST /v1/runs/{id}/again":                         s.runAgain,
		"GET /v1/gates":                                    s.listGates,
		"POST /v1/gates/{name}":                            s.judge,
		"POST /v1/validation-requests":                     s.openRequest,
		"GET /v1/validation-requests/{task_id}":            s.getRequest,
		"POST /v1/validation-requests/{task_id}/responses": s.deliverResponse,
	}
}

// everything returns all routes of the main address.
func (s *Server) everything() routes {
	all := s.api()
	maps.Copy(all, s.site.Routes())
	maps.Copy(all, s.monitoring())
	return all
}

func (s *Server) mux(all routes) http.Handler {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for _, pattern := range slices.Sorted(maps.Keys(all)) {
		method, path, _ := strings.Cut(pattern, " ")
		methods[path] = append(methods[path], method)
		mux.HandleFunc(pattern, s.answered(all[pattern]))
	}
	for path, allowed := range methods {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			s.refuse(w, r, orders.NewProblem(http.StatusMethodNotAllowed, "method_not_allowed", "use "+strings.Join(allowed, " or ")))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, orders.NewProblem(http.StatusNotFound, "not_found", "there is nothing at "+r.URL.Path))
	})
	return mux
}

// answered returns a handler that answers the errors of serve.
func (s *Server) answered(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			s.refuse(w, r, err)
		}
	}
}

// refuse answers with an error: a problem for programs, a page for people.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := orders.ProblemOf(w, r, err)
	if !isAPI(r) {
		s.site.Error(w, r, p)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	json.NewEncoder(w).Encode(p)
}

// answer writes a JSON body.
func answer(w http.ResponseWriter, status int, body any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(body) // fails only if the client is gone
	return nil
}
