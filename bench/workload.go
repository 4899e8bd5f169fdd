package main

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The workload is a conversation of several turns. The template of the first
// question is "Say: {{ words }}", that of the others "{{ words }}". words has 1
// KB, and an answer has half of that. Both contain line ends, quotes and
// dashes, which JSON must escape. Each answer passes three checks before the
// next question.
var words = strings.Repeat("- Tell \"all\" that you know – and what you do not – of this.\n", 16)

// answer is the answer of the model.
var answer = "# An answer\n\n" + strings.Repeat("It says *what it is asked*, in \"quotes\" – and no more.\n", 9)

// attempts is the maximum number of attempts for a text.
const attempts = 3

// fault returns the fault of a text, or "": the three checks, written by hand.
func fault(text string) string {
	switch {
	case len(text) <= 2:
		return "longer than two bytes, please"
	case strings.TrimSpace(text) == "":
		return "this says nothing"
	case utf8.RuneCountInString(text) > 1000:
		return "at most 1000 characters, please"
	}
	return ""
}

// question returns the words of turn i.
func question(i int) string {
	if i == 0 {
		return "Say: " + words
	}
	return words
}

// asked receives the body of each request; nil discards it.
type asked func(body []byte)

// model returns a chat completions endpoint that answers immediately. It sends
// the length of its answer, because otherwise clients that do not read to the
// end cannot reuse the connection (go-openai with a chunked answer).
func model(received asked) http.Handler {
	reply, err := json.Marshal(map[string]any{
		"id": "1", "object": "chat.completion", "created": 1, "model": "m",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": answer}}},
		"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	})
	if err != nil {
		panic(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if received == nil {
			io.Copy(io.Discard, r.Body)
		} else {
			body, _ := io.ReadAll(r.Body)
			received(body)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
		w.Write(reply)
	})
}

// authority is the file in the scratch folder with the certificate of the model
// for TLS.
const authority = "authority.pem"

// serveModel runs the process of the model. It prints its address in a line and
// ends with its input. Over TLS it uses HTTP/2, like public endpoints.
func serveModel(in io.Reader, out io.Writer, overTLS bool) error {
	server := httptest.NewUnstartedServer(model(nil))
	if server.EnableHTTP2 = true; overTLS {
		server.StartTLS()
		certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		if err := os.WriteFile(filepath.Join(os.Getenv(scratch), authority), certificate, 0o600); err != nil {
			return err
		}
	} else {
		server.Start()
	}
	defer server.Close()
	fmt.Fprintf(out, "%s/v1\n", server.URL)
	_, err := io.Copy(io.Discard, bufio.NewReader(in))
	return err
}

// pooled returns the HTTP client for all systems. Go's default keeps two
// connections per host and dials more for the rest.
func pooled() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, 128
	return &http.Client{Transport: transport}
}
