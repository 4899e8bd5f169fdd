package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/internal/mcpserver"
	"github.com/seed61713e19/capstan/validators"
)

// TestNonsense checks that a session continues after any line.
func TestNonsense(t *testing.T) {
	o := options()
	o.MaxMessage = 300
	p := begin(t.Context(), t, o)
	for _, c := range []struct{ line, want string }{
		{calling(1, "json", `{"content": "1"}`), `"id":1`},                           // before initialize
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"id":2`},                 // the same
		{"garbage", `"code":-32700`},                                                 //
		{`{"jsonrpc":`, `"code":-32700`},                                             //
		{"\xff\xfe", `"code":-32700`},                                                //
		{`{"jsonrpc":"2.0","id":"` + "\xff" + `","method":"ping"}`, `"code":-32700`}, // not UTF-8
		{"42", `"code":-32600`},
		{"null", `"code":-32600`},
		{"[]", `"code":-32600`},
		{`[1]`, `"code":-32600`},
		{`{"id":3,"method":"ping"}`, `"id":3`},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"code":-32600`},
		{strings.Repeat("x", 301), "at most 300 bytes"},
		{strings.Repeat("[", 299), `"code":-32700`},
		{`{"jsonrpc":"2.0","id":4,"method":"nonsense"}`, `"id":4`},
		{`{"jsonrpc":"2.0","id":5,"method":"initialize","params":7}`, `"id":5`},
		{`{"jsonrpc":"2.0","id":6,"method":"ping"}`, `"result":{}`},
	} {
		p.send(c.line, "", " ")
		got, _ := json.Marshal(p.next())
		if !strings.Contains(string(got), c.want) {
			t.Errorf("%.60s: got %s", c.line, got)
		}
	}
	p.send(`{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","method":"nonsense"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	p.greet()
	for _, c := range []struct{ line, want string }{
		{hello, "duplicate"},
		{calling(1, "json", `{"content": "1"}`), `"valid":true`},
		{calling(2, "nothing", `{}`), "unknown tool"},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}`, `"error"`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call"}`, `"error"`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}`, `"error"`},
	} {
		p.send(c.line)
		if got, _ := json.Marshal(p.next()); !strings.Contains(string(got), c.want) {
			t.Errorf("%s: got %s", c.line, got)
		}
	}
	p.send("[" + `{"jsonrpc":"2.0","id":"a","method":"ping"},7,{"jsonrpc":"2.0","id":"b","method":"ping"}` + "]")
	ids := map[any]bool{}
	for range 3 {
		ids[p.next()["id"]] = true
	}
	if !ids["a"] || !ids["b"] || !ids[nil] {
		t.Errorf("of a batch %v were answered", ids)
	}
	io.WriteString(p.in, `{"jsonrpc":"2.0","id":`)
	p.in.Close()
	if m := p.next(); m["error"] == nil {
		t.Errorf("got %v", m)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestRequestID checks that ids are strings or integers, and that a wrong id cancels nothing.
func TestRequestID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, release := make(chan string, 2), make(chan struct{})
		p := begin(t.Context(), t, options(held(begun, release)))
		p.greet()
		p.send(calling(1, "held", `{"content": "it"}`))
		<-begun
		for _, id := range []string{"1.5", "1e-1", "9007199254740993", "-9007199254740992", "1e30", "null", "true", "[1]", `"a", "id": "b"`} {
			p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
			if m := p.next(); m["id"] != nil || m["error"] == nil {
				t.Errorf("%s: got %v", id, m)
			}
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}`)
		for id, want := range map[string]any{`"1.5"`: "1.5", `""`: "", "2": 2.0, "20e-1": 2.0, "0": 0.0, "-3": -3.0, "9007199254740991": 9007199254740991.0} {
			p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
			if m := p.next(); m["id"] != want || m["result"] == nil {
				t.Errorf("%s: got %v", id, m)
			}
		}
		synctest.Wait()
		select {
		case what := <-begun:
			t.Errorf("the call was %s", what)
		default:
		}
		close(release)
		if m := p.next(); m["id"] != 1.0 || m["result"] == nil {
			t.Errorf("got %v", m)
		}
		p.in.Close()
		<-p.ended
	})
}

// held waits until it is released or its call is cancelled.
func held(begun chan<- string, release <-chan struct{}) validators.Validator {
	return validators.New("held", "wait", func(ctx context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
		begun <- s.Content
		select {
		case <-release:
			return validators.Pass("let go"), nil
		case <-ctx.Done():
			begun <- "cancelled"
			return validators.Verdict{}, ctx.Err()
		}
	}, validators.Impure)
}

// TestEndOfInput checks that open calls are answered after the end of the input.
func TestEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, release := make(chan string, 2), make(chan struct{})
		p := begin(t.Context(), t, options(held(begun, release)))
		p.greet()
		p.send(calling(1, "held", `{"content": "it"}`), calling(1, "held", `{"content": "the same name"}`), calling(2, "json", `{"content": "1"}`))
		<-begun
		p.in.Close()
		if m := p.next(); !strings.Contains(fmt.Sprint(m), "a call of that id is under way") {
			t.Errorf("got %v", m)
		}
		if m := p.next(); m["id"] != 2.0 || m["result"] == nil {
			t.Errorf("got %v", m)
		}
		time.Sleep(time.Hour)
		close(release)
		if m := p.next(); !strings.Contains(fmt.Sprint(m), "let go") {
			t.Errorf("got %v", m)
		}
		if err := <-p.ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
}

// A client may write all requests and close its end at once.
func TestWrittenAtOnce(t *testing.T) {
	for range 20 {
		in := strings.Join([]string{
			hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, calling(1, "json", `{"content": "1"}`),
			`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":3,"method":"nonsense"}`, "[]",
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":4,"method":"ping"}`,
		}, "\n") // the last line has no end
		server, err := mcpserver.New(options())
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := server.Serve(t.Context(), strings.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{`"hello"`, "1", "2", "3", "4", "null"} {
			if strings.Count(out.String(), `"id":`+id+`,`)+strings.Count(out.String(), `"id":`+id+`}`) != 1 {
				t.Fatalf("%s is not answered once in\n%s", id, out.String())
			}
		}
	}
}

// A client that has closed its end cannot answer questions: the run does not wait.
func TestNobodyToAsk(t *testing.T) {
	o, _ := runs(t, "", map[string]string{"asks": asks})
	p := begin(t.Context(), t, o)
	p.send(strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	p.next()
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, calling(1, "asks", `{}`))
	if m := p.next(); m["method"] != "elicitation/create" {
		t.Fatalf("got %v", m)
	}
	p.in.Close()
	for {
		if m := p.next(); m["id"] == 1.0 && m["result"] != nil {
			if !strings.Contains(fmt.Sprint(m), "waiting") {
				t.Errorf("got %v", m)
			}
			break
		}
	}
	if err := <-p.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// The calls of a disconnected client are cancelled.
func TestClientGone(t *testing.T) {
	begun := make(chan string, 2)
	server, err := mcpserver.New(options(held(begun, nil)))
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	ended := make(chan error, 1)
	in := strings.Join([]string{hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, calling(1, "held", `{"content": "it"}`)}, "\n")
	go func() { ended <- server.Serve(t.Context(), strings.NewReader(in), write) }()
	<-begun
	read.Close()
	if got := <-begun; got != "cancelled" {
		t.Errorf("got %s", got)
	}
	<-ended
}

// The number and the total size of open calls are limited.
func TestHeldCalls(t *testing.T) {
	begun, release := make(chan string, 9), make(chan struct{})
	o := options(held(begun, release))
	o.MaxMessage = 1000
	p := begin(t.Context(), t, o)
	p.greet()
	content := fmt.Sprintf(`{"content": %q}`, strings.Repeat("x", 800))
	for n := range 4 {
		p.send(calling(n, "held", content))
		<-begun
	}
	p.send(calling(4, "held", content))
	if m := p.next(); m["id"] != 4.0 || !strings.Contains(fmt.Sprint(m), "or 4000 bytes of them, are under way") {
		t.Errorf("got %v", m)
	}
	close(release)
	for range 4 {
		p.next()
	}
	p.send(calling(5, "held", content))
	if m := p.next(); m["id"] != 5.0 || m["result"] == nil {
		t.Errorf("got %v", m)
	}
}

// Without open calls, the server ends with the input.
func TestEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t.Context(), t, options())
		p.greet()
		p.send(calling(1, "json", `{"content": "1"}`))
		p.next()
		before := time.Now()
		p.in.Close()
		if err := <-p.ended; err != nil || time.Since(before) > 0 {
			t.Errorf("it ended with %v after %s", err, time.Since(before))
		}
	})
}

// An interrupt cancels the open calls and is the error.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 2)
		ctx, interrupt := context.WithCancelCause(t.Context())
		p := begin(ctx, t, options(held(begun, nil)))
		p.greet()
		p.send(calling(1, "held", `{"content": "it"}`))
		<-begun
		cause := errors.New("interrupted")
		interrupt(cause)
		if got := <-begun; got != "cancelled" {
			t.Errorf("got %s", got)
		}
		if err := <-p.ended; !errors.Is(err, cause) {
			t.Errorf("it ended with %v", err)
		}
		p.in.Close()
	})
}

// A call that ignores its cancellation does not keep the server running.
func TestDeafCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, release := make(chan struct{}), make(chan struct{})
		deaf := validators.New("deaf", "wait", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) {
			close(begun)
			<-release
			return validators.Pass("late"), nil
		}, validators.Impure)
		ctx, interrupt := context.WithCancel(t.Context())
		p := begin(ctx, t, options(deaf))
		p.greet()
		p.send(calling(1, "deaf", `{"content": ""}`))
		<-begun
		interrupt()
		if err := <-p.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
		close(release)
		p.in.Close()
	})
}

// A disconnected client ends the server.
func TestBrokenOutput(t *testing.T) {
	p := begin(t.Context(), t, options())
	p.greet()
	p.send(calling(1, "json", `{"content": "1"}`))
	p.next()
	p.hangUp()
	p.send(calling(2, "json", `{"content": "1"}`))
	if err := <-p.ended; err == nil {
		t.Error("it ended well")
	}
}

// 200 concurrent calls receive their own verdicts; further calls are refused.
func TestManyCalls(t *testing.T) {
	s := connect(t, options())
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			words := strings.Repeat("owl ", n%7+1)
			r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "word_count", Arguments: map[string]any{"content": words, "with": map[string]any{"min": 4}}})
			if err != nil || r.IsError {
				t.Errorf("%v %v", r, err)
				return
			}
			verdict := r.StructuredContent.(map[string]any)
			if verdict["valid"] != (n%7 >= 3) || !strings.Contains(fmt.Sprint(verdict["reason"]), fmt.Sprintf("%d word", n%7+1)) {
				t.Errorf("%d: %v", n, verdict)
			}
		})
	}
	all.Wait()
}

func TestTooManyCalls(t *testing.T) {
	begun, release := make(chan string, 1000), make(chan struct{})
	p := begin(t.Context(), t, options(held(begun, release)))
	p.greet()
	for n := range 1000 {
		p.send(calling(n, "held", `{"content": ""}`))
	}
	for range 1000 {
		<-begun
	}
	p.send(calling(1000, "held", `{"content": ""}`))
	if m := p.next(); m["id"] != 1000.0 || !strings.Contains(fmt.Sprint(m), "more than 1000 calls") {
		t.Errorf("got %v", m)
	}
	close(release)
	for range 1000 {
		if m := p.next(); m["result"] == nil {
			t.Errorf("got %v", m)
		}
	}
}

// Secrets are removed from texts, and messages remain valid.
func TestClean(t *testing.T) {
	echo := validators.New("said", "say 12345678 again", func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
		v := validators.Pass("%s", s.Content)
		v.Details = map[string]any{"hush\"hush": 12345678, "n": 1}
		return v, nil
	})
	o := options(echo)
	o.Clean = strings.NewReplacer("12345678", `<"PIN">`, `hush"hush`, "<H>", `hush\"hush`, "<H>", "jsonrpc", "<J>").Replace
	p := begin(t.Context(), t, o)
	p.greet()
	p.send(calling(12345678, "said", `{"content": "a 12345678 jsonrpc hush\"hush"}`))
	m := p.next()
	got, _ := json.Marshal(m["result"].(map[string]any)["structuredContent"])
	text, _ := json.Marshal(m["result"].(map[string]any)["content"])
	if m["jsonrpc"] != "2.0" || m["id"] != 12345678.0 || strings.Contains(string(text), "hush") || strings.Contains(string(text), "12345678") ||
		string(got) != `{"details":{"\u003cH\u003e":"\u003c\"PIN\"\u003e","n":1},"reason":"a \u003c\"PIN\"\u003e \u003cJ\u003e \u003cH\u003e","valid":true}` {
		t.Errorf("got %v\n%s\n%s", m, got, text)
	}
}
