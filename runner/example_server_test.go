package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

const answering = `
cascade_id: answering
inputs_schema: {question: {type: string}}
phases:
  - name: answer
    instructions: "{{ input.question }}"
    tackle: [stock]
    wards:
      post:
        - {validator: promises_nothing, with: {words: [refund]}, mode: retry, max_attempts: 2}
`

// promisesNothing is a validator of the server.
var promisesNothing = validators.New("promises_nothing", "reject text that promises what only a person may",
	func(_ context.Context, p struct {
		Words []string `json:"words" jsonschema:"what may not be spoken of"`
	}, s validators.Subject) (validators.Verdict, error) {
		for _, word := range p.Words {
			if strings.Contains(strings.ToLower(s.Content), word) {
				return validators.Fail("an answer may not speak of a %s", word), nil
			}
		}
		return validators.Pass("nothing is promised"), nil
	})

// stock is a tool of the server. It changes nothing.
var stock = tool.New("stock", "how many of an article are in stock",
	func(_ context.Context, p struct {
		Article string `json:"article"`
	}) (any, error) {
		return map[string]int{"kettle": 3}[p.Article], nil
	}).WithEffect(tool.None)

// An answerer is one runner and one cascade for all requests.
type answerer struct {
	runner  *runner.Runner
	cascade *cascades.Cascade
	log     *slog.Logger
}

func newAnswerer(m model.Model, j runner.Journal, log *slog.Logger) (*answerer, error) {
	r, err := runner.New(runner.WithModel(m), runner.WithJournal(j),
		runner.WithValidators(promisesNothing), runner.WithTools(stock))
	if err != nil {
		return nil, err
	}
	c, err := r.Parse("answering.yaml", []byte(answering))
	if err != nil {
		return nil, err // syntax.Diagnostics: all errors and warnings
	}
	return &answerer{r, c, log}, nil
}

// ServeHTTP begins a run and streams it as server-sent events. The event text
// has a piece of text, again marks the next try after a rejection, and result
// has the result.
func (a *answerer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var mu sync.Mutex // tries of a phase may stream at the same time
	send := func(kind string, data any) {
		mu.Lock()
		defer mu.Unlock()
		text, _ := json.Marshal(data)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
		_ = http.NewResponseController(w).Flush()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	input := map[string]any{"question": req.FormValue("question")}
	res, err := a.runner.Run(req.Context(), a.cascade, input, // ends with the client's connection
		runner.WithText(func(_, text string) { send("text", text) }),
		runner.WithSink(event.Func(func(e event.Event) {
			if e.Kind == event.AttemptStarted && e.Attempt > 1 {
				send("again", e.Attempt)
			}
			if e.Verdict != nil && e.Verdict.Valid != nil && !*e.Verdict.Valid {
				a.log.Info("refused", "path", e.Path, "reason", e.Verdict.Reason)
			}
		})))
	var no *engine.Error
	if errors.As(err, &no) {
		a.log.Warn("no answer", "code", no.Code, "phase", no.Phase)
	}
	send("result", map[string]any{"status": res.Status, "answer": res.Output})
}

// A server answers questions with one runner. Each request receives its own text and
// events. The server has a validator and a tool of its own.
func Example_server() {
	dir, err := os.MkdirTemp("", "answerer")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	j, err := journal.Open(filepath.Join(dir, "runs.db"), journal.Options{})
	if err != nil {
		panic(err)
	}
	defer j.Close()
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	a, err := newAnswerer(model.Func(clerk), j, log) // in earnest: openai.New, of runner/model/openai
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(a)
	defer server.Close()

	resp, err := http.Get(server.URL + "?question=Have+you+kettles?")
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	streamed, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	fmt.Print(strings.ReplaceAll(string(streamed), "\n\n", "\n"))
	// Output:
	// level=INFO msg=refused path=answer/attempt[1]/post[0] reason="an answer may not speak of a refund"
	// event: text
	// data: "Three, or a refund."
	// event: again
	// data: 2
	// event: text
	// data: "Three."
	// event: result
	// data: {"answer":"Three.","status":"succeeded"}
}

// clerk is a model of few words: it looks up the stock, promises too much, and
// mends it.
func clerk(_ context.Context, req model.Request) (model.Response, error) {
	reply := "Three, or a refund."
	switch last := req.Messages[len(req.Messages)-1]; {
	case req.Attempt > 1:
		reply = "Three."
	case last.Role == model.User:
		return model.Response{ToolCalls: []model.ToolCall{{ID: "1", Name: "stock", Arguments: `{"article": "kettle"}`}}}, nil
	}
	if req.OnText != nil {
		req.OnText(reply)
	}
	return model.Response{Text: reply}, nil
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
