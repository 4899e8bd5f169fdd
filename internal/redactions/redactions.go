// Package redactions removes secrets from output. [Secrets] finds them in the
// environment by the names of variables. [Writer], [WriteJSON], [Text] and
// [Sink] replace them by [redacted NAME] in streams, JSON documents, texts and
// events:
//
//	secrets := redactions.Secrets(os.Environ())
//	out := redactions.Writer(os.Stdout, secrets)
//	defer redactions.Flush(out)
//
// Begin with [Writer].
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

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner/event"
)

// minSecret is the minimum length of a secret, in characters. A shorter value
// could also be an ordinary word.
const minSecret = 8

// Endings of the names of secrets. An ending with _ must be a whole word of the
// name: PATH, COMPASS and PWD are not secrets.
var secretEnds = []string{
	"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "KEYS", "TOKENS", "SECRETS", "PASSWORDS",
	"_PASS", "_PWD", "_PAT", "_AUTH", "_AUTHORIZATION", "_JWT", "_COOKIE", "_WEBHOOK", "_WEBHOOK_URL", "_KEY_ID", "_AUTH_HEADER", "_AUTH_CONFIG",
}

// isSecret reports whether the value of a variable is a secret, by its name. A
// number at the end does not count, as in API_KEY_2.
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

// Secrets returns the secret values in an environment by name: variables with
// the name of a secret, and passwords in URLs.
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
				out[name+" password"] = password // the password may also occur alone
			}
			out[name] = value
		}
	}
	return out
}

// A redactor is a writer that removes secrets. If a write may end within a
// secret, that end is buffered until the next write or Flush.
type redactor struct {
	out      io.Writer
	secrets  [][2][]byte         // pairs of a secret and its replacement
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
	// Longer ones first, because one secret may contain another.
	slices.SortFunc(r.secrets, func(a, b [2][]byte) int {
		return cmp.Or(len(b[0])-len(a[0]), bytes.Compare(a[0], b[0]))
	})
	slices.SortFunc(r.numerals, func(a, b encodings.Numeral) int {
		return cmp.Or(len(b.Text)-len(a.Text), strings.Compare(a.Text, b.Text), strings.Compare(a.Mark, b.Mark))
	})
	return r
}

// forms returns the spellings of a secret: plain, in JSON, in HTML, and with
// visible control characters.
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
			encoded := strings.TrimSpace(quoted.String())
			add(encoded[1 : len(encoded)-1])
		}
	}
	page := template.HTMLEscapeString(value)
	add(page)
	add(strings.ReplaceAll(page, "+", "&#43;")) // as html/template escapes
	add(reports.Visible(value))
	return list
}

// Writer returns a writer that replaces the secrets by their names. Without secrets it
// returns out. Call [Flush] at the end.
func Writer(out io.Writer, secrets map[string]string) io.Writer {
	if r := newRedactor(out, secrets); r != nil {
		return r
	}
	return out
}

// to returns a redactor of the same secrets for another writer.
func (r *redactor) to(out io.Writer) *redactor {
	return &redactor{out: out, secrets: r.secrets, numerals: r.numerals}
}

// isClean reports whether a JSON document certainly contains no secret. It must not
// contain a spelling of a secret or an escape, and no secret may be a number.
func (r *redactor) isClean(document []byte) bool {
	return len(r.numerals) == 0 && !bytes.Contains(document, []byte(`\u`)) &&
		!slices.ContainsFunc(r.secrets, func(s [2][]byte) bool { return bytes.Contains(document, s[0]) })
}

func (r *redactor) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.replaced(append(r.held, p...))
	end := len(text) - r.partialSecret(text)
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

// json redacts a JSON document, which remains valid. It replaces secrets within
// strings. A number that contains a secret, and any value that is a secret,
// becomes a string.
func (r *redactor) json(document []byte) []byte {
	if r.isClean(document) {
		return document
	}
	document = r.strings(encodings.HideNumbers(document, r.numerals))
	for _, s := range r.secrets {
		if bytes.IndexByte([]byte(`{["`), s[0][0]) >= 0 && bytes.Contains(document, s[0]) && json.Valid(s[0]) {
			document = bytes.ReplaceAll(document, s[0], jsonvalue.AppendText(nil, string(s[1])))
		}
	}
	return document
}

func (r *redactor) strings(document []byte) []byte {
	return encodings.Rewrite(document, func(token []byte) []byte {
		text := encodings.Said(token)
		if shown := r.text(string(text)); shown != string(text) {
			return jsonvalue.AppendText(nil, shown)
		}
		return nil
	})
}

// text redacts a text. A JSON object or array remains valid.
func (r *redactor) text(text string) string {
	return string(r.replaced([]byte(encodings.HideNumbersWithin(text, r.numerals))))
}

// partialSecret returns the length of the end of text that may be the beginning
// of a secret.
func (r *redactor) partialSecret(text []byte) int {
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
// document remains valid even if a secret is a number or looks like JSON.
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

// Sink returns a sink that passes on redacted events. It redacts each message
// of a conversation once and reuses the redacted ones.
func Sink(to event.Sink, secrets map[string]string) event.Sink {
	r := newRedactor(nil, secrets)
	if r == nil {
		return to
	}
	var conversations event.Conversations
	return event.Func(func(e event.Event) {
		redacted, err := r.event(e)
		if err == nil && e.Kind == event.ModelCalled {
			whole, unknown := conversations.Restore(redacted)
			if unknown != nil { // an earlier process has emitted the beginning
				before := e.Before
				e.Before = 0
				if redacted, err = r.event(e); err == nil {
					redacted.Before = before
					whole, err = conversations.Restore(redacted)
				}
			}
			redacted = whole
		}
		if err == nil {
			to.Emit(redacted)
		}
		if e.Kind == event.RunFinished {
			conversations.Forget(e.Run)
		}
	})
}

// event redacts an event, without the earlier messages of its conversation. A
// number of the event itself, such as a count of tokens, stays even if it
// contains a secret.
func (r *redactor) event(e event.Event) (event.Event, error) {
	at := e.Time
	e.Time = time.Time{} // a secret that looks like a date must not change the event's time
	text, err := e.MarshalJSON()
	e.Time = at
	if err != nil {
		return e, err
	}
	var redacted event.Event
	shown := encodings.HideNumbersAs(r.strings(text), r.numerals, func(raw []byte) bool {
		return json.Unmarshal(raw, new(event.Event)) == nil
	})
	if e.Kind != event.ModelCalled && bytes.Equal(shown, text) {
		return e, nil
	}
	err = json.Unmarshal(shown, &redacted)
	redacted.Run, redacted.Kind, redacted.Time = e.Run, e.Kind, at
	return redacted, err
}

// Text returns a text without the secrets. A JSON object or array remains
// valid.
func Text(text string, secrets map[string]string) string {
	r := newRedactor(nil, secrets)
	if r == nil {
		return text
	}
	return r.text(text)
}

// Unwrap returns the writer behind a [Writer], for protocols that count bytes.
// It returns any other writer unchanged.
func Unwrap(out io.Writer) io.Writer {
	if r, ok := out.(*redactor); ok {
		return r.out
	}
	return out
}

// Flush writes the buffered end of a [Writer].
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
