package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

// diagnosed returns the output of capstan doctor in an environment.
func diagnosed(t *testing.T, env map[string]string, args ...string) (diagnosis, int, string) {
	t.Helper()
	var out bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(name string) string { return env[name] }}
	status := c.Run(t.Context(), append([]string{"doctor", "--json"}, args...))
	var d diagnosis
	if status != exitUsage {
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
	}
	return d, status, out.String()
}

func (d diagnosis) of(name string) sign {
	for _, s := range d.Checks {
		if s.Kind == name || s.Name == name {
			return s
		}
	}
	return sign{}
}

// TestDoctorAsksForNothingPaid checks that doctor only requests the list of
// models, with the endpoint's own key. A redirect must not get a key.
func TestDoctorAsksForNothingPaid(t *testing.T) {
	const key = "sk-0123456789abcdef"
	status := http.StatusOK
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("asked for %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		w.Header().Set("Location", other.URL)
		w.WriteHeader(status)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_BASE_URL": strings.Replace(server.URL, "http://", "http://me:pass-word@", 1) + "/v1", "OPENAI_API_KEY": key, "CAPSTAN_STORE": "off"}
	for answer, state := range map[int]string{200: healthy, 404: healthy, 302: healthy, 401: broken, 403: broken, 503: broken} {
		status = answer
		d, exited, out := diagnosed(t, env)
		if s := d.of("openai"); s.State != state || d.OK != (state == healthy) || (exited == exitOK) != d.OK {
			t.Errorf("%d: %+v, well %v, status %d", answer, s, d.OK, exited)
		}
		if strings.Contains(out, key) || strings.Contains(out, "pass-word") {
			t.Errorf("a secret is reported: %s", out)
		}
	}
	env["OPENAI_BASE_URL"] = "http://me:pass-word@127.0.0.1:1/v1" // no server uses this port
	if d, _, out := diagnosed(t, env); d.of("openai").State != broken || strings.Contains(out, "pass-word") {
		t.Errorf("gone: %s", out)
	}
	env["OPENAI_BASE_URL"] = "http://%zz/pass-word"
	if d, _, out := diagnosed(t, env); d.of("openai").State != broken || strings.Contains(out, "pass-word") {
		t.Errorf("no address: %s", out)
	}
}

func TestDoctorStore(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no store"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, state := range map[string]string{
		"off": absent, filepath.Join(dir, "new/deep/runs.db"): healthy, text: broken, filepath.Join(text, "below"): broken, dir: broken,
		"postgres://me:pass-word@127.0.0.1:1/none": broken,
	} {
		d, _, out := diagnosed(t, map[string]string{"CAPSTAN_STORE": file})
		if s := d.of("store"); s.State != state || strings.Contains(out, "pass-word") {
			t.Errorf("%s: %+v", file, s)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("something is left: %v", entries)
	}
}

func TestDoctorFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "post.yaml")
	text := `cascade_id: post
validators: {facts: {exec: [cat], env: [CAPSTAN_TEST_NOT_THERE]}}
phases:
  - {name: a, instructions: a, model: "mistral:small", wards: {post: [{validator: facts, mode: blocking}]}}
  - {name: b, instructions: b, model: "local:x"}
providers: {local: {base_url: "ENDPOINT/v1"}}
`
	endpoint := httptest.NewServer(http.NotFoundHandler())
	defer endpoint.Close()
	text = strings.ReplaceAll(text, "ENDPOINT", endpoint.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, status, out := diagnosed(t, map[string]string{"CAPSTAN_STORE": "off"}, file)
	if status != exitBroken || d.of("mistral:small").State != missing || d.of("CAPSTAN_TEST_NOT_THERE").State != missing || d.of("local:x").State != healthy {
		t.Errorf("status %d\n%s", status, out)
	}
	if d, _, out := diagnosed(t, map[string]string{"CAPSTAN_STORE": "off", "OLLAMA_BASE_URL": endpoint.URL + "/v1"}, file, "--model", "mistral:small=ollama:x"); d.of("ollama:x").State != healthy {
		t.Error(out)
	}
	if _, status, out := diagnosed(t, nil, file+".not"); status != exitUsage {
		t.Errorf("status %d\n%s", status, out)
	}
}

func TestDoctorPricesAge(t *testing.T) {
	date := model.PublicPrices().Date
	for days, state := range map[int]string{0: healthy, 180: healthy, 181: outdated} {
		s := pricesSign(date.AddDate(0, 0, days))
		if s.State != state || (s.Fix != "") != (state == outdated) || !strings.Contains(s.Message, date.Format("2006-01-02")+", from "+model.PublicPrices().Source) {
			t.Errorf("after %d days: %+v", days, s)
		}
	}
}
