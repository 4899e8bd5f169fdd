package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestServedNumbers checks that the HTTP API and the page show every digit of a
// number.
func TestServedNumbers(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"exact.yaml":          "cascade_id: exact\nphases: [{name: say, instructions: 'k is {{ input.k }}', output_schema: {properties: {n: {type: number}}}}]\n",
		"exact.scripted.yaml": `[{phase: say, contains: "k is [12345678901234567890, 1.10, 1e400]", reply: '{"n": [12345678901234567890, 1.0, 1e2]}'}]`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url, _ := serving(t, "exact.yaml", "--model", "scripted")
	order := `{"cascade": "exact", "input": {"k": [12345678901234567890, 1.10, 1e400]}, "run_id": "one"}`
	for _, want := range []int{http.StatusAccepted, http.StatusOK} { // the second request repeats the first
		if status, answer := call(t, "POST", url+"/v1/runs", order); status != want {
			t.Fatalf("status %d: %v", status, answer)
		}
		if want == http.StatusAccepted {
			get(t, url+"/v1/runs/one/events") // until the run has ended
		}
	}
	other := strings.Replace(order, "12345678901234567890", "12345678901234567891", 1)
	if status, answer := call(t, "POST", url+"/v1/runs", other); status != http.StatusConflict {
		t.Errorf("another number is the same order: %d, %v", status, answer)
	}
	for _, path := range []string{"/v1/runs/one", "/v1/runs/one/events", "/runs/one"} {
		body := get(t, url+path)
		for _, digits := range []string{"12345678901234567890", "1.10", "1e400", "1.0", "1e2"} {
			if path == "/v1/runs/one" && (digits == "1.10" || digits == "1e400") {
				continue // without the input
			}
			if !strings.Contains(body, digits) {
				t.Errorf("%s has no %s:\n%s", path, digits, body)
			}
		}
	}
	status, answer := call(t, "POST", url+"/v1/gates/json_schema", `{"content": "12345678901234567890", "with": {"schema": {"minimum": 12345678901234567890}}}`)
	if status != http.StatusOK || answer["valid"] != true {
		t.Errorf("got %d, %v", status, answer)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
