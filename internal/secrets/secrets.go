// Package secrets finds credentials in a text. It returns their places; callers
// decide how to report them.
//
// The text is read once. A sieve stops at words that may begin or name a
// credential. At each stop, the package looks for:
//
//   - a token with a typical beginning (ghp_, AKIA, -----BEGIN): a row of tokens.txt whose pattern matches there;
//   - a name of a credential (api_key, clientSecret, user_auth) with an assigned value that looks random, in the syntax of any configuration or programming language;
//   - a URL with a password, and the password options of a few programs;
//   - a token that is encoded in base64.
//
// tokens.txt follows the rules of gitleaks 8.30.1
// (github.com/gitleaks/gitleaks, Copyright (c) 2019 Zachary Rice, MIT licence).
// The package does not import gitleaks, which adds 60 modules and 8 MB to the
// binary. It does not use the original expressions either. Most of the 222
// begin with [\w.-]{0,50}? and the name of a service, and take 1 to 15 seconds
// for a megabyte of code, which this package reads in 3 ms. They are not
// needed, because an assigned value is judged by its form and not by its
// service.
//
// The module measure runs both on gitleaks' fixtures. This package finds 98 %
// of 6,368, and reports 28 of 342 false positives where gitleaks reports 31. It
// does not find numbers, such as client IDs of Discord and Asana, and values
// without a digit.
//
// The time is linear in the text, because the search after a stop is limited to
// the length of the longest token.
package secrets

import (
	"iter"
	"strings"
)

// A Secret is the place and the kind of a credential.
type Secret struct {
	Name       string // its kind in words: "a GitHub token"
	Start, End int    // its place, in bytes
	Shown      int    // the number of its first bytes that are not secret
}

// In returns the credentials of a text in order, without overlaps. Placeholders
// of documentation (xxxx, your-key-here, <token>, ${TOKEN}, abcdefgh…) are not
// credentials. Neither are bare identifiers, hashes and UUIDs.
func In(text string) iter.Seq[Secret] {
	return func(yield func(Secret) bool) {
		r := reader{text: text}
		for at, word := range words().in(text) {
			found, ok := r.at(at, word)
			if !ok || found.Start < r.past {
				continue
			}
			if r.past = found.End; !yield(found) {
				return
			}
		}
	}
}

// A reader is a text with the state of the search.
type reader struct {
	text    string
	past    int // the end of the last credential
	name    int // the end of the last name
	command int // the end of the last command
	run     int // the end of the last run of token characters that a row was tried in
	tried   [maxRows]uint8
}

// maxRows is the maximum number of rows in tokens.txt. maxTries limits the
// tries of a row in one run of token characters. Without it, a text that
// repeats the beginning of a token would be slow.
const (
	maxRows  = 128
	maxTries = 8
)

// token returns the token whose literal is at an offset.
func (r *reader) token(t *token, at int) (Secret, bool) {
	if at >= r.run {
		r.run, r.tried = at+run(r.text[at:], wordy+`-./+=~:%|\`), [maxRows]uint8{}
	}
	if r.tried[t.row] == maxTries {
		return Secret{}, false
	}
	found, ok := t.at(r.text, at)
	if !ok {
		r.tried[t.row]++
	}
	return found, ok
}

// at returns the credential at a stop.
func (r *reader) at(at int, w word) (Secret, bool) {
	switch w.kind {
	case aToken:
		return r.token(w.token, at)
	case aName:
		return r.assignment(at, len(w.text))
	case anAddress:
		return inAddress(r.text, at+len(w.text))
	default:
		return r.inCommand(at, w.text)
	}
}

// window returns the text from an offset, cut after a number of bytes.
func window(text string, at, most int) string {
	return text[at:min(len(text), at+most)]
}

const (
	digits  = "0123456789"
	small   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	wordy   = digits + small + capital + "_"
)

// within reports whether a byte is in an alphabet.
func within(alphabet string, c byte) bool { return strings.IndexByte(alphabet, c) >= 0 }

// run returns the length of the longest prefix whose bytes are in the alphabet.
func run(text, alphabet string) int {
	for i := range len(text) {
		if !within(alphabet, text[i]) {
			return i
		}
	}
	return len(text)
}
