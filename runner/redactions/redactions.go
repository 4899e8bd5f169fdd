// Package redactions takes secrets out of what is shown: it finds them in the
// environment by their names ([Secrets]), and puts [redacted NAME] in their place, in
// what is written, however it is cut into pieces ([Writer]), and in events ([Sink]).
package redactions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/event"
)

// minSecret is how many characters a value must have to be taken out of what is shown: a
// short one would take ordinary words with it.
const minSecret = 8

// What the names of secrets end in. Where there is a _ before it, it must be a
// word of the name: PATH, COMPASS and PWD, where a process is, are no secrets.
var secretEnds = []string{
	"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "KEYS", "TOKENS", "SECRETS", "PASSWORDS",
	"_PASS", "_PWD", "_PAT", "_AUTH", "_AUTHORIZATION", "_JWT", "_COOKIE", "_WEBHOOK", "_WEBHOOK_URL", "_KEY_ID", "_AUTH_HEADER", "_AUTH_CONFIG",
}

// isSecret tells from a variable's name whether its value is a secret. A number
// at its end does not count: API_KEY_2.
func isSecret(name string) bool {
	name = strings.ToUpper(name)
	if bare := strings.TrimRight(name, "0123456789"); bare != name {
		name = strings.TrimSuffix(bare, "_")
	}
	authority := strings.HasPrefix(name, "AUTHOR") && !strings.HasPrefix(name, "AUTHORIZ") && !strings.HasPrefix(name, "AUTHORIS")
	if strings.HasPrefix(name, "AUTH") && !authority {
		return true
	}
	return slices.ContainsFunc(secretEnds, func(end string) bool {
		return strings.HasSuffix(name, end) || name == strings.TrimPrefix(end, "_") && name != "PWD"
	})
}

// Secrets are the values in the environment that nobody is to see, by the name
// they go under: those whose names say so, and passwords in URLs.
func Secrets(environ []string) map[string]string {
	out := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok && utf8.RuneCountInString(password) >= minSecret {
				out[name] = password
			}
		}
		if utf8.RuneCountInString(value) >= minSecret && isSecret(name) {
			if password := out[name]; password != "" {
				out[name+" password"] = password // it may also stand by itself
			}
			out[name] = value
		}
	}
	return out
}

// A redactor writes on what it is given, but for secrets. The end of a write
// that may be the beginning of a secret waits for the next one, or for flush.
type redactor struct {
	out     io.Writer
	secrets [][2][]byte // what is looked for, what stands for it
	kept    []byte
}

// Writer is out without the secrets, by the names they go under; out itself where
// there are none. [Flush] it at the end.
func Writer(out io.Writer, secrets map[string]string) io.Writer {
	r := &redactor{out: out}
	for name, value := range secrets {
		shown := []byte("[redacted " + name + "]")
		r.secrets = append(r.secrets, [2][]byte{[]byte(value), shown})
		for _, html := range []bool{false, true} {
			var quoted bytes.Buffer
			e := json.NewEncoder(&quoted)
			e.SetEscapeHTML(html)
			if e.Encode(value) == nil {
				said := bytes.TrimSpace(quoted.Bytes())
				r.secrets = append(r.secrets, [2][]byte{said[1 : len(said)-1], shown})
			}
		}
	}
	if len(r.secrets) == 0 {
		return out
	}
	// The longest first: one secret may hold another.
	slices.SortFunc(r.secrets, func(a, b [2][]byte) int {
		return cmp.Or(len(b[0])-len(a[0]), bytes.Compare(a[0], b[0]))
	})
	return r
}

func (r *redactor) Write(p []byte) (int, error) {
	text := append(r.kept, p...)
	for _, s := range r.secrets {
		if bytes.Contains(text, s[0]) {
			text = bytes.ReplaceAll(text, s[0], s[1])
		}
	}
	end := len(text) - r.begun(text)
	r.kept = slices.Clone(text[end:])
	if _, err := r.out.Write(text[:end]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// begun is how many bytes at the end of text may be the beginning of a secret.
func (r *redactor) begun(text []byte) int {
	longest := 0
	for _, s := range r.secrets {
		for n := min(len(s[0])-1, len(text)); n > longest; n-- {
			if bytes.HasSuffix(text, s[0][:n]) {
				longest = n
			}
		}
	}
	return longest
}

// Sink tells a sink of events as a redactor would write them. Of a
// conversation it looks through each message once; what was said before has been
// cleaned already.
func Sink(to event.Sink, secrets map[string]string) event.Sink {
	if len(secrets) == 0 {
		return to
	}
	var said event.Conversations
	return event.Func(func(e event.Event) {
		told, err := clean(e, secrets)
		if err == nil && e.Kind == event.ModelCalled {
			whole, unknown := said.Whole(told)
			if unknown != nil { // an earlier process has told the beginning
				before := e.Before
				e.Before = 0
				if told, err = clean(e, secrets); err == nil {
					told.Before = before
					whole, err = said.Whole(told)
				}
			}
			told = whole
		}
		if err == nil {
			to.Emit(told)
		}
		if e.Kind == event.RunFinished {
			said.Forget(e.Run)
		}
	})
}

// clean is an event as a redactor would write it, cut where it goes on with a
// conversation.
func clean(e event.Event, secrets map[string]string) (event.Event, error) {
	text, err := e.MarshalJSON()
	if err != nil {
		return e, err
	}
	shown := Text(string(text), secrets)
	if e.Kind != event.ModelCalled && shown == string(text) {
		return e, nil
	}
	var told event.Event
	err = json.Unmarshal([]byte(shown), &told)
	told.Run = e.Run
	return told, err
}

// Text is a text without the secrets.
func Text(text string, secrets map[string]string) string {
	var out strings.Builder
	w := Writer(&out, secrets)
	io.WriteString(w, text)
	Flush(w)
	return out.String()
}

// Behind is the stream behind a [Writer], for what must not be looked through: it
// counts bytes, or knows where a message ends. Any other stream is itself.
func Behind(out io.Writer) io.Writer {
	if r, ok := out.(*redactor); ok {
		return r.out
	}
	return out
}

// Flush lets out what waits.
func Flush(out io.Writer) {
	if r, ok := out.(*redactor); ok && len(r.kept) > 0 {
		r.out.Write(r.kept)
		r.kept = nil
	}
}
