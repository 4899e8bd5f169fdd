package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// conversation is the messages of each request.
type conversation [][]message

// requests runs one conversation of a system and returns the requests to the
// model.
func requests(t *testing.T, s system, turns int) conversation {
	t.Helper()
	var (
		lock sync.Mutex
		sent conversation
	)
	server := httptest.NewServer(model(func(body []byte) {
		var request struct{ Messages []message }
		if err := json.Unmarshal(plain(t, body), &request); err != nil {
			t.Errorf("%s: %v in %s", s.name, err, body)
		}
		lock.Lock()
		defer lock.Unlock()
		sent = append(sent, request.Messages)
	}))
	defer server.Close()
	hold, err := s.ready(server.URL+"/v1", turns)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	if err := hold(t.Context()); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return sent
}

// plain returns the body of a request, with contents that are lists of one text
// replaced by the text. Endpoints treat both alike.
func plain(t *testing.T, body []byte) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	for _, m := range v["messages"].([]any) {
		m := m.(map[string]any)
		if parts, ok := m["content"].([]any); ok && len(parts) == 1 {
			m["content"] = parts[0].(map[string]any)["text"]
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSameWords checks that every system sends the same texts to the model.
// Otherwise the table would be meaningless.
func TestSameWords(t *testing.T) {
	t.Setenv(scratch, t.TempDir())
	all := systems()
	want := requests(t, all[0], 3)
	if len(want) != 3 || len(want[2]) != 5 || want[0][0].Content != "Say: "+words || want[1][1].Content != answer {
		t.Fatalf("the bare call says %v", want)
	}
	for _, s := range all[1:] {
		if got := requests(t, s, 3); !reflect.DeepEqual(got, want) {
			t.Errorf("%s says\n%v\nnot\n%v", s.name, got, want)
		}
	}
}

// TestEveryGateRefuses checks that every system with a gate rejects a text that
// fails a check, and tries three times.
func TestEveryGateRefuses(t *testing.T) {
	t.Setenv(scratch, t.TempDir())
	for _, s := range systems()[2:] {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"no"}}]}`))
		}))
		hold, err := s.ready(server.URL+"/v1", 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := hold(t.Context()); err == nil {
			t.Errorf("%s accepts a text of two bytes", s.name)
		}
		if asked != attempts {
			t.Errorf("%s asked %d times, not %d", s.name, asked, attempts)
		}
		server.Close()
	}
}

func TestTable(t *testing.T) {
	all := systems()
	p := plan{rounds: 4, time: time.Second, turns: []int{1}, widths: []int{1}, cores: []int{1}, systems: all[:2]}
	at := func(times ...time.Duration) (list []round) {
		for _, d := range times {
			list = append(list, round{Turns: 10, Wall: d * 10, CPU: d * 5, Peak: 3 << 10})
		}
		return list
	}
	cells := []*cell{
		{1, 1, 1, all[0], at(100*time.Microsecond, 200*time.Microsecond, 400*time.Microsecond)},
		{1, 1, 1, all[1], at(150*time.Microsecond, 250*time.Microsecond, 800*time.Microsecond)}, // 1.5, 1.25, 2
	}
	var b bytes.Buffer
	if err := p.table(&b, cells); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 = 200 µs", "| 1.50 (1.50) |", "| net/http | 3 |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

func TestChosen(t *testing.T) {
	list, err := selected("capstan, go-openai")
	if err != nil || len(list) != 2 || list[0].name != bareName || list[1].name != "Capstan" {
		t.Errorf("got %v, %v", list, err)
	}
	if _, err := selected("nobody"); err == nil || !strings.Contains(err.Error(), "langchaingo") {
		t.Errorf("got %v", err)
	}
}
