package serve

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/serve/problems"
)

// A route is one thing that can be asked of the server. An error it returns has
// not been answered yet.
type route struct {
	method, path string
	serve        func(http.ResponseWriter, *http.Request) error
}

// api is what the contract describes.
func (s *Server) api() []route {
	return []route{
		{"GET", "/v1/openapi.json", s.openapiJSON},
		{"GET", "/v1/openapi.yaml", s.openapiYAML},
		{"GET", "/v1/cascades", s.listCascades},
		{"GET", "/v1/runs", s.listRuns},
		{"POST", "/v1/runs", s.startRun},
		{"GET", "/v1/runs/{id}", s.getRun},
		{"GET", "/v1/runs/{id}/events", s.runEvents},
		{"POST", "/v1/runs/{id}/answer", s.answerRun},
		{"POST", "/v1/runs/{id}/cancel", s.cancelRun},
		{"POST", "/v1/runs/{id}/resume", s.resumeRun},
		{"POST", "/v1/runs/{id}/again", s.runAgain},
		{"GET", "/v1/gates", s.listGates},
		{"POST", "/v1/gates/{name}", s.judge},
		{"POST", "/v1/validation-requests", s.openRequest},
		{"GET", "/v1/validation-requests/{task_id}", s.getRequest},
		{"POST", "/v1/validation-requests/{task_id}/responses", s.deliverResponse},
	}
}

// pages are for people.
func (s *Server) pages() []route {
	return []route{
		{"GET", "/{$}", s.runsPage},
		{"GET", "/live", s.runsLive},
		{"GET", "/start", s.startPage},
		{"POST", "/start", s.startForm},
		{"GET", "/runs/{id}", s.runPage},
		{"GET", "/runs/{id}/live", s.runLive},
		{"GET", "/runs/{id}/phase", s.phasePage},
		{"GET", "/runs/{id}/call", s.callPage},
		{"GET", "/runs/{id}/text", s.textPage},
		{"GET", "/runs/{id}/raw", s.rawText},
		{"GET", "/runs/{id}/diff", s.diffPage},
		{"GET", "/runs/{id}/graph", s.graphPage},
		{"GET", "/runs/{id}/graph.svg", s.graphSVG},
		{"GET", "/runs/{id}/proof.svg", s.proofSVG},
		{"POST", "/runs/{id}/answer", s.answerForm},
		{"POST", "/runs/{id}/cancel", s.cancelForm},
		{"POST", "/runs/{id}/resume", s.resumeForm},
		{"GET", "/runs/{id}/receipt", s.receiptPage},
		{"GET", "/runs/{id}/again", s.againPage},
		{"POST", "/runs/{id}/again", s.againPosted},
		{"GET", "/compare", s.comparePage},
		{"GET", "/gates", s.gatesPage},
		{"GET", "/batches", s.batchesPage},
		{"GET", "/trends", s.trendsPage},
		{"GET", "/noes", s.noesPage},
		{"GET", "/trust", s.trustPage},
		{"GET", "/cost", s.costPage},
		{"GET", "/label", s.labelPage},
		{"POST", "/label", s.labelForm},
		{"GET", "/login", s.loginForm},
		{"POST", "/login", s.login},
		{"POST", "/logout", s.logout},
		{"GET", "/static/{name}", s.static},
		{"GET", "/favicon.ico", s.favicon},
	}
}

func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for _, r := range slices.Concat(s.api(), s.pages()) {
		methods[r.path] = append(methods[r.path], r.method)
		mux.HandleFunc(r.method+" "+r.path, s.answered(r.serve))
	}
	for path, allowed := range methods {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			s.refuse(w, r, problems.New(http.StatusMethodNotAllowed, "method_not_allowed", "use "+strings.Join(allowed, " or ")))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, problems.New(http.StatusNotFound, "not_found", "there is nothing at "+r.URL.Path))
	})
	return mux
}

// answered makes a handler of what may return an error.
func (s *Server) answered(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			s.refuse(w, r, err)
		}
	}
}

// refuse answers with an error: a problem for the API, a page for people.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := problems.Of(s.o.Log, w, r, err)
	if !isAPI(r) {
		s.errorPage(w, r, p)
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
	e.Encode(body) // the reader may be gone: nobody is left to tell
	return nil
}
