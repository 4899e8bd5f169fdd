package runner_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// BenchmarkSink compares a run whose sink encodes every event with a run
// without a sink. The endpoint is on the same machine, and its replies have one
// kilobyte. The runs alternate.
func BenchmarkSink(b *testing.B) {
	body := fmt.Sprintf(`{"choices": [{"message": {"role": "assistant", "content": %q}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 250}}`,
		strings.Repeat("All work and no play makes Jack a \"dull\" boy, or so it’s said.\n", 16))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	}))
	defer server.Close()
	for _, turns := range []int{1, 20, 200} {
		b.Run(fmt.Sprintf("turns=%d", turns), func(b *testing.B) {
			client, err := openai.New(openai.Options{BaseURL: server.URL, APIKey: "key"})
			if err != nil {
				b.Fatal(err)
			}
			written := 0
			with := newRunner(b, runner.WithModel(client), runner.WithSink(event.Func(func(e event.Event) {
				line, err := e.MarshalJSON()
				if err != nil {
					b.Error(err)
				}
				written += len(line)
			})))
			without := newRunner(b, runner.WithModel(client))
			c := parsed(b, with, fmt.Sprintf("cascade_id: talk\nmodel: m\nphases:\n  - {name: a, instructions: Write., rules: {max_turns: %d}}", turns))
			var took [2][]time.Duration
			for b.Loop() {
				for i, r := range []*runner.Runner{without, with} {
					began := time.Now()
					mustRun(b, r, c)
					took[i] = append(took[i], time.Since(began))
				}
			}
			for i := range took {
				slices.Sort(took[i])
			}
			b.ReportMetric(float64(took[1][len(took[1])/2])/float64(took[0][len(took[0])/2]), "ratio")
			b.ReportMetric(float64(written)/float64(b.N)/float64(turns), "bytes/turn")
		})
	}
}
