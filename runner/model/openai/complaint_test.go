package openai

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// Every body results in a printable failure.
func FuzzComplaint(f *testing.F) {
	for _, text := range []string{
		`{"error":{"message":"no","code":429,"type":"x","param":"y"}}`, `{"error":"no"}`, `{"error":{"message":["a","b"]}}`,
		`[{"error":{"message":"no"}}]`, `{"detail":[{"msg":"no"}]}`, `{"error":[]}`, `{"error":{}}`, `null`, ``, "<html>\xff", `{"error":{"code":"key-key-key"}}`,
	} {
		f.Add(400, text)
		f.Add(0, text)
	}
	c := &Client{secrets: []string{"key-key-key"}}
	f.Fuzz(func(t *testing.T, status int, text string) {
		got := protocol.FailureOf(status, []byte(text))
		if got == nil {
			if status != 0 {
				t.Fatal("no failure")
			}
			return
		}
		c.tidy(got)
		if got.Class == "" || len(got.Message) > longMessage+50 || !utf8.ValidString(got.Message) || strings.Contains(got.Message, c.secrets[0]) {
			t.Errorf("got %+v", got)
		}
	})
}

func TestRetryAfterBounds(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"1.5": 1500 * time.Millisecond, "1e300": 24 * time.Hour, "-1": 0, "NaN": 0, "+Inf": 24 * time.Hour, "": 0, "x": 0,
		"Thu, 01 Jan 2026 00:00:10 GMT": 10 * time.Second, "Wed, 31 Dec 2025 00:00:10 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}
