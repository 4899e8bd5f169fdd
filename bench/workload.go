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

// The workload is a conversation of some turns. The first question is made by
// the template "Say: {{ words }}", every other one by "{{ words }}"; words are
// 1 KB, and an answer half of it. Both are as people and models write: with ends of
// lines, quotes and dashes, which JSON has to escape. Each answer passes three checks
// before the next question is asked.
var words = strings.Repeat("- Tell \"all\" that you know – and what you do not – of this.\n", 16)

// answer is what the model says every time.
var answer = "# An answer\n\n" + strings.Repeat("It says *what it is asked*, in \"quotes\" – and no more.\n", 9)

// attempts is how often a refused text is asked for.
const attempts = 3

// unfit is what is wrong with a text: the three checks as one writes them by
// hand. "" is nothing.
func unfit(text string) string {
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

// question is the words of turn i for those who make them by hand.
func question(i int) string {
	if i == 0 {
		return "Say: " + words
	}
	return words
}

// asked hears of each request the model gets; nil is no one.
type asked func(body []byte)

// model is a chat completions endpoint that answers at once and tells the
// length of its answer, as a client can only then use the connection again
// without reading on (go-openai leaves the end of a chunked one unread).
func model(heard asked) http.Handler {
	reply, err := json.Marshal(map[string]any{
		"id": "1", "object": "chat.completion", "created": 1, "model": "m",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": answer}}},
		"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	})
	if err != nil {
		panic(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if heard == nil {
			io.Copy(io.Discard, r.Body)
		} else {
			body, _ := io.ReadAll(r.Body)
			heard(body)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
		w.Write(reply)
	})
}

// authority is the file in the scratch folder with the certificate of a model that is
// asked over TLS.
const authority = "authority.pem"

// serveModel is the model's process: it prints its address in a line, and ends with its
// input. Over TLS it speaks HTTP/2, as public endpoints do.
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

// pooled is the client that everyone gets who takes one: Go's own keeps two
// connections to a host and dials for the rest.
func pooled() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, 128
	return &http.Client{Transport: transport}
}
