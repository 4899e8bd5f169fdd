// Package redactions removes secrets from output. [Secrets] finds them in the
// environment by the names of variables. [Writer], [WriteJSON], [Text] and [Sink] write
// [redacted NAME] in their place: in streams, JSON documents, texts and events.
package redactions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/reports"
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

// A redactor writes what it is given, without secrets. The end of a write that may
// be the beginning of a secret waits for the next write, or for Flush.
type redactor struct {
	out      io.Writer
	secrets  [][2][]byte         // what is looked for, what stands for it
	numerals []encodings.Numeral // secrets that are numbers

	mu   sync.Mutex
	held []byte
}

// newRedactor returns nil if there are no secrets.
func newRedactor(out io.Writer, secrets map[string]string) *redactor {
	if len(secrets) == 0 {
		return nil
	}
	r := &redactor{out: out}
	for name, value := range secrets {
		mark := "[redacted " + name + "]"
		for _, form := range forms(value) {
			r.secrets = append(r.secrets, [2][]byte{[]byte(form), []byte(mark)})
		}
		r.numerals = append(r.numerals, encodings.Numerals(value, minSecret, func(int) string { return mark })...)
	}
	// The longest first: one secret may hold another.
	slices.SortFunc(r.secrets, func(a, b [2][]byte) int {
		return cmp.Or(len(b[0])-len(a[0]), bytes.Compare(a[0], b[0]))
	})
	slices.SortFunc(r.numerals, func(a, b encodings.Numeral) int {
		return cmp.Or(len(b.Text)-len(a.Text), strings.Compare(a.Text, b.Text), strings.Compare(a.Mark, b.Mark))
	})
	return r
}

// forms returns the spellings of a secret: as it is, in JSON, in HTML, and with
// control characters made visible.
func forms(value string) []string {
	list := []string{value}
	add := func(form string) {
		if !slices.Contains(list, form) {
			list = append(list, form)
		}
	}
	for _, html := range []bool{false, true} {
		var quoted bytes.Buffer
		e := json.NewEncoder(&quoted)
		e.SetEscapeHTML(html)
		if e.Encode(value) == nil {
			said := strings.TrimSpace(quoted.String())
			add(said[1 : len(said)-1])
		}
	}
	page := template.HTMLEscapeString(value)
	add(page)
	add(strings.ReplaceAll(page, "+", "&#43;")) // as html/template escapes
	add(reports.Visible(value))
	return list
}

// Writer returns out without the secrets, by the names they go under, or out itself
// if there are none. Call [Flush] at the end.
func Writer(out io.Writer, secrets map[string]string) io.Writer {
	if r := newRedactor(out, secrets); r != nil {
		return r
	}
	return out
}

// to returns a redactor of the same secrets that writes to out.
func (r *redactor) to(out io.Writer) *redactor {
	return &redactor{out: out, secrets: r.secrets, numerals: r.numerals}
}

// without reports whether JSON certainly holds no secret: none of a spelling of its
// own, none that is a number, and none that an escape may hide.
func (r *redactor) without(document []byte) bool {
	return len(r.numerals) == 0 && !bytes.Contains(document, []byte(`\u`)) &&
		!slices.ContainsFunc(r.secrets, func(s [2][]byte) bool { return bytes.Contains(document, s[0]) })
}

func (r *redactor) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.replaced(append(r.held, p...))
	end := len(text) - r.begun(text)
	r.held = slices.Clone(text[end:])
	if _, err := r.out.Write(text[:end]); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (r *redactor) replaced(text []byte) []byte {
	for _, s := range r.secrets {
		if bytes.Contains(text, s[0]) {
			text = bytes.ReplaceAll(text, s[0], s[1])
		}
	}
	return text
}

// json returns a JSON document without secrets, as JSON: it replaces secrets within
// strings, and each number that is or contains a secret, and each value that is a
// secret, by a string.
func (r *redactor) json(document []byte) []byte {
	if r.without(document) {
		return document
	}
	document = r.strings(encodings.HideNumbers(document, r.numerals))
	for _, s := range r.secrets {
		if bytes.IndexByte([]byte(`{["`), s[0][0]) >= 0 && bytes.Contains(document, s[0]) && json.Valid(s[0]) {
			document = bytes.ReplaceAll(document, s[0], model.AppendText(nil, string(s[1])))
		}
	}
	return document
}

func (r *redactor) strings(document []byte) []byte {
	return encodings.Rewrite(document, func(token []byte) []byte {
		said := encodings.Said(token)
		if shown := r.text(string(said)); shown != string(said) {
			return model.AppendText(nil, shown)
		}
		return nil
	})
}

// text returns a text without secrets. If the text is a JSON object or array it
// remains one.
func (r *redactor) text(said string) string {
	return string(r.replaced([]byte(encodings.HideNumbersWithin(said, r.numerals))))
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

// WriteJSON writes a JSON document, or a text that may be one, to a [Writer]. A
// document remains valid also if a secret is a number or looks like a part of JSON.
func WriteJSON(out io.Writer, document []byte) error {
	r, ok := out.(*redactor)
	if !ok || !json.Valid(document) {
		_, err := out.Write(document)
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush()
	_, err := r.out.Write(r.json(document))
	return err
}

// Sink returns a sink that passes events on without secrets. It looks through each
// message of a conversation once; the earlier ones have been cleaned already.
func Sink(to event.Sink, secrets map[string]string) event.Sink {
	r := newRedactor(nil, secrets)
	if r == nil {
		return to
	}
	var said event.Conversations
	return event.Func(func(e event.Event) {
		told, err := r.event(e)
		if err == nil && e.Kind == event.ModelCalled {
			whole, unknown := said.Whole(told)
			if unknown != nil { // an earlier process has told the beginning
				before := e.Before
				e.Before = 0
				if told, err = r.event(e); err == nil {
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

// event returns an event without secrets, cut where it continues a conversation.
// A number of the event itself, such as a count of tokens, stays if it happens to
// contain a secret.
func (r *redactor) event(e event.Event) (event.Event, error) {
	at := e.Time
	e.Time = time.Time{} // a date that is a password does not change the event's
	text, err := e.MarshalJSON()
	e.Time = at
	if err != nil {
		return e, err
	}
	var told event.Event
	shown := encodings.HideNumbersAs(r.strings(text), r.numerals, func(raw []byte) bool {
		return json.Unmarshal(raw, new(event.Event)) == nil
	})
	if e.Kind != event.ModelCalled && bytes.Equal(shown, text) {
		return e, nil
	}
	err = json.Unmarshal(shown, &told)
	told.Run, told.Kind, told.Time = e.Run, e.Kind, at
	return told, err
}

// Text returns a text without the secrets. A JSON object or array remains one.
func Text(text string, secrets map[string]string) string {
	r := newRedactor(nil, secrets)
	if r == nil {
		return text
	}
	return r.text(text)
}

// Behind returns the stream behind a [Writer], for protocols that count bytes. It
// returns any other stream as it is.
func Behind(out io.Writer) io.Writer {
	if r, ok := out.(*redactor); ok {
		return r.out
	}
	return out
}

// Flush writes what a [Writer] holds back.
func Flush(out io.Writer) {
	if r, ok := out.(*redactor); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.flush()
	}
}

func (r *redactor) flush() {
	if len(r.held) > 0 {
		r.out.Write(r.held)
		r.held = nil
	}
}
