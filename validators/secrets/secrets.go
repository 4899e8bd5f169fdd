// Package secrets finds credentials in a text. It takes bytes and gives
// places: what a gate makes of them, and how they are shown, is the gate's.
//
// A text is read once. A sieve of three bytes stops at the words that may begin
// or name a credential, and only there anything else is asked:
//
//   - a token, which says by its first characters whose it is (ghp_, AKIA,
//     -----BEGIN): a row of tokens.txt, whose pattern must match right there;
//   - a name that speaks of a credential (api_key, clientSecret, user_auth)
//     with a value behind a sign that gives it one, in the manner of any
//     configuration or programming language: whatever looks random;
//   - an address with a password in it, and the options by which a few programs take one;
//   - a token wrapped in base64.
//
// What tokens look like is gitleaks' knowledge (github.com/gitleaks/gitleaks,
// Copyright (c) 2019 Zachary Rice, MIT licence): tokens.txt follows its rules
// of version 8.30.1. Its module is not used: it brings 60 others and 8 MB of
// binary for archives, templates and configuration. Nor are its expressions used
// as they are: most of the 222 begin with [\w.-]{0,50}? and a service's name, and
// take between one and fifteen seconds for a megabyte of code, which is read here
// in 3 ms. They are not needed either, for what is assigned to a name is judged
// by how it looks and not by whose it is. The module measure counts both on
// gitleaks' own fixtures: 98 % of 6,368 are found here, with 28 false alarms of
// 342 where gitleaks has 31. What is missed for good are numbers (the identifiers
// of clients of Discord and Asana) and values without a digit.
//
// Time is linear in the text: behind a stop only so much is looked at as the
// longest token may have.
package secrets

import (
	"iter"
	"strings"
)

// A Secret is where a credential stands and what it is.
type Secret struct {
	Name       string // what it is, in words: "a GitHub token"
	Start, End int    // where it stands, in bytes
	Shown      int    // how many of its first bytes say nothing secret
}

// In finds the credentials of a text, in its order; none begins within another.
// Stand-ins such as documentation writes them (xxxx, your-key-here, <token>,
// ${TOKEN}, abcdefgh…) are none, nor are identifiers, hashes and UUIDs on their
// own.
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

// A reader is a text with what is known of it at one stop.
type reader struct {
	text    string
	past    int // the end of what was found last
	name    int // the end of the name that was looked at last
	command int // the end of the command that was looked at last
	run     int // the end of the characters of tokens that a row was tried in last
	tried   [maxRows]uint8
}

// maxRows is how many rows tokens.txt may have, maxTries how often one is tried
// among characters of tokens without anything else between them: a text of
// nothing but beginnings would keep it busy otherwise.
const (
	maxRows  = 128
	maxTries = 8
)

// token is the token whose literal stands at a place.
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

// at asks what stands at a stop.
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

// window is the text from a place on, cut after some bytes.
func window(text string, at, most int) string {
	return text[at:min(len(text), at+most)]
}

const (
	digits  = "0123456789"
	small   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	wordy   = digits + small + capital + "_"
)

// within tells a byte that is in an alphabet.
func within(alphabet string, c byte) bool { return strings.IndexByte(alphabet, c) >= 0 }

// run is how many bytes of a text at its beginning are in the alphabet.
func run(text, alphabet string) int {
	for i := range len(text) {
		if !within(alphabet, text[i]) {
			return i
		}
	}
	return len(text)
}
