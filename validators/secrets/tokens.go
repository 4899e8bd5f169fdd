package secrets

import (
	_ "embed"
	"encoding/base64"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A token is how a service's credentials look.
type token struct {
	name     string
	row      int      // which row of the table it is
	bits     float64  // what its entropy is more than, in bits for each byte; 0: its shape alone tells
	literals []string // one of them stands in it
	before   int      // how many bytes of it stand before the literal
	pattern  func() *regexp.Regexp
}

// longest is how much of a token is read.
const longest = 4096

//go:embed tokens.txt
var rows string

// tokens are the rows of tokens.txt. Their expressions are compiled when their
// literal is met.
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

// wrappings are what the base64 of tokens begins with.
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

// at is the token whose literal stands at a place: not in the middle of a word,
// neither made up nor known to be public.
func (t *token) at(text string, at int) (Secret, bool) {
	start := at - t.before
	if start < 0 || !beginsWord(text, start) {
		return Secret{}, false
	}
	rest := window(text, start, longest)
	m := t.pattern().FindStringIndex(rest)
	if m == nil || within(wordy, rest[m[1]-1]) && goesOn(rest[m[1]:], start > 0 && text[start-1] == '_') {
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

// bears says what a pattern cannot: that base64 holds a token, that a prefix
// which words have too goes before something random, and that a private key does
// not end where it begins.
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

// shortest is how many bytes stand between the first line of a private key and
// its last, at least.
const shortest = 64

// goesOn says that a word goes on behind a token; of one that Markdown stresses
// (_ghp_…_) the marks that end it are none of it.
func goesOn(behind string, stressed bool) bool {
	if stressed {
		behind = strings.TrimLeft(behind, "_")
	}
	return behind != "" && within(wordy, behind[0])
}

// beginsWord says that a token may begin at a place: what stands before it is no
// part of a word, but marks of Markdown's (_ or __) or the end of an escape as JSON
// (\n) and addresses (%3D) have.
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

// wrapped is how the base64 of a JSON web token begins.
const wrapped = "ZXlK"

// unwraps says that what base64 holds begins with a token.
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

// public says that a token is one of those that stand in everybody's code, such
// as the keys of examples of Google's and of public search indexes. They are
// known by a digest: no file here holds a key.
func public(value string) bool {
	digest := fnv.New64a()
	_, _ = digest.Write([]byte(value))
	return publicTokens[digest.Sum64()]
}
