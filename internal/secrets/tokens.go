package secrets

import (
	_ "embed"
	"encoding/base64"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// A token is the format of a service's credentials.
type token struct {
	name     string
	row      int      // its row in the table
	bits     float64  // the minimum entropy, in bits per byte; 0 if the pattern is enough
	literals []string // the token contains one of them
	before   int      // the number of bytes of the token before the literal
	pattern  func() *regexp.Regexp
}

// longest is the maximum length of a token.
const longest = 4096

//go:embed tokens.txt
var rows string

// tokens are the rows of tokens.txt. An expression is compiled when its literal
// first occurs.
var tokens = sync.OnceValue(func() []*token {
	var all []*token
	for line := range strings.Lines(rows) {
		columns := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(columns) != 4 {
			continue
		}
		bits, _ := strconv.ParseFloat(columns[1], 64)
		t := &token{name: columns[0], row: len(all), bits: bits, pattern: patterns.Lazy(`^(?:` + columns[3] + `)`)}
		for literal := range strings.FieldsSeq(columns[2]) {
			bare := strings.TrimLeft(literal, "?")
			t.literals, t.before = append(t.literals, bare), len(literal)-len(bare)
		}
		all = append(all, t)
	}
	for _, t := range all {
		if t.literals[0] == wrapped {
			t.literals = append(t.literals, wrappings(all)...)
		}
	}
	return all
})

// wrappings returns the beginnings of tokens in base64.
func wrappings(all []*token) []string {
	var out []string
	for _, t := range all {
		for _, literal := range t.literals {
			if t.before == 0 && len(literal) > reach && literal != wrapped {
				out = append(out, base64.RawStdEncoding.EncodeToString([]byte(literal))[:len(literal)*8/6])
			}
		}
	}
	return out
}

// at returns the token whose literal is at an offset. The token must not begin
// inside a word, be invented or be public.
func (t *token) at(text string, at int) (Secret, bool) {
	start := at - t.before
	if start < 0 || !beginsWord(text, start) {
		return Secret{}, false
	}
	rest := window(text, start, longest)
	m := t.pattern().FindStringIndex(rest)
	if m == nil || within(wordy, rest[m[1]-1]) && continues(rest[m[1]:], start > 0 && text[start-1] == '_') {
		return Secret{}, false
	}
	value := rest[:m[1]]
	if t.bits > 0 && (entropy(value) <= t.bits || madeUp(value) || public(value)) || !t.bears(value, text[start+m[1]:]) {
		return Secret{}, false
	}
	shown := 0
	if t.before == 0 {
		shown = min(len(t.literals[0]), m[1])
	}
	return Secret{t.name, start, start + m[1], shown}, true
}

// bears checks conditions that a pattern cannot express: base64 must contain a
// token, an ambiguous prefix needs a random rest, and a private key must have
// content.
func (t *token) bears(value, behind string) bool {
	switch t.literals[0] {
	case wrapped:
		return unwraps(value)
	case "sk-":
		return hasRandomPart(value)
	case "-----BEGIN":
		return !strings.Contains(value, "-----END") && !strings.Contains(window(behind, 0, shortest), "-----END")
	}
	return true
}

// shortest is the minimum number of bytes between the first and the last line
// of a private key.
const shortest = 64

// continues reports whether a word continues after a token. If Markdown
// emphasizes the token (_ghp_…_), the closing marks are not part of it.
func continues(behind string, stressed bool) bool {
	if stressed {
		behind = strings.TrimLeft(behind, "_")
	}
	return behind != "" && within(wordy, behind[0])
}

// beginsWord reports whether a token may begin at an offset. The text before
// the offset must not end with a word character, except Markdown emphasis (_ or
// __) or an escape in JSON (\n) or a URL (%3D).
func beginsWord(text string, at int) bool {
	if marks := strings.TrimRight(text[max(0, at-2):at], "_"); marks == "" && at <= 2 || marks != "" && !within(wordy, marks[len(marks)-1]) {
		return true
	} else if marks == "" {
		return !within(wordy, text[at-3])
	}
	return at > 1 && text[at-2] == '\\' && within("nrt", text[at-1]) ||
		at > 2 && text[at-3] == '%' && within(digits, text[at-2]) ||
		at > 5 && text[at-6] == '\\' && text[at-5] == 'u'
}

// wrapped is the beginning of a JSON web token in base64.
const wrapped = "ZXlK"

// unwraps reports whether a value decodes to the beginning of a token.
func unwraps(value string) bool {
	value = strings.TrimRight(value, "=")
	if len(value)%4 == 1 { // cut off
		value = value[:len(value)-1]
	}
	decoded, err := base64.RawStdEncoding.DecodeString(value)
	if err != nil {
		return false
	}
	inside := string(decoded)
	for _, w := range words().at(inside) {
		if w.kind == aToken && w.token.literals[0] != wrapped && w.token.before == 0 && words().has(inside, w.text) {
			if _, ok := w.token.at(inside, 0); ok {
				return true
			}
		}
	}
	return false
}

// public reports whether a token is public, such as the keys in Google's
// examples and of public search indexes. The package stores digests, so no file
// contains a key.
func public(value string) bool {
	digest := fnv.New64a()
	_, _ = digest.Write([]byte(value))
	return publicTokens[digest.Sum64()]
}
