package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

func TestManyToolCalls(t *testing.T) {
	for _, n := range []int{100, 101, 5000} {
		var all, chunks []string
		for i := range n {
			call := fmt.Sprintf(`{"index":%d,"id":"c%d","type":"function","function":{"name":"now","arguments":"{}"}}`, i, i)
			all = append(all, call)
			chunks = append(chunks, choice(`{"tool_calls":[`+call+`]}`, "null"))
		}
		list := `{"content":null,"tool_calls":[` + strings.Join(all, ",") + `]}`
		for form, h := range map[string]http.HandlerFunc{
			"whole":       message(list, "tool_calls"),
			"one chunk":   stream(choice(list, "null"), finished("tool_calls"), counted, done),
			"many chunks": stream(strings.Join(chunks, ""), finished("tool_calls"), counted, done),
			"unnumbered":  stream(strings.Join(strings.Split(strings.Join(chunks, ""), `"index":0,`), ""), finished("tool_calls"), counted, done),
		} {
			e := newEndpoint(t, h)
			resp, err := e.client(t, func(o *openai.Options) { o.Stream = form != "whole" }).Call(t.Context(), ask("Hello?"))
			if n == 100 {
				if err != nil || len(resp.ToolCalls) != 100 || resp.ToolCalls[99].ID != "c99" {
					t.Errorf("%s: %d calls, %v", form, len(resp.ToolCalls), err)
				}
				continue
			}
			says := "more than 100"
			if form == "whole" {
				says = fmt.Sprint("wants ", n)
			}
			var f *model.Failure
			if !errors.As(err, &f) || f.Class != model.Unusable || !strings.Contains(f.Message, says) || !strings.Contains(f.Message, "100") || e.count() != 1 || resp.ToolCalls != nil {
				t.Errorf("%s of %d: got %d calls, %v after %d requests", form, n, len(resp.ToolCalls), err, e.count())
			}
		}
	}
}

// repeated returns a body with at least the given number of bytes.
func repeated(text string, size int) io.Reader {
	list := make([]io.Reader, 0, size>>20+1)
	block := strings.Repeat(text, (1<<20)/len(text)+1)
	for range cap(list) {
		list = append(list, strings.NewReader(block))
	}
	return io.MultiReader(list...)
}

// A reply over the limit is read up to the limit, once.
func TestTooLong(t *testing.T) {
	const mega = 1 << 20
	for name, test := range map[string]struct {
		kind, start, again string
		most               int // bytes that are read
		says               string
	}{
		"whole":           {"application/json", `{"choices":[{"finish_reason":"stop","message":{"content":"`, "It said. ", 2 * mega, "longer than 1048576 bytes"},
		"events":          {"text/event-stream", "", delta(strings.Repeat("x", 10_000)), 2 * mega, "longer than 1048576 bytes"},
		"small events":    {"text/event-stream", "", "data: {}\n\n", mega, "than 10000 events"},
		"empty events":    {"text/event-stream", "", "data:  \n\n", 2 * mega, "longer than 1048576 bytes"},
		"comments":        {"text/event-stream", "", ": keep-alive\n\n", 2 * mega, "longer than 1048576 bytes"},
		"a line":          {"text/event-stream", "data: ", "x", mega, "more than 262144 bytes"},
		"a comment":       {"text/event-stream", ": ", "x", mega, "more than 262144 bytes"},
		"lines of one":    {"text/event-stream", "data: {\n", "data: \"a\":\n", mega, "more than 262144 bytes"},
		"lines ending CR": {"text/event-stream", "data: {\r", "data: \"a\":\r", mega, "more than 262144 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			read, asked := 0, 0
			c, err := openai.New(openai.Options{Stream: true, Sleep: func(context.Context, time.Duration) error { return nil }, HTTP: &http.Client{
				Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					asked++
					body := io.TeeReader(io.MultiReader(strings.NewReader(test.start), repeated(test.again, 8*mega)), counter{&read})
					return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {test.kind}}, Body: io.NopCloser(body), Request: r}, nil
				}),
			}})
			if err != nil {
				t.Fatal(err)
			}
			c.Bound(mega, mega/4, 10_000)
			resp, err := c.Call(t.Context(), ask("Hello?"))
			var f *model.Failure
			if !errors.As(err, &f) || f.Class != model.Unusable || !strings.Contains(f.Message, test.says) || resp.Text != "" || asked != 1 || read > test.most {
				t.Errorf("got %v after %d bytes and %d requests", err, read, asked)
			}
		})
	}
}

type counter struct{ n *int }

func (c counter) Write(p []byte) (int, error) { *c.n += len(p); return len(p), nil }

// Keep-alives hold an answer open for a limited time.
func TestKeepAlives(t *testing.T) {
	for name, test := range map[string]struct {
		before, line string
		lines        int // before the answer
		class        model.Class
		within       time.Duration
	}{
		"a few":            {"", ": OPENROUTER PROCESSING\n\n", 30, "", 31 * time.Minute},
		"for ever":         {"", ": keep-alive\n\n", 1e9, model.TimedOut, 42 * time.Minute},
		"empty lines":      {"", "\n", 1e9, model.TimedOut, 42 * time.Minute},
		"fields":           {"", "event: ping\n", 1e9, model.TimedOut, 42 * time.Minute},
		"in the middle":    {delta("Hel"), ":\n", 1e9, model.TimedOut, 42 * time.Minute},
		"after the reason": {delta("Hello") + finished("stop"), ":\n", 1e9, "", 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := piped(t, 10*time.Minute, func(in io.Writer) {
					_, err := io.WriteString(in, test.before)
					for i := 0; i < test.lines && err == nil; i++ {
						time.Sleep(time.Minute)
						_, err = io.WriteString(in, test.line)
					}
					_, _ = io.WriteString(in, delta("Hello")+finished("stop")+counted+done)
				})
				began := time.Now()
				resp, err := c.Call(t.Context(), ask("Hello?"))
				var f *model.Failure
				if test.class == "" && (err != nil || resp.Text != "Hello") || test.class != "" && (!errors.As(err, &f) || f.Class != test.class) {
					t.Errorf("got %+v, %v", resp, err)
				}
				if took := time.Since(began); took > test.within {
					t.Errorf("took %s", took)
				}
				time.Sleep(time.Hour) // the sender notices the closed connection
			})
		})
	}
}

// The usage of an endpoint is used if it is valid, and estimated otherwise.
func TestUsageNumbers(t *testing.T) {
	const huge = 1 << 40
	for usage, want := range map[string]model.Usage{
		`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}`:               {InputTokens: 100, OutputTokens: 10},
		`{"prompt_tokens":100.0,"completion_tokens":"10"}`:                              {InputTokens: 100, OutputTokens: 10},
		`{"input_tokens":100,"output_tokens":10}`:                                       {InputTokens: 100, OutputTokens: 10},
		`{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807}`: {InputTokens: huge, OutputTokens: huge},
		`{"prompt_tokens":1e300,"completion_tokens":18446744073709551616}`:              {InputTokens: huge, OutputTokens: huge},
		`{"prompt_tokens":-5,"completion_tokens":10}`:                                   {InputTokens: -1, OutputTokens: 10, Estimated: true},
		`{"prompt_tokens":100,"completion_tokens":-9223372036854775808}`:                {InputTokens: 100, OutputTokens: 3, Estimated: true},
		`{"prompt_tokens":100,"completion_tokens":10.5}`:                                {InputTokens: 100, OutputTokens: 3, Estimated: true},
		`{"prompt_tokens":[1],"completion_tokens":{"a":1}}`:                             {InputTokens: -1, OutputTokens: 3, Estimated: true},
		`{"prompt_tokens":100}`:                                                         {InputTokens: 100, OutputTokens: 3, Estimated: true},
		`{"total_tokens":110}`:                                                          {InputTokens: -1, OutputTokens: 3, Estimated: true},
		`{"prompt_tokens":0,"completion_tokens":0}`:                                     {InputTokens: -1, OutputTokens: 3, Estimated: true},
		`null`:                    {InputTokens: -1, OutputTokens: 3, Estimated: true},
		`"none"`:                  {InputTokens: -1, OutputTokens: 3, Estimated: true},
		`[{"prompt_tokens":100}]`: {InputTokens: -1, OutputTokens: 3, Estimated: true},
		`{"prompt_tokens":100,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":64}}`:                                         {InputTokens: 100, OutputTokens: 10, Cached: 64},
		`{"prompt_tokens":100,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":1e9}}`:                                        {InputTokens: 100, OutputTokens: 10, Cached: 100},
		`{"prompt_tokens":100,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":-64}}`:                                        {InputTokens: 100, OutputTokens: 10},
		`{"prompt_tokens":100,"completion_tokens":10,"prompt_cache_hit_tokens":64}`:                                                         {InputTokens: 100, OutputTokens: 10, Cached: 64},
		`{"prompt_tokens":100,"completion_tokens":10,"prompt_tokens_details":null,"cached_tokens":64}`:                                      {InputTokens: 100, OutputTokens: 10, Cached: 64},
		`{"prompt_tokens":100,"completion_tokens":10,"completion_tokens_details":{"reasoning_tokens":7,"audio_tokens":1}}`:                  {InputTokens: 100, OutputTokens: 10, Reasoning: 7},
		`{"prompt_tokens":100,"completion_tokens":10,"completion_tokens_details":{"reasoning_tokens":70}}`:                                  {InputTokens: 100, OutputTokens: 10, Reasoning: 10},
		`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":150}`:                                                                   {InputTokens: 100, OutputTokens: 50, Reasoning: 40},
		`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":150,"completion_tokens_details":{"reasoning_tokens":40}}`:               {InputTokens: 100, OutputTokens: 50, Reasoning: 40},
		`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":9223372036854775807}`:                                                   {InputTokens: 100, OutputTokens: huge - 100, Reasoning: huge - 110},
		`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":50}`:                                                                    {InputTokens: 100, OutputTokens: 10},
		`{"prompt_tokens":100,"completion_tokens":10,"cost":0.25}`:                                                                          {InputTokens: 100, OutputTokens: 10, CostUSD: 0.25},
		`{"prompt_tokens":100,"completion_tokens":10,"cost":0}`:                                                                             {InputTokens: 100, OutputTokens: 10, CostUSD: 0},
		`{"prompt_tokens":100,"completion_tokens":10,"cost":1e400}`:                                                                         {InputTokens: 100, OutputTokens: 10, CostUSD: 1e9},
		`{"prompt_tokens":100,"completion_tokens":10,"cost":-3}`:                                                                            {InputTokens: 100, OutputTokens: 10},
		`{"prompt_tokens":100,"completion_tokens":10,"cost":null}`:                                                                          {InputTokens: 100, OutputTokens: 10},
		`{"prompt_tokens":100,"completion_tokens":10,"cost":0.5,"is_byok":true,"cost_details":{"upstream_inference_cost":0.25,"cost":100}}`: {InputTokens: 100, OutputTokens: 10, CostUSD: 0.5},
	} {
		for form, h := range map[string]http.HandlerFunc{
			"whole":    body(200, `{"choices":[{"message":{"content":"1234567890"},"finish_reason":"stop"}],"usage":`+usage+`}`),
			"streamed": stream(delta("1234567890"), finished("stop"), event(`{"choices":[],"usage":`+usage+`}`), done),
			"groq's":   stream(delta("1234567890"), event(`{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"x","usage":`+usage+`}}`), done),
		} {
			e := newEndpoint(t, h)
			r := ask(strings.Repeat("x", 400))
			r.Model = "nobody-knows-what-it-costs"
			resp, err := e.client(t, func(o *openai.Options) { o.Stream = form != "whole" }).Call(t.Context(), r)
			want, got := want, resp.Usage
			want.Calls = 1
			if want.InputTokens < 0 && got.InputTokens >= 100 && got.InputTokens < 160 {
				want.InputTokens = got.InputTokens
			}
			if err != nil || got != want {
				t.Errorf("%s, %s: got %+v, %v\nwant %+v", usage, form, got, err, want)
			}
		}
	}
}
