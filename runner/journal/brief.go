package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
)

// A brief reads what is counted of rows, and no more: of a hundred thousand
// attempts the decoding of all their JSON would take most of the time. What it
// gives is what decoding gives; where that fails, bad is set.
type brief struct {
	words map[string]string // by their tokens: names and reasons come again and again
	bad   bool
}

// mostWords bounds the words that are kept, longestWord those that are worth it.
const (
	mostWords   = 4096
	longestWord = 128
)

// object calls field for each of the fields of an object, null being none.
func (b *brief) object(raw []byte, field func(name, value []byte)) {
	if string(raw) == "null" {
		return
	}
	rest, opened := bytes.CutPrefix(raw, []byte("{"))
	rest, closed := bytes.CutSuffix(rest, []byte("}"))
	b.bad = b.bad || !opened || !closed
	for !b.bad && len(rest) > 0 {
		n := encodings.TokenEnd(rest)
		if rest[0] != '"' || n+1 >= len(rest) || rest[n] != ':' {
			b.bad = true
			return
		}
		name, after := rest[1:n-1], rest[n+1:]
		end := encodings.ValueEnd(after)
		if end == 0 || end < len(after) && (after[end] != ',' || end+1 == len(after)) {
			b.bad = true
			return
		}
		field(name, after[:end])
		rest = after[min(end+1, len(after)):]
	}
}

// text is the string that a token says.
func (b *brief) text(token []byte) []byte {
	switch {
	case string(token) == "null":
		return nil
	case len(token) < 2 || token[0] != '"':
		b.bad = true
		return nil
	}
	return encodings.Said(token)
}

// word is a string that is likely to come again.
func (b *brief) word(token []byte) string {
	if known, ok := b.words[string(token)]; ok {
		return known
	}
	said := string(b.text(token))
	if len(token) <= longestWord && len(b.words) < mostWords {
		b.words[string(token)] = said
	}
	return said
}

func (b *brief) whole(token []byte) int {
	n, err := strconv.Atoi(string(token))
	b.bad = b.bad || err != nil && string(token) != "null"
	return n
}

func (b *brief) real(token []byte) float64 {
	f, err := strconv.ParseFloat(string(token), 64)
	b.bad = b.bad || err != nil && string(token) != "null"
	return f
}

func (b *brief) truth(token []byte) bool {
	b.bad = b.bad || string(token) != "true" && string(token) != "false" && string(token) != "null"
	return string(token) == "true"
}

// name names a text that a token has, or that it has the name of.
func (b *brief) name(token []byte) string {
	said := b.text(token)
	if len(said) == 0 {
		return ""
	}
	if name, ok := bytes.CutPrefix(said, []byte(reference[1:])); ok && len(name) == TextDigits {
		return string(name)
	}
	sum := sha256.Sum256(said)
	return hex.EncodeToString(sum[:TextDigits/2])
}

// verdict reads a verdict, without what it says beside yes or no and why.
func (b *brief) verdict(l *logged) (v event.Verdict, broke bool) {
	if l.saysAll() {
		said := l.values
		valid := b.truth(said[6])
		return event.Verdict{
			Path: l.path, Phase: b.word(said[0]), Attempt: b.whole(said[1]), Turn: b.whole(said[2]), Moment: b.word(said[3]),
			Validator: b.word(said[4]), Mode: b.word(said[5]), Valid: &valid, Reason: b.word(said[7]),
		}, false
	}
	v.Path = l.path
	there := false
	b.object(l.peek(), func(name, raw []byte) {
		if string(name) != "verdict" {
			return
		}
		there = string(raw) != "null"
		b.object(raw, func(name, value []byte) {
			broke = b.verdictField(&v, name, value) || broke
		})
	})
	b.bad = b.bad || !there
	return v, broke
}

// verdictField reads a field of a verdict, and tells of one that says why there is
// none.
func (b *brief) verdictField(v *event.Verdict, name, value []byte) (broke bool) {
	none := string(value) == "null"
	switch string(name) {
	case "phase":
		v.Phase = b.word(value)
	case "attempt":
		v.Attempt = b.whole(value)
	case "turn":
		v.Turn = b.whole(value)
	case "moment":
		v.Moment = b.word(value)
	case "validator":
		v.Validator = b.word(value)
	case "mode":
		v.Mode = b.word(value)
	case "reason":
		v.Reason = b.word(value)
	case "valid":
		if valid := b.truth(value); !none {
			v.Valid = &valid
		}
	case "score":
		if score := b.real(value); !none {
			v.Score = &score
		}
	case "error":
		return !none
	}
	return false
}

// An answered is what a model's effect came to, as far as it is counted.
type answered struct {
	model, phase, validator, role string
	attempt                       int
	came                          bool // there is a response
	by                            string
	text                          string // its name; "" of what only a check or an evaluator reads
	usage                         model.Usage
}

func (b *brief) answered(l *logged) (r answered) {
	b.object(l.peek(), func(name, value []byte) {
		switch string(name) {
		case "model":
			r.model = b.word(value)
		case "phase":
			r.phase = b.word(value)
		case "validator":
			r.validator = b.word(value)
		case "role":
			r.role = b.word(value)
		case "attempt":
			r.attempt = b.whole(value)
		case "response":
			r.came = string(value) != "null"
			b.object(value, func(name, value []byte) {
				switch string(name) {
				case "text":
					if r.validator == "" && r.role == "" {
						r.text = b.name(value)
					}
				case "model":
					r.by = b.word(value)
				case "usage":
					r.usage = b.usage(value)
				}
			})
		}
	})
	return r
}

func (b *brief) usage(raw []byte) (u model.Usage) {
	b.object(raw, func(name, value []byte) {
		switch string(name) {
		case "model_calls":
			u.Calls = b.whole(value)
		case "input_tokens":
			u.InputTokens = b.whole(value)
		case "output_tokens":
			u.OutputTokens = b.whole(value)
		case "cached_tokens":
			u.Cached = b.whole(value)
		case "cache_write_tokens":
			u.CacheWrite = b.whole(value)
		case "reasoning_tokens":
			u.Reasoning = b.whole(value)
		case "cost_usd":
			u.CostUSD = b.real(value)
		case "estimated":
			u.Estimated = b.truth(value)
		}
	})
	return u
}

// A finish is how an attempt came to its end.
type finish struct {
	phase, status string
	text          string // its name
	attempt       int
}

func (b *brief) finish(l *logged) (e finish) {
	b.object(l.peek(), func(name, value []byte) {
		switch string(name) {
		case "phase":
			e.phase = b.word(value)
		case "status":
			e.status = b.word(value)
		case "text":
			e.text = b.name(value)
		case "attempt":
			e.attempt = b.whole(value)
		}
	})
	return e
}
