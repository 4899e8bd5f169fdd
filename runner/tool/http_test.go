package tool_test

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/tooltest"
)

// site starts a small web site on the loopback interface. It returns the URL
// and the host with its port.
func site(t *testing.T) (base, host string) {
	t.Helper()
	mux := http.NewServeMux()
	say := func(path, content, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{content}
			fmt.Fprint(w, body)
		})
	}
	say("/text", "text/plain; charset=utf-8", "hällo")
	say("/json", "application/problem+json", `{"a": 1}`)
	say("/png", "image/png", "\x89PNG")
	say("/lies", "text/html", "\x89PNG")
	say("/odd", "text/; ;", "x")
	mux.HandleFunc("/missing", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "not here", 404) })
	mux.HandleFunc("/headers", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Method, r.Header["Authorization"], r.Header["Referer"], r.Header["Cookie"])
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		http.Redirect(w, r, r.URL.Query().Get("u"), http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprintln(w, strings.Repeat("x", 1000))
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		for range 100 {
			fmt.Fprint(z, strings.Repeat("x", 1<<20))
		}
	})
	mux.HandleFunc("/hang", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	u, _ := url.Parse(s.URL)
	return s.URL, u.Host
}

func get(url string) map[string]any { return map[string]any{"url": url} }

func TestHTTPGet(t *testing.T) {
	base, host := site(t)
	tl := builtin(t, "http_get", tool.Options{Hosts: []string{host}})
	tooltest.Run(t, tl, get(base+"/text"))
	for path, want := range map[string]string{
		"/text":               `{"body":"hällo","content_type":"text/plain; charset=utf-8","status":200}`,
		"/json":               `{"body":"{\"a\": 1}","content_type":"application/problem+json","status":200}`,
		"/missing":            `{"body":"not here\n","content_type":"text/plain; charset=utf-8","status":404}`,
		"/to?u=/to?u=headers": `{"body":"GET[] [] []","content_type":"text/plain; charset=utf-8","status":200}`,
	} {
		if r := run(t, tl, get(base+path)); asJSON(t, r.Value) != want {
			t.Errorf("%s: got %s, want %s", path, asJSON(t, r.Value), want)
		}
	}
	for path, want := range map[string]string{
		"/png":                          "image/png is not text",
		"/lies":                         "byte 0 is not UTF-8",
		"/odd":                          "not text",
		"/endless":                      "more than 4194304 bytes",
		"/bomb":                         "more than 4194304 bytes",
		"/loop":                         "more than 10 redirects",
		"/to?u=http://example.com/":     `redirected: host "example.com:80" is not allowed`,
		"/to?u=http://a:b@" + host:      "redirected: URLs with a user name or password are not fetched",
		"/to?u=file:///etc/passwd":      `redirected: "file" is not http`,
		"/to?u=http://169.254.169.254/": `redirected: host "169.254.169.254:80" is not allowed`,
	} {
		fails(t, tl, get(base+path), want)
	}
}

func TestHTTPGetTimeout(t *testing.T) {
	base, host := site(t)
	tl := builtin(t, "http_get", tool.Options{Hosts: []string{host}, Timeout: 200 * time.Millisecond})
	fails(t, tl, get(base+"/hang"), "GET "+host+": no answer in 200ms")
}

func TestHTTPGetRefuses(t *testing.T) {
	_, host := site(t)
	fails(t, builtin(t, "http_get", tool.Options{}), get("http://example.com/"), "--allow-host example.com")
	tl := builtin(t, "http_get", tool.Options{Hosts: []string{host, "*.example.com", "example.org:8080"}})
	for bad, want := range map[string]string{
		"ftp://" + host:                        `"ftp" is not http or https`,
		"file:///etc/passwd":                   `"file" is not http or https`,
		"//" + host:                            `"" is not http or https`,
		"http://user:pass@" + host:             "user name or password",
		"http://user@" + host:                  "user name or password",
		"http://127.0.0.1:1/":                  "is not allowed; allowed are " + host,
		"http://example.com/":                  "is not allowed",
		"http://badexample.com/":               "is not allowed",
		"http://example.org/":                  "is not allowed",
		"https://example.org:80801/":           "is not allowed",
		"http://www.example.com.evil.org/":     "is not allowed",
		"http://evil.org/?www.example.com":     "is not allowed",
		"http://evil.org#www.example.com":      "is not allowed",
		`http://evil.org\www.example.com/`:     "not a URL",
		"http://www.example.com@evil.org/":     "user name or password",
		"http://[::1]/":                        "is not allowed",
		"http:///path":                         "is not allowed",
		"http://2130706433/":                   "is not allowed",
		"http://www.example.com\r\nX: y/":      "not a URL",
		"":                                     `"" is not http or https`,
		"http://" + strings.Repeat("x", 1<<20): "is not allowed",
	} {
		fails(t, tl, get(bad), want)
	}
}

// A name with a private address fails unless the address is in the list.
func TestHTTPGetPrivateAddresses(t *testing.T) {
	base, host := site(t)
	_, port, _ := strings.Cut(host, ":")
	for _, hosts := range [][]string{{"127.0.0.1"}, {"[::ffff:127.0.0.1]:" + port}, {"LOCALHOST."}, {"localhost:" + port}, {"localhost", "127.0.0.1"}} {
		url := base + "/text"
		if strings.Contains(strings.ToLower(hosts[0]), "localhost") {
			url = "http://localhost:" + port + "/text"
		}
		if r := run(t, builtin(t, "http_get", tool.Options{Hosts: hosts}), get(url)); r.Failed {
			t.Errorf("%v: %s", hosts, r.Text())
		}
	}
	fails(t, builtin(t, "http_get", tool.Options{Hosts: []string{"127.0.0.1:1"}}), get(base), "is not allowed")
	fails(t, builtin(t, "http_get", tool.Options{Hosts: []string{"*.0.0.1"}}), get(base), "is not allowed")
}
