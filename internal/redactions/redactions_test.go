package redactions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

func TestSecrets(t *testing.T) {
	got := Secrets([]string{
		"OPENAI_API_KEY=sk-1234567890", "github_token=ghp_abcdefgh", "SHORT_KEY=abc", "HOME=/home/anna-the-long",
		"DATABASE_URL=postgres://anna:correct-horse@db/x", "KEYBOARD=a-long-enough-word", "EMPTY_TOKEN=",
	})
	want := map[string]string{"OPENAI_API_KEY": "sk-1234567890", "github_token": "ghp_abcdefgh", "DATABASE_URL": "correct-horse"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	got = Secrets([]string{"HOOK_TOKEN=https://anna:correct-horse@host/x"})
	if want := map[string]string{"HOOK_TOKEN": "https://anna:correct-horse@host/x", "HOOK_TOKEN password": "correct-horse"}; !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	for name, want := range map[string]bool{
		"DB_PASS": true, "GITHUB_PAT": true, "SLACK_WEBHOOK": true, "SLACK_WEBHOOK_URL": true, "AUTH": true, "AUTH_HEADER": true, "AUTHORIZATION": true,
		"AWS_ACCESS_KEY_ID": true, "AWS_SECRET_ACCESS_KEY": true, "AWS_SESSION_TOKEN": true, "PGPASSWORD": true, "MYSQL_PWD": true, "NPM_AUTH": true,
		"API_KEY_2": true, "API_KEY2": true, "db_pass": true, "PROXY_AUTHORIZATION": true, "PASS": true, "API_KEYS": true, "SESSION_COOKIE": true,
		"PATH": false, "GOPATH": false, "PWD": false, "OLDPWD": false, "COMPASS": false, "AUTHOR": false, "AUTHOR_NAME": false, "AUTHORITY": false,
		"SSH_AUTH_SOCK": false, "COMPAT": false, "KEYBOARD": false, "WEBHOOK_PORT": false, "HOME": false,
	} {
		if got := Secrets([]string{name + "=a value of some length"}); (len(got) == 1) != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for value, want := range map[string]bool{"1234567": false, "12345678": true, "éééé": false, "éééééééé": true} {
		if got := Secrets([]string{"DB_PASS=" + value}); (len(got) == 1) != want {
			t.Errorf("%s: %v", value, got)
		}
	}
}

// However a text is cut into writes, no secret comes through, and everything
// else does.
func TestWriter(t *testing.T) {
	hidden := map[string]string{"A_KEY": "sesame-open", "B_KEY": "sesame-open-wide", "C_KEY": `quo"ted<tag`}
	text := "say sesame-open-wide, sesame-open, sesame-ope; quo\"ted<tag and quo\\\"ted<tag and quo\\\"ted\\u003ctag. sesa"
	want := "say [redacted B_KEY], [redacted A_KEY], sesame-ope; [redacted C_KEY] and [redacted C_KEY] and [redacted C_KEY]. sesa"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := Writer(&out, hidden)
		for piece := range slices.Chunk([]byte(text), size) {
			if n, err := w.Write(piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		Flush(w)
		got := out.String()
		for _, secret := range hidden {
			if strings.Contains(got, secret) {
				t.Fatalf("in pieces of %d: %s", size, got)
			}
		}
		// If one secret is the beginning of another, the longer one is recognized only
		// within a single write.
		if size == len(text) && got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if plain := strings.NewReplacer("[redacted A_KEY]", "", "[redacted B_KEY]", "", "-wide", "").Replace(got); !strings.HasSuffix(plain, ". sesa") {
			t.Errorf("in pieces of %d the end is gone: %s", size, got)
		}
	}
	var out bytes.Buffer
	if Writer(&out, nil) != &out {
		t.Error("without secrets there is nothing to do")
	}
}

// Escapes at the ends of a secret are replaced with it, and the result is valid JSON.
func TestWriterOfQuotes(t *testing.T) {
	for _, secret := range []string{`password"`, `"password`, `pass"word`, `"pass<word>"`, `password\`} {
		text, err := json.Marshal("a " + secret + " b")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := Writer(&out, map[string]string{"A_KEY": secret})
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if Flush(w); out.String() != `"a [redacted A_KEY] b"` {
			t.Errorf("%s: got %s", secret, &out)
		}
	}
}

// Events are passed on without secrets and are otherwise unchanged.
func TestSink(t *testing.T) {
	var got []event.Event
	sink := Sink(event.Func(func(e event.Event) { got = append(got, e) }), map[string]string{"A_KEY": "sesame-open"})
	turn := 0
	list := []event.Event{
		{Run: "r", Seq: 1, Kind: event.TurnStarted, Path: "p", Phase: "p", Attempt: 1, Turn: &turn},
		{Run: "r", Seq: 2, Kind: event.Feedback, Path: "p", Message: "say sesame-open"},
	}
	for _, e := range list {
		sink.Emit(e)
	}
	list[1].Message = "say [redacted A_KEY]"
	if !reflect.DeepEqual(got, list) {
		t.Errorf("got %+v", got)
	}
}

// Earlier messages of a conversation stay redacted, and so does the first request after
// a resume.
func TestSinkOfAConversation(t *testing.T) {
	for name, skip := range map[string]int{"from the beginning": 0, "from its middle": 1} {
		t.Run(name, func(t *testing.T) {
			var got []string
			sink := Sink(event.Func(func(e event.Event) {
				text := ""
				for _, m := range e.Request.Messages {
					text += m.Content + "|"
				}
				got = append(got, text)
			}), map[string]string{"A_KEY": "sesame-open"})
			thread := model.NewThread(model.Message{Content: "say sesame-open"})
			for i := range 3 {
				if i > 0 {
					thread.Append(model.Message{Content: fmt.Sprint(i)})
				}
				e := event.Event{Kind: event.ModelCalled, Path: "p", Conversation: "p", Before: i, Request: &model.Request{Messages: thread.Messages()}}
				if i >= skip {
					sink.Emit(e)
				}
			}
			want := []string{"say [redacted A_KEY]|", "say [redacted A_KEY]|1|", "say [redacted A_KEY]|1|2|"}[skip:]
			if !slices.Equal(got, want) {
				t.Errorf("got %q", got)
			}
		})
	}
}
