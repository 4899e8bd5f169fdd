//go:build unix

package inspectors

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/request"
)

// hostile returns the answers of untrusted servers.
func hostile(t *testing.T, elsewhere string) http.HandlerFunc {
	pages := map[string]string{
		"/": "home", "/lie": "internal error", "/accent": "prêt", "/page": "<title>Shop</title><p>Welcome</p>",
		"/hidden": `<p style="display: none">Welcome</p>`, "/spin": "<p>Welcome</p><script>for (;;) {}</script>", "/titleonly": "<title>Welcome</title>",
		"/cons": `<p>Welcome</p><script>console.error("broken")</script>`, "/leave": "<script>location = '" + elsewhere + "'</script>", "/ready": "ready",
	}
	hang := func(r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-t.Context().Done():
		}
	}
	drip := func(w http.ResponseWriter, r *http.Request, text string, pause time.Duration) {
		for r.Context().Err() == nil && t.Context().Err() == nil {
			if _, err := w.Write([]byte(text)); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(pause)
		}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if page, found := pages[r.URL.Path]; found {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, page)
			return
		}
		switch r.URL.Path {
		case "/hang":
			hang(r)
		case "/endless":
			drip(w, r, strings.Repeat("x", 1<<16), 0)
		case "/drip", "/noise":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			if r.URL.Path == "/noise" {
				fmt.Fprint(conn, "\x00\x01 no HTTP\r\n\r\n")
				return
			}
			for _, c := range "HTTP/1.1 200 OK\r\nX-A: 1234567890" {
				if _, err := fmt.Fprintf(conn, "%c", c); err != nil || t.Context().Err() != nil {
					return
				}
				time.Sleep(time.Second)
			}
		case "/away":
			http.Redirect(w, r, elsewhere, http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/redir":
			http.Redirect(w, r, "/ready", http.StatusFound)
		case "/short":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "ready")
		case "/chunked":
			fmt.Fprint(w, "rea")
			w.(http.Flusher).Flush()
			fmt.Fprint(w, "dy")
		case "/header":
			w.Header().Set("X-State", "ready")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

// hostileTree returns a worktree with untrusted files and programs.
func hostileTree(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "tree")
	files := map[string]string{
		"docs/a.md": "hello world\n", "big.txt": strings.Repeat("x", 9<<20) + "needle",
		"orphan.sh": "sleep 30 &\nexit 0\n", "flood.sh": "yes\n", "liar.sh": "echo '=== 2 failed, 3 passed in 0.10s ==='\nexit 0\n", "three.sh": "exit 3\n",
		"env.sh": "test -n \"$CAPSTAN_SECRET\"\n",
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(filepath.Dir(dir), "outside.txt")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	symlink(t, outside, filepath.Join(dir, "link.txt"))
	symlink(t, "/dev/zero", filepath.Join(dir, "zero"))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestHostileCases checks that hostile servers, files and programs get no PASS,
// and that honest ones do.
func TestHostileCases(t *testing.T) {
	source, err := os.ReadFile("../../../../shared/data/gates/request_live.yaml")
	if err != nil {
		t.Skip(err)
	}
	var cases []struct {
		ID, Kind, Want, Why, Hint, Desc string
		Exec, Browser                   bool
	}
	if err := yaml.Unmarshal(source, &cases); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CAPSTAN_SECRET", "hunter2")
	_, missing := FindBrowser("")
	elsewhere := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<p>Welcome, secret</p>") })
	up, dir := server(t, hostile(t, elsewhere.URL)), hostileTree(t)
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			r := request.Request{TaskID: "task-1", ValidationType: request.Code, WorktreePath: dir, TimeoutSeconds: 10, Services: &request.Services{AppURL: up.URL, APIURL: up.URL}}
			if c.Browser {
				if missing != nil || os.Getenv("CAPSTAN_SLOW") == "" {
					t.Skip("takes a minute: .ci/slow live starts it; ", missing)
				}
				r.ValidationType, r.TimeoutSeconds = request.Browser, 60
				if c.Kind == "hostile" {
					r.TimeoutSeconds = 20
				}
			}
			r.Criteria = []request.Criterion{{ID: "1", Description: c.Desc, Hint: c.Hint}}
			i := &Inspector{AllowExec: c.Exec, Network: Network{Services: true}, EvidenceDir: t.TempDir(), limits: limits{Answer: 2 * time.Second, Criterion: time.Minute}}
			given, err := i.Inspect(t.Context(), &r)
			if err != nil {
				t.Fatal(err)
			}
			j := request.Judge(&r, given, request.Options{Root: dir, Evidence: i.EvidenceDir, Strict: true})
			if !strings.Contains(c.Want, string(j.Effective)) {
				t.Errorf("%s (%s): %s, want %s: %s", c.Hint, c.Why, j.Effective, c.Want, j.Reason)
			}
		})
	}
}
