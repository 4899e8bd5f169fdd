package mcp_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/tool/mcp"
)

func TestNonsense(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		"not json":                                `it printed text that is not a message: "not json"`,
		`{"jsonrpc":"2.0","id":ID}`:               "",
		`{"jsonrpc":"2.0","id":ID,"result":null}`: "",
		`{"jsonrpc":"2.0","id":ID,"result":{}}`:   "",
		`{"jsonrpc":"2.0","id":ID,"result":{"content":"` + strings.Repeat("x", 100_000) + `"}}`:              "",
		`{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"` + strings.Repeat("x", 100_000) + `"}}`: "xxx",
		`{"jsonrpc":"2.0","id":ID,"result":"text"}`:                                                          "",
		`{"jsonrpc":"2.0","id":ID,"result":{"content":[null]}}`:                                              "",
		`{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"odd"}]}}`:                                    "",
		`{"jsonrpc":"2.0","id":ID,"result":{"content":{}}}`:                                                  "",
		`{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"no such luck"}}`:                         "no such luck",
		`{"jsonrpc":"2.0","id":ID,"error":7}`:                                                                "",
		`{"jsonrpc":"1.0","id":ID,"result":{}}`:                                                              "",
		"[" + strings.Repeat("[", 100_000):                                                                   "",
		"\xff\xfe":                                                                                           "",
		`{"jsonrpc":"2.0","id":ID.5,"result":{"content":[{"type":"text","text":"true"}]}}`:                   `.5: send a string or an integer`,
		`[{"jsonrpc":"2.0","id":ID.5,"result":{"content":[{"type":"text","text":"true"}]}}]`:                 `.5: send a string or an integer`,
		`{"jsonrpc":"2.0","id":7,"id":ID,"result":{"content":[{"type":"text","text":"true"}]}}`:              `occurs twice`,
		`{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"x":"` + "\xff" + `"}`:                             "",
		`{"jsonrpc":"2.0","id":99,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":null`:                        "",
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			s, starts := started(t, "script", "CAPSTAN_MCP_REPLY="+reply)
			c := client(t)
			defer c.Close()
			impatient(t, c, s) // some of it is not an answer
			r := run(t, c.Tool(s, "check"), nil)
			if want != "" && (!r.Failed || !strings.Contains(r.Text(), want)) {
				t.Errorf("%.80q: got %v %q, want %q", reply, r.Failed, r.Text(), want)
			}
			if len(r.Text()) > 3000 {
				t.Errorf("%.80q: %d bytes of answer", reply, len(r.Text()))
			}
			if v, err := c.Validator("v", s, "check").Bind(nil); err != nil {
				t.Error(err)
			} else if verdict, err := v(t.Context(), subject); err == nil {
				t.Errorf("%.80q is a verdict: %+v", reply, verdict)
			}
			if len(starts()) > 4 {
				t.Errorf("%d starts", len(starts()))
			}
		})
	}
}

// TestReplyIDHTTP answers the call with an invalid id, which is not an answer.
func TestReplyIDHTTP(t *testing.T) {
	t.Parallel()
	reply := `{"jsonrpc":"2.0","id":ID.5,"result":{"content":[{"type":"text","text":"true"}]}}`
	for kind, body := range map[string]string{"application/json": reply, "text/event-stream": "data: " + reply + "\n\n"} {
		web := httptest.NewServer(lowest(kind, body))
		c := &mcp.Client{Timeout: 10 * time.Second}
		r := run(t, c.Tool(mcp.Server{URL: web.URL}, "check"), nil)
		if !r.Failed || !strings.Contains(r.Text(), "send a string or an integer") {
			t.Errorf("%s: got %v %q", kind, r.Failed, r.Text())
		}
		c.Close()
		web.Close()
	}
}

// FuzzReply lets a server answer a call with any bytes.
func FuzzReply(f *testing.F) {
	if err := flag.Set("test.fuzzminimizetime", "10x"); err != nil { // else a minute for each find
		f.Fatal(err)
	}
	f.Add("application/json", `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"true"}]}}`)
	f.Add("application/json", `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"resource","resource":{"uri":"x","blob":"AA=="}},{"type":"audio"}],"structuredContent":[1e999]}}`)
	f.Add("text/event-stream", "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"structuredContent\":{\"valid\":false}}}\n\n")
	f.Add("text/event-stream", "data: {}\n\nretry: 0\nid: \n\n")
	f.Add("text/html", "<html>")
	f.Fuzz(func(t *testing.T, kind, body string) {
		web := httptest.NewServer(lowest(kind, body))
		defer web.Close()
		c := &mcp.Client{Timeout: 100 * time.Millisecond}
		defer c.Close()
		s := mcp.Server{URL: web.URL}
		run(t, c.Tool(s, "check"), nil)
		check, err := c.Validator("v", s, "check").Bind(nil)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := check(t.Context(), subject); err != nil && v.Valid {
			t.Errorf("both %+v and %v", v, err)
		}
	})
}

// lowest is the server of script over HTTP. It answers calls with body.
func lowest(kind, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     any    `json:"id"`
			Method string `json:"method"`
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		id, _ := json.Marshal(m.ID)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"0"}}}`, id)
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"check","inputSchema":{"type":"object"}}]}}`, id)
		case "tools/call":
			w.Header()["Content-Type"] = []string{kind}
			fmt.Fprint(w, strings.ReplaceAll(body, "ID", string(id)))
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
}
