package pages

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/measures/trust"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

//go:embed page/*.html
var pageFiles embed.FS

//go:embed static
var staticFiles embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"shown": reports.Visible, "line": reports.Name, "plural": plural, "cost": formatMoney, "took": formatDuration, "seconds": formatSeconds, "size": formatSize,
		"clock": reports.Clock, "date": reports.Time, "stamp": formatStamp, "percent": formatPercent, "sign": statusSign, "word": statusWord, "asset": asset,
		"deref": func(b *bool) bool { return b != nil && *b }, "kappa": trust.Kappa, "score": formatScore, "hundred": func(share float64) float64 { return 100 * share },
		"count":  func(n reflect.Value) string { return formatCount(n.Int()) },     // for all integer types
		"anchor": func(path reflect.Value) string { return anchor(path.String()) }, // for [event.Path] too
	}).ParseFS(pageFiles, "page/*.html"))
})

// A frame is the common part of all pages.
type frame struct {
	Title    string
	Here     string // the selected entry of the navigation
	HasToken bool
	Measures bool // gates can be measured
}

func (s *Site) frame(title, here string) frame {
	return frame{title, here, !s.o.Guard.Open(), s.o.Scales != nil && len(s.o.Cascades) > 0}
}

// render writes a page or a part of one. It writes nothing if the template fails.
func (s *Site) render(w http.ResponseWriter, status int, name string, view any) error {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, view); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
	return nil
}

// renderPart writes a page. If the client asks for a part, it only writes the
// part.
func (s *Site) renderPart(w http.ResponseWriter, r *http.Request, status int, name string, view any) error {
	if isPart(r) {
		name += "-part"
	}
	return s.render(w, status, name, view)
}

// part renders a part of a page for a stream.
func part(name string, view any) (string, error) {
	var b strings.Builder
	err := templates().ExecuteTemplate(&b, name, view)
	return b.String(), err
}

// isPart reports whether the client asks for a part of a page.
func isPart(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

type errorView struct {
	frame
	Problem *orders.Problem
}

// Error shows a problem as a page.
func (s *Site) Error(w http.ResponseWriter, r *http.Request, p *orders.Problem) {
	if s.renderPart(w, r, p.Status, "error", errorView{s.frame(p.Title, ""), p}) != nil {
		http.Error(w, p.Title, p.Status)
	}
}

// kinds are the content types of static files.
var kinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".md": "text/plain; charset=utf-8", ".svg": "image/svg+xml"}

// static serves a static file. Its address contains its digest, so that browsers may store it.
func (s *Site) static(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	text, err := staticFiles.ReadFile("static/" + name)
	kind := kinds[name[max(strings.LastIndexByte(name, '.'), 0):]]
	if err != nil || kind == "" {
		return orders.NewProblem(http.StatusNotFound, "not_found", "there is no file of that name")
	}
	w.Header().Set("Content-Type", kind)
	if r.URL.RawQuery != "" {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	w.Write(text)
	return nil
}

// favicon serves pages without an icon, such as JSON and texts.
func (s *Site) favicon(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, asset("icon.svg"), http.StatusSeeOther)
	return nil
}

var digests sync.Map

// asset returns the address of a static file.
func asset(name string) string {
	if address, ok := digests.Load(name); ok {
		return address.(string)
	}
	text, _ := staticFiles.ReadFile("static/" + name)
	address := "/static/" + name + "?" + anchor(string(text))
	digests.Store(name, address)
	return address
}
