package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

const stopped = `"finish_reason":"stop"`

// A reply with a duplicate name, invalid UTF-8 or too many values is a failure that
// names the reason, wherever in the reply it is.
func TestReplyRejected(t *testing.T) {
	million := "[" + strings.Repeat("0,", 1_000_000) + "0]"
	half := "[" + strings.Repeat("0,", 500_000) + "0]"
	for name, test := range map[string]struct {
		handler  http.HandlerFunc
		class    model.Class
		says     string
		requests int
	}{
		"content twice":            {body(200, `{"choices":[{"message":{"content":"no","content":"yes"},`+stopped+`}]}`), model.Unusable, `duplicate object member name "content" within "/choices/0/message"`, 1},
		"content escaped":          {body(200, `{"choices":[{"message":{"content":"no","c\u006fntent":"yes"},`+stopped+`}]}`), model.Unusable, `duplicate object member name "content"`, 1},
		"choices twice":            {body(200, `{"choices":[],"choices":[{"message":{"content":"yes"},`+stopped+`}]}`), model.Unusable, `duplicate object member name "choices"`, 1},
		"an unknown member twice":  {body(200, `{"x":{"a":1,"a":2},"choices":[{"message":{"content":"yes"},`+stopped+`}]}`), model.Unusable, `duplicate object member name "a" within "/x"`, 1},
		"content twice, streamed":  {stream(choice(`{"content":"no","content":"yes"}`, `"stop"`), done), model.Unusable, `duplicate object member name "content" within "/choices/0/delta"`, 1},
		"name of a call twice":     {stream(choice(`{"tool_calls":[{"id":"a","function":{"name":"a","name":"b"}}]}`, `"stop"`), done), model.Unusable, `duplicate object member name "name"`, 1},
		"invalid bytes":            {body(200, "{\"choices\":[{\"message\":{\"content\":\"a\xff\"},"+stopped+"}]}"), model.Unavailable, "invalid UTF-8", model.Tries},
		"half a pair":              {body(200, `{"choices":[{"message":{"content":"a\ud83e"},`+stopped+`}]}`), model.Unavailable, "surrogate", model.Tries},
		"half at the end":          {stream(halved(`a`, `\ud83e`), finished("stop"), counted, done), model.Unavailable, "invalid UTF-8", model.Tries},
		"bytes at the end":         {stream(halved("a\xf0\x9f"), finished("stop"), counted, done), model.Unavailable, "invalid UTF-8", model.Tries},
		"half, then another text":  {stream(halved(`a\ud83e`, "b"), finished("stop"), counted, done), model.Unavailable, "invalid UTF-8", model.Tries},
		"second half alone":        {stream(halved(`a`, `\udd89b`), finished("stop"), counted, done), model.Unavailable, "invalid UTF-8", model.Tries},
		"half in an argument":      {stream(choice(`{"tool_calls":[{"id":"a","function":{"name":"a","arguments":"\ud83e"}}]}`, `"stop"`), done), model.Unavailable, "invalid UTF-8", model.Tries},
		"half in a thought":        {stream(choice(`{"content":"a","reasoning":"\ud83e"}`, "null"), choice(`{"reasoning":"x"}`, `"stop"`), done), model.Unavailable, "invalid UTF-8", model.Tries},
		"half in one thought":      {stream(choice(`{"content":"a","reasoning":"\ud83e"}`, `"stop"`), done), model.Unavailable, "invalid UTF-8", model.Tries},
		"values that nobody reads": {body(200, `{"x":`+million+`,"choices":[{"message":{"content":"yes"},`+stopped+`}]}`), model.Unusable, "the limit is 1000000", 1},
		"values of an event":       {stream(choice(`{"content":"yes","x":`+million+`}`, `"stop"`), done), model.Unusable, "the limit is 1000000", 1},
		"values of three events":   {stream(choice(`{"x":`+half+`}`, `null`), choice(`{"x":`+half+`}`, `null`), choice(`{"x":`+half+`,"content":"yes"}`, `"stop"`), done), model.Unusable, "the limit is 1000000", 1},
		"content of three events":  {stream(choice(`{"content":[`+half+`]}`, `null`), choice(`{"content":[`+half+`]}`, `null`), choice(`{"content":"yes"}`, `"stop"`), done), model.Unusable, "the limit is 1000000", 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, test.handler)
			r := ask("Hello?")
			var h listener
			r.OnText = h.on
			resp, err := e.client(t).Call(t.Context(), r)
			var f *model.Failure
			if !errors.As(err, &f) || f.Class != test.class || !strings.Contains(f.Message, test.says) || resp.Text != "" || h.String() != "" || e.count() != test.requests {
				t.Errorf("got %+v, %.300v; heard %q, %d requests", resp, err, h.String(), e.count())
			}
		})
	}
}

// A member of an unexpected kind counts as missing.
func TestReplyUnexpectedKinds(t *testing.T) {
	for _, text := range []string{
		`{"id":{},"model":[],"usage":"x","x_groq":7,"choices":[{"index":"0","message":{"content":"yes","refusal":{},"tool_calls":"none"},` + stopped + `}]}`,
		`{"error":[],"choices":[{"message":{"content":"yes","tool_calls":{}},"error":{},` + stopped + `,"native_finish_reason":null}]}`,
	} {
		resp, err := newEndpoint(t, body(200, text)).client(t).Call(t.Context(), ask("Hello?"))
		if err != nil || resp.Text != "yes" || resp.ToolCalls != nil {
			t.Errorf("%s: got %+v, %v", text, resp, err)
		}
	}
}

// A thought whose pair of surrogates is cut goes back whole.
func TestExtrasHalves(t *testing.T) {
	e := newEndpoint(t, stream(choice(`{"reasoning":"a\ud83e"}`, "null"), choice(`{"reasoning":"\udd89b","content":"yes"}`, `"stop"`), done))
	resp, err := e.client(t, func(o *openai.Options) { o.Stream = true }).Call(t.Context(), ask("Hello?"))
	if err != nil || resp.Extra != `{"reasoning":"a🦉b"}` {
		t.Errorf("got %+v, %v", resp, err)
	}
}

// given returns a client whose endpoint replies with a text, without a socket.
func given(t *testing.T, kind string, text func() io.Reader) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Options{MaxTries: 1, Stream: kind == "text/event-stream", HTTP: &http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(text()), Request: r}, nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// worstReplies are replies of about n bytes that cost the most, by name; each comes
// whole, and those that begin with "stream" in events.
func worstReplies(n int) map[string]string {
	fill := func(open, each, end string) string { return open + strings.Repeat(each, n/len(each)) + end }
	const open, end = `{"choices":[{` + stopped + `,"message":{"content":"yes`, `"}}]}`
	return map[string]string{
		"line ends":      fill(open, strings.Repeat("x", 47)+`\n`, end),
		"escapes":        fill(open, `\u0001`, end),
		"backslashes":    fill(open, `\\`, end),
		"white space":    fill(open+`","x":`, " ", `1}}]}`),
		"arguments":      fill(open+`","tool_calls":[{"id":"a","function":{"name":"f","arguments":"`, `\"\\`, `"}}]}}]}`),
		"content parts":  fill(`{"choices":[{`+stopped+`,"message":{"content":[{"text":"yes"}`, `,{"text":"`+strings.Repeat(`\n`, 50)+`"}`, `]}}]}`),
		"an extra":       fill(open+`","x":["`, strings.Repeat(`\n`, 50)+`","`, `"]}}]}`),
		"other choices":  fill(`{"choices":[`, `{"index":1,"delta":"`+strings.Repeat("z", 100)+`"},`, `{`+stopped+`,"message":{"content":"yes"}}]}`),
		"stream, pieces": strings.Repeat(delta(strings.Repeat("\n", 400)), n/1000) + delta("yes") + finished("stop") + done,
		"stream, extras": strings.Repeat(choice(`{"x":[{"index":0,"t":"`+strings.Repeat(`\n`, 400)+`"}]}`, "null"), n/1000) + delta("yes") + finished("stop") + done,
		"stream, calls":  choice(`{"tool_calls":[{"id":"a","function":{"name":"f"}}]}`, "null") + strings.Repeat(choice(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"`+strings.Repeat(`\n`, 400)+`"}}]}`, "null"), n/1000) + finished("stop") + done,
	}
}

func contentType(name string) string {
	if strings.HasPrefix(name, "stream") {
		return "text/event-stream"
	}
	return "application/json"
}

// A reply allocates no more than 64 MiB and 20 times its text, in all.
func TestReplyMemory(t *testing.T) {
	for name, text := range worstReplies(4 << 20) {
		c := given(t, contentType(name), func() io.Reader { return strings.NewReader(text) })
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.Call(t.Context(), ask("Hello?"))
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20+20*len(text)); err != nil || got > most {
			t.Errorf("%s: %d bytes for %d, the limit is %d; %v", name, got, len(text), most, err)
		}
	}
}

// atEnd calls f where a body ends.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) { f(); return 0, io.EOF }

// An ended context stops the decoding of a long reply, which
// [jsontree.TestParseInterrupt] measures.
func TestReplyInterrupt(t *testing.T) {
	for name, text := range worstReplies(2 << 20) {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := given(t, contentType(name), func() io.Reader {
			return io.MultiReader(strings.NewReader(text), atEnd(func() { cancel(errors.New("the operator stops")) }))
		})
		if strings.HasPrefix(name, "stream") {
			continue // each event is short
		}
		if resp, err := c.Call(ctx, ask("Hello?")); err == nil || err.Error() != "the operator stops" || resp.Text != "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
