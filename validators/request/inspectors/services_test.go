package inspectors

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
)

func server(t *testing.T, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s
}

// closedPort is a port that no program uses (tcpmux). A port that was free a moment
// ago could be another process's port by now.
const closedPort = 1

func portOf(t *testing.T, s *httptest.Server) int {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestURLs(t *testing.T) {
	t.Parallel()
	elsewhere := server(t, func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("a foreign host was asked for %s", r.URL)
	})
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	api := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/", "/api/":
			w.WriteHeader(http.StatusNotFound)
		case "/api/health":
			fmt.Fprintf(w, `{"status": "ok", "q": %q}`, r.URL.Query().Get("q"))
		case "/api/items":
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
			}
		case "/api/away":
			http.Redirect(w, r, elsewhere.URL+"/x", http.StatusFound)
		case "/api/near":
			http.Redirect(w, r, "/api/health", http.StatusFound)
		case "/api/circle":
			http.Redirect(w, r, "/api/circle", http.StatusFound)
		case "/api/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/api/big":
			for range 100 {
				w.Write([]byte(strings.Repeat("x", 1<<10)))
			}
		case "/api/hang":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		case "/api/broken":
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("half"))
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	const pass, fail, blocked = request.Pass, request.Fail, request.Blocked
	r := request.Request{Services: &request.Services{APIURL: api.URL + "/api"}}
	i := &Inspector{limits: limits{Bytes: 10_000, Answer: time.Second}}
	for _, c := range []struct {
		hint     string
		status   request.Verdict
		evidence string
	}{
		{"url: /health", pass, "answered with status 200"},
		{"url: health", pass, "/api/health answered"},
		{"url: /api/health", pass, "/api/health answered"},
		{"url: " + api.URL + "/api/health", pass, ""},
		{"url: GET /health status 200 contains '\"ok\"'", pass, ""},
		{"url: /health?q=it contains it", pass, ""},
		{"url: /health status 204", fail, "status 200, not 204"},
		{"url: /health contains bad", fail, "does not contain"},
		{"url: POST /items status 201", pass, "POST"},
		{"url: /items POST status 200", fail, "201, not 200"},
		{"url: HEAD /health", pass, ""},
		{"url: /nope", fail, "status 500"},
		{"url: /nope status 500", pass, ""},
		{"url: /near contains ok", pass, "/api/near answered with status 302 and leads to " + api.URL + "/api/health; GET " + api.URL + "/api/health answered with status 200"},
		{"url: /near status 200", pass, ""},
		{"url: /near status 302", pass, "leads to " + api.URL + "/api/health, which is not followed"},
		{"url: /near status 301", fail, "302 and leads to " + api.URL + "/api/health, which is not followed, not 301"},
		{"url: /health status 302", fail, "status 200, not 302"},
		{"url: /away", fail, "leads to " + elsewhere.URL + "/x, which is not followed"},
		{"url: /away status 302", pass, ""},
		{"url: /circle", fail, "status 302"},
		{"url: /file", fail, "leads to file:///etc/passwd, which is not followed"},
		{"url: /big", pass, ""},
		{"url: /big contains y", blocked, "more was not read"},
		{"url: /hang contains x", blocked, "could not be read to the end"},
		{"url: /broken contains y", blocked, "could not be read to the end"},
		{"url: " + elsewhere.URL, blocked, "is not one of the request's services"},
		{"url: //" + strings.TrimPrefix(elsewhere.URL, "http://"), blocked, "is not one of"},
		{"url: file:///etc/passwd", blocked, "is not one of"},
		{"url: javascript:alert(1)", blocked, "is not one of"},
		{"url: 'http://[::1'", blocked, "is no URL"},
		{"GET /api/health returns 200", blocked, "declares no check"},
	} {
		one(t, i, r, c.hint, c.status, c.evidence)
	}
	var steps []string
	for _, a := range ask(t, i, r, "url: /near").Evidence.APIResponses {
		steps = append(steps, fmt.Sprint(strings.TrimPrefix(a.Endpoint, api.URL), a.StatusCode))
	}
	if got := strings.Join(steps, " "); got != "/api/near302 /api/health200" {
		t.Errorf("got %s", got)
	}
	got := ask(t, i, r, "url: /health?q="+strings.Repeat("é", 600)).Evidence.APIResponses
	if len(got) != 1 || got[0].Method != "GET" || got[0].StatusCode != 200 || !strings.HasPrefix(got[0].Endpoint, api.URL) || len([]rune(got[0].Snippet)) != 500 {
		t.Errorf("got %+v", got)
	}
}

func TestPorts(t *testing.T) {
	up := server(t, func(http.ResponseWriter, *http.Request) {})
	open, closed := portOf(t, up), closedPort
	dir := tree(t, map[string]string{"a.md": "x"})
	const pass, fail, blocked = request.Pass, request.Fail, request.Blocked
	for _, c := range []struct {
		services *request.Services
		hint     string
		status   request.Verdict
		evidence string
	}{
		{nil, fmt.Sprintf("port: %d", open), pass, "listens at 127.0.0.1"},
		{nil, fmt.Sprintf("port: %d", closed), fail, "nothing listens at 127.0.0.1"},
		{nil, fmt.Sprintf("Check that port %d is listening.", open), blocked, "declares no check"},
		{&request.Services{AppURL: "http://localhost:1"}, fmt.Sprintf("port: %d", open), pass, "listens at localhost"},
		{&request.Services{RequiredPorts: []int{closed}}, fmt.Sprintf("port: %d", closed), blocked, "required port"},
		{&request.Services{RequiredPorts: []int{closed}}, fmt.Sprintf("port: %d", open), blocked, "required port"},
		{&request.Services{RequiredPorts: []int{closed}}, "file: a.md", blocked, "required port"},
		{&request.Services{RequiredPorts: []int{closed}}, "file: nope.md", blocked, "required port"},
		{&request.Services{RequiredPorts: []int{closed}}, "", blocked, "required port"},
		{&request.Services{RequiredPorts: []int{open}}, "file: a.md", pass, ""},
		{&request.Services{APIURL: up.URL, RequiredPorts: []int{closed}}, "url: /", blocked, "required port"},
		{&request.Services{APIURL: up.URL, RequiredPorts: []int{99999}}, "url: /", blocked, "no such port"},
		{&request.Services{APIURL: up.URL, RequiredPorts: []int{open}}, "url: /", pass, ""},
		{&request.Services{APIURL: fmt.Sprintf("http://127.0.0.1:%d", closed)}, "url: /", blocked, "dial tcp"},
		{&request.Services{AppURL: up.URL}, "url: /", pass, ""},
		{&request.Services{RequiredPorts: []int{open}}, fmt.Sprintf("url: http://127.0.0.1:%d/", open), pass, ""},
		{nil, "url: " + up.URL, blocked, "is not one of the request's services"},
		{nil, "url: /", blocked, "names no service"},
		{&request.Services{AppURL: "ftp://127.0.0.1/"}, "url: /", blocked, "app_url is not http or https"},
		{&request.Services{APIURL: "http://"}, "url: /", blocked, "api_url names no host"},
		{&request.Services{APIURL: "http://[::1"}, "url: /", blocked, "api_url is no URL"},
	} {
		one(t, &Inspector{}, request.Request{WorktreePath: dir, Services: c.services}, c.hint, c.status, c.evidence)
	}
}

// TestPassword checks that no message shows the password of a URL.
func TestPassword(t *testing.T) {
	for _, status := range []int{200, 302} {
		up := server(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://ann:hunter2@example.test/")
			w.WriteHeader(status)
		})
		at := strings.Replace(up.URL, "http://", "http://ann:hunter2@", 1)
		got := ask(t, &Inspector{}, request.Request{Services: &request.Services{APIURL: at}}, "url: /", "url: http://ann:hunter2@example.test/")
		if text := fmt.Sprintf("%+v", got); strings.Contains(text, "hunter2") {
			t.Errorf("%s", text)
		}
		up.Close()
		got = ask(t, &Inspector{}, request.Request{Services: &request.Services{APIURL: at}}, "url: /")
		if text := fmt.Sprintf("%+v", got); strings.Contains(text, "hunter2") || got.Verdict != request.Blocked {
			t.Errorf("%s", text)
		}
	}
}

// TestServicesRequests checks that a service only gets the declared requests.
func TestServicesRequests(t *testing.T) {
	var asked atomic.Int32
	up := server(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	ask(t, &Inspector{}, request.Request{Services: &request.Services{APIURL: up.URL}}, "url: /a", "url: /b; url: POST /c")
	if n := asked.Load(); n != 3 {
		t.Errorf("asked %d times", n)
	}
}
