package main

import (
	"io"
	"net/http"
	neturl "net/url"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestServeLabels checks that a label from the page is in the files that the
// verbs read, and that the page reports missing evidence.
func TestServeLabels(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := unpack("examples"); err != nil {
		t.Fatal(err)
	}
	url, end := serving(t, "examples/ward_retry_flow.yaml", "--model", "scripted")
	if status, answer := call(t, "POST", url+"/v1/runs", `{"cascade": "ward_retry_flow", "input": {"product": "kettle"}, "run_id": "one"}`); status != http.StatusAccepted {
		t.Fatalf("%d: %v", status, answer)
	}
	get := func(path string) (int, string) {
		resp, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	get("/v1/runs/one/events") // until the run has ended
	_, page := get("/label?cascade=ward_retry_flow&by=ann")
	form := neturl.Values{"said": {"n"}, "reason": {"dull"}}
	for _, m := range regexp.MustCompile(`type="hidden" name="([a-z]+)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		form.Set(m[1], m[2])
	}
	resp, err := http.PostForm(url+"/label", form)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	labels, err := os.ReadFile("examples/labels/ann.jsonl")
	if err != nil || !strings.Contains(string(labels), `"good":false,"reason":"dull","by":"ann"`) {
		t.Errorf("%v: %s\n%s", err, labels, page)
	}
	if err := os.WriteFile("examples/labels/bob.jsonl", []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, page := get("/trust?cascade=ward_retry_flow"); !strings.Contains(page, "bob.jsonl: line 1") || !strings.Contains(page, "0 of 1, 0.0 %") && !strings.Contains(page, "1 of 1, 100.0 %") {
		t.Error(page)
	}
	if status, page := get("/cost?cascade=ward_retry_flow"); status != http.StatusOK || !strings.Contains(page, "An accepted output costs") {
		t.Error(status, page)
	}
	if status := end(); status != exitOK {
		t.Errorf("it ended with status %d", status)
	}
}
