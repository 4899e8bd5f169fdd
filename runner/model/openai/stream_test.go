package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

func TestStream(t *testing.T) {
	long := strings.Repeat("long ", 40_000)
	text := delta("Hel") + delta("lo, ") + delta("“you”")
	tests := map[string]struct {
		handler http.HandlerFunc
		text    string
		pieces  int
		counted bool
	}{
		"plain":           {stream(delta("Hel"), delta("lo, "), delta("“you”"), finished("stop"), counted, done), "Hello, “you”", 3, true},
		"byte by byte":    {stream(strings.Split(text+finished("stop")+counted+done, "")...), "Hello, “you”", 3, true},
		"at once":         {stream(text + finished("stop") + counted + done), "Hello, “you”", 3, true},
		"not counted":     {stream(text, finished("stop"), done), "Hello, “you”", 3, false},
		"no DONE":         {stream(text, finished("stop"), counted), "Hello, “you”", 3, true},
		"cut after end":   {cut(stream(text, finished("stop"))), "Hello, “you”", 3, false},
		"comments":        {stream(": keep-alive\n\n", text, ": "+long+"\n\n", "event: message\nid: 1\nretry: 5\n", finished("stop"), counted, done), "Hello, “you”", 3, true},
		"many comments":   {stream(strings.Repeat(": keep-alive\n\n", 2000), text, finished("stop"), counted, done), "Hello, “you”", 3, true},
		"CRLF":            {stream(strings.ReplaceAll(text+finished("stop")+counted+done, "\n", "\r\n")), "Hello, “you”", 3, true},
		"no space":        {stream(strings.ReplaceAll(text+finished("stop")+counted+done, "data: ", "data:")), "Hello, “you”", 3, true},
		"no last newline": {stream(text, finished("stop"), strings.TrimSpace(counted)), "Hello, “you”", 3, true},
		"long chunk":      {stream(delta(long), finished("stop"), counted, done), long, 1, true},
		"whole instead":   {reply("Hello, “you”"), "Hello, “you”", 1, true},
		"whole as text":   {body(200, `{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],`+usageOf+`}`, "Content-Type", "text/plain"), "Hello", 1, true},
		"events as JSON":  {body(200, text+finished("stop")+counted+done, "Content-Type", "application/json"), "Hello, “you”", 3, true},
		"events as page":  {body(200, ": processing\n\n"+text+finished("stop")+counted+done, "Content-Type", "text/html"), "Hello, “you”", 3, true},
		"always a reason": {stream(choice(`{"content":"Hel"}`, `"stop"`), choice(`{"content":"lo"}`, `"stop"`), counted, done), "Hello", 2, true},
		"object":          {stream(event(`{"object":"chat.completion.chunk","choices":[{"delta":{"content":"Hello"}}]}`), finished("stop"), counted, done), "Hello", 1, true},
		"error is null":   {stream(event(`{"error":null,"choices":[{"delta":{"content":"Hello"}}]}`), finished("stop"), counted, done), "Hello", 1, true},
		"says error":      {stream(delta(`{"error": "none"}`), finished("stop"), counted, done), `{"error": "none"}`, 1, true},
		"other choices":   {stream(event(`{"choices":[{"index":1,"delta":{"content":"no"}}]}`), text, finished("stop"), counted, done), "Hello, “you”", 3, true},
		"several lines":   {stream("data: {\"choices\":\ndata: [{\"index\":0,\ndata:\"delta\":{\"content\":\r\ndata: \"Hello\"}}]}\n\n", finished("stop"), counted, done), "Hello", 1, true},
		"no empty lines":  {stream(strings.ReplaceAll(text+finished("stop")+counted+done, "\n\n", "\n")), "Hello, “you”", 3, true},
		"CR":              {stream(strings.ReplaceAll(text+finished("stop")+counted+done, "\n", "\r")), "Hello, “you”", 3, true},
		"byte order mark": {stream("\ufeff"+text, finished("stop"), counted, done), "Hello, “you”", 3, true},
		"many fields":     {stream(strings.ReplaceAll(text+finished("stop")+counted+done, "data:", "event: message\nid: 7\ndata:")), "Hello, “you”", 3, true},
		"behind another":  {stream(event(`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"Hello"}}]}`), finished("stop"), counted, done), "Hello", 1, true},
		"reason as well":  {stream(delta("Hello"), finished(""), finished("stop"), finished(""), counted, done), "Hello", 1, true},
		"half a pair":     {stream(halved(`a\ud83e`, `\udd89b`), finished("stop"), counted, done), "a🦉b", 2, true},
		"half of bytes":   {stream(halved("a\xf0", "\x9f\xa6", "\x89b\xc3", "\xbc"), finished("stop"), counted, done), "a🦉bü", 3, true},
		"half in a list":  {stream(choice(`{"content":[{"type":"text","text":"a\ud83e"}]}`, "null"), choice(`{"content":[{"type":"text","text":"\uDD89b"}]}`, "null"), finished("stop"), counted, done), "a🦉b", 2, true},
		"half, nothing":   {stream(halved(`a\uD83E`, "", `\uDD89`), finished("stop"), counted, done), "a🦉", 2, true},
		"slash before it": {stream(halved(`a\\ud83e`, `b`), finished("stop"), counted, done), `a\ud83eb`, 2, true},
		"slashes before":  {stream(halved(`a\\\ud83e`, `\udd89`), finished("stop"), counted, done), `a\🦉`, 2, true},
		"float created":   {stream(event(`{"created":1.5,"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}`), counted, done), "Hello", 1, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, test.handler)
			var h listener
			r := ask("Hello?")
			r.OnText = h.on
			resp, err := e.client(t).Call(t.Context(), r)
			if err != nil || resp.Text != test.text || h.String() != test.text || h.pieces != test.pieces || h.anew != 0 {
				t.Errorf("got %.200q, %v; heard %.200q in %d", resp.Text, err, h.String(), h.pieces)
			}
			if (resp.Usage.InputTokens == 100) != test.counted || resp.Usage.OutputTokens == 0 || resp.Usage.Calls != 1 {
				t.Errorf("usage %+v", resp.Usage)
			}
			// Some endpoints stream an answer without being asked to.
			whole, err := e.client(t).Call(t.Context(), ask("Hello?"))
			if name != "cut after end" && (err != nil || whole.Text != test.text || (whole.Usage.InputTokens == 100) != test.counted) {
				t.Errorf("not asked for a stream: got %.200q, %v, %+v", whole.Text, err, whole.Usage)
			}
			sent := e.got(t, 0)
			if sent["stream"] != true || !reflect.DeepEqual(sent["stream_options"], map[string]any{"include_usage": true}) {
				t.Errorf("sent %v", sent)
			}
		})
	}
}

// halved returns deltas whose texts are inserted between quotes without
// escaping.
func halved(texts ...string) (events string) {
	for _, text := range texts {
		events += choice(`{"content":"`+text+`"}`, "null")
	}
	return events
}

// If a try with some text is cut, the next try announces that and sends its
// text from the beginning.
func TestStreamBeginsAnew(t *testing.T) {
	good := stream(delta("Good"), delta("bye"), finished("stop"), counted, done)
	for name, bad := range map[string]http.HandlerFunc{
		"cut":     cut(stream(delta("Hel"))),
		"ended":   stream(delta("Hel")),
		"partial": cut(stream(delta("Hel"), `data: {"choices":[{"delta":{"con`)),
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, bad, good)
			var h listener
			r := ask("Hello?")
			r.OnText = h.on
			resp, err := e.client(t).Call(t.Context(), r)
			if err != nil || resp.Text != "Goodbye" || h.String() != "Goodbye" || h.anew != 1 || resp.Usage.Calls != 2 {
				t.Errorf("got %+v, %v; heard %q", resp, err, h.String())
			}
		})
	}
}

// piped returns a client whose answers come from the function say, in a
// synctest bubble.
func piped(t *testing.T, timeout time.Duration, say func(in io.Writer)) (c *openai.Client, ended *bool) {
	t.Helper()
	ended = new(bool)
	c, err := openai.New(openai.Options{Stream: true, MaxTries: 1, Timeout: timeout, HTTP: &http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			out, in := io.Pipe()
			context.AfterFunc(r.Context(), func() { out.Close() })
			go func() { say(in); in.Close() }()
			body := io.MultiReader(out, ending{ended})
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body), Request: r}, nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c, ended
}

// An ending records that everything before it was read.
type ending struct{ read *bool }

func (e ending) Read([]byte) (int, error) { *e.read = true; return 0, io.EOF }

// The time that the listener takes is not the endpoint's silence.
func TestSlowListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := piped(t, time.Minute, func(in io.Writer) {
			for _, text := range []string{delta("Hel"), delta("lo"), finished("stop"), counted + done} {
				_, _ = io.WriteString(in, text)
				time.Sleep(30 * time.Second)
			}
		})
		r := ask("Hello?")
		r.OnText = func(string) { time.Sleep(10 * time.Minute) }
		if resp, err := c.Call(t.Context(), r); err != nil || resp.Text != "Hello" {
			t.Errorf("got %+v, %v", resp, err)
		}
		time.Sleep(time.Hour)
	})
}

// If an endpoint has sent the whole answer and does not close the connection,
// the client waits less than for a missing end.
func TestEndWithoutEnd(t *testing.T) {
	for name, end := range map[string]string{"after DONE": counted + done, "after the reason": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := piped(t, time.Minute, func(in io.Writer) {
					_, _ = io.WriteString(in, delta("Hello")+finished("stop")+end)
					time.Sleep(time.Hour)
				})
				began := time.Now()
				resp, err := c.Call(t.Context(), ask("Hello?"))
				took, most := time.Since(began), time.Minute
				if end != "" {
					most = time.Second
				}
				if err != nil || resp.Text != "Hello" || resp.Usage.Calls != 1 || took > most {
					t.Errorf("got %+v, %v after %s", resp, err, took)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// If an answer ends shortly after the stream's end, the client reads the rest
// and reuses the connection. It does not wait for a late end.
func TestEndAfterDone(t *testing.T) {
	for after, want := range map[time.Duration]bool{0: true, 5 * time.Millisecond: true, time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			c, ended := piped(t, time.Minute, func(in io.Writer) {
				_, _ = io.WriteString(in, delta("Hello")+finished("stop")+done)
				time.Sleep(after)
			})
			began := time.Now()
			resp, err := c.Call(t.Context(), ask("Hello?"))
			if err != nil || resp.Text != "Hello" || *ended != want || time.Since(began) > 100*time.Millisecond {
				t.Errorf("%s: got %+v, %v after %s; read to the end: %t", after, resp, err, time.Since(began), *ended)
			}
			time.Sleep(time.Minute)
		})
	}
}

func TestStreamOptionsUnknown(t *testing.T) {
	good := stream(delta("Hello"), finished("stop"), done)
	e := newEndpoint(t, body(400, `{"error":{"message":"Unknown field: stream_options"}}`), good)
	c := e.client(t, func(o *openai.Options) { o.Stream, o.MaxTries = true, 1 })
	for n := range 2 {
		resp, err := c.Call(t.Context(), ask("Hello?"))
		if err != nil || resp.Text != "Hello" || resp.Usage.Calls != 2-n {
			t.Errorf("got %+v, %v", resp, err)
		}
	}
	if sent := e.got(t, 2); e.count() != 3 || sent["stream_options"] != nil || sent["stream"] != true {
		t.Errorf("sent %v", sent)
	}
}

// Whatever comes as a stream, there is an answer or a failure, soon.
func FuzzStream(f *testing.F) {
	f.Add(delta("Hello") + finished("stop") + counted + done)
	f.Add(delta("Hel"))
	f.Add("data: {\"error\":{\"message\":\"no\"}}\n\n")
	f.Add(choice(`{"tool_calls":[{"index":1000000000,"function":{"name":"x"}},{"index":-1}]}`, "null") + done)
	f.Add("data:\n\ndata: null\n\ndata: []\n\ndata: [DONE]\n")
	f.Add("\xff\xfe\x00data: \r\r\n")
	c := make(chan string, 1)
	url, _ := serve(f, func(w http.ResponseWriter, r *http.Request) { stream(<-c)(w, r) })
	client, err := openai.New(openai.Options{BaseURL: url, MaxTries: 1, Stream: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var h listener
		r := ask("Hello?")
		r.OnText = h.on
		c <- text
		resp, err := client.Call(t.Context(), r)
		var failure *model.Failure
		if err != nil && !errors.As(err, &failure) {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && resp.Text != h.String() || err != nil && h.String() != "" {
			t.Errorf("%q: text %q, heard %q, %v", text, resp.Text, h.String(), err)
		}
		if err == nil && resp.Text == "" && len(resp.ToolCalls) == 0 {
			t.Errorf("%q: an answer without anything", text)
		}
	})
}
