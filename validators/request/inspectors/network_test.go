package inspectors

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

// counted is a server that counts what reaches it, connections too.
func counted(t *testing.T, handle http.HandlerFunc) (s *httptest.Server, n *atomic.Int32) {
	t.Helper()
	n = &atomic.Int32{}
	s = server(t, func(w http.ResponseWriter, r *http.Request) { n.Add(1); handle(w, r) })
	return s, n
}

func TestNetworkRefuses(t *testing.T) {
	t.Parallel()
	inside, reached := counted(t, func(http.ResponseWriter, *http.Request) {})
	allowed := server(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	host := strings.TrimPrefix(allowed.URL, "http://")
	other := strings.TrimPrefix(inside.URL, "http://")
	port, inPort := portOf(t, allowed), portOf(t, inside)
	both := &request.Services{APIURL: allowed.URL, AppURL: inside.URL}
	const pass, blocked = request.Passed, request.Unreachable
	for _, c := range []struct {
		services *request.Services
		hosts    []string
		methods  []string
		hint     string
		status   request.Status
		evidence string
	}{
		{both, []string{host}, nil, "url: /x", pass, "status 200"},
		{both, []string{host}, nil, "url: HEAD /x", pass, "status 200"},
		{both, []string{"127.0.0.1"}, nil, "url: /x", pass, "status 200"},
		{both, []string{}, nil, "url: /x", blocked, "not checked: host \"" + host + "\" is not allowed; allowed are none; whoever starts Capstan allows it with --allow-host " + host},
		{both, []string{"example.com"}, nil, "url: /x", blocked, "capstan validate-request: --allow-services"},
		{both, []string{"127.0.0.1:1"}, nil, "url: /x", blocked, "--allow-host " + host},
		{both, []string{host}, nil, "url: POST /x", blocked, "--allow-method POST"},
		{both, []string{host}, nil, "url: DELETE /x status 404", blocked, "--allow-method DELETE"},
		{both, []string{host}, nil, "url: OPTIONS /x", blocked, "--allow-method OPTIONS"},
		{both, []string{host}, []string{"POST"}, "url: POST /x", pass, "status 200"},
		{both, []string{host}, nil, "url: POST /x status 200", blocked, "--allow-method POST"},
		{both, []string{host}, nil, "url: " + inside.URL + "/x status 404", blocked, "--allow-host " + other},
		{both, []string{host}, nil, "url: /x?to=" + url.QueryEscape(inside.URL), blocked, "--allow-host " + other},
		{&request.Services{APIURL: allowed.URL}, []string{host}, nil, "port: " + strconv.Itoa(port), pass, "listens"},
		{&request.Services{APIURL: allowed.URL}, []string{host}, nil, "port: " + strconv.Itoa(inPort), blocked, "--allow-host " + other},
		{nil, []string{}, nil, "port: " + strconv.Itoa(inPort), blocked, "--allow-host " + other},
		{&request.Services{RequiredPorts: []int{inPort}}, []string{}, nil, "file: .", blocked, "--allow-host " + other},
		{&request.Services{APIURL: "http://localhost:" + strconv.Itoa(inPort)}, []string{"127.0.0.2"}, nil, "url: /", blocked, "--allow-host localhost"},
		{&request.Services{AppURL: inside.URL}, []string{host}, nil, "page: /x", blocked, "--allow-host " + other},
	} {
		i := &Inspector{Network: Network{Hosts: c.hosts, Methods: c.methods}}
		r := request.Request{Services: c.services, WorktreePath: t.TempDir()}
		if strings.HasPrefix(c.hint, "page") {
			r.ValidationType = request.Browser
		}
		one(t, i, r, c.hint, c.status, c.evidence)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests reached a server that is not allowed", n)
	}
}

// A page is shown through a proxy: neither what it loads nor where it leads leaves the
// allowed hosts, and no form is sent.
func TestNetworkPages(t *testing.T) {
	needChromium(t)
	inside, reached := counted(t, func(http.ResponseWriter, *http.Request) {})
	var sent atomic.Int32
	allowed := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			sent.Add(1)
		}
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/image":
			w.Write([]byte(`<h1>Hello</h1><img src="` + inside.URL + `/x.png">`))
		case "/socket":
			w.Write([]byte(`<h1>Hello</h1><script>new WebSocket("` + strings.Replace(inside.URL, "http", "ws", 1) + `")</script>`))
		case "/fetch":
			w.Write([]byte(`<h1>Hello</h1><script>fetch("/x", {method: "POST"})</script>`))
		default:
			w.Write([]byte(`<h1>Hello</h1><form method="post" action="/sent"><button>Send</button></form>`))
		}
	})
	host := strings.TrimPrefix(allowed.URL, "http://")
	i := &Inspector{Network: Network{Hosts: []string{host}}, EvidenceDir: t.TempDir()}
	r := request.Request{Services: &request.Services{AppURL: allowed.URL}, ValidationType: request.Browser}
	one(t, i, r, `page: / text "Hello"`, request.Passed, "")
	one(t, i, r, `page: /socket text "Hello"`, request.Passed, "")
	one(t, i, r, `page: /image text "Hello" element "#none"`, request.Unreachable, "--allow-host "+strings.TrimPrefix(inside.URL, "http://"))
	one(t, i, r, `page: /fetch text "Hello" element "#none"`, request.Unreachable, "--allow-method POST")
	one(t, i, r, `page: / click "button" text "Sent"`, request.Unreachable, "--allow-method POST")
	if reached.Load() != 0 || sent.Load() != 0 {
		t.Errorf("%d requests reached a host that is not allowed, %d had another method than GET", reached.Load(), sent.Load())
	}
}
