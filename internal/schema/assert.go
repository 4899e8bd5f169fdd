package schema

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/patterns"
)

// generic evaluates the keywords for values of every type. If one fails, the
// node ends: further messages about a value of the wrong kind would not help.
func (r *run) generic() {
	v := r.p.value
	is := typeOf(v)
	if is == 0 {
		r.fail("", message(fmt.Sprintf("invalid jsonType %T", v)))
		return
	}
	n := r.n
	if n.types != 0 && n.types&is == 0 && !(n.types&integerType != 0 && is == numberType && isInteger(v)) {
		r.fail("type", func() Violation { return mistyped(n.types, v) })
		return
	}
	if n.constant != nil && !r.equal(v, n.constant.canonical) {
		r.fail("const", func() Violation {
			return Violation{Message: sentence("const", display(n.constant.value)), Expected: show(n.constant.value), Got: show(v)}
		})
		return
	}
	if n.enum != nil && !r.among(n.enum, v, is) {
		r.fail("enum", func() Violation {
			return Violation{Message: n.enum.message(), Expected: "one of " + show(n.enum.values), Got: show(v)}
		})
		return
	}
	if text, ok := v.(string); ok && n.check != nil {
		r.format(text)
	}
}

// maxFormatted is the maximum length of a text with a format, in bytes. The
// check of a format cannot be interrupted.
const maxFormatted = 1 << 20

// format evaluates the keyword format for a text.
func (r *run) format(text string) {
	n, price := r.n, len(text)/bytesPerUnit
	if n.format == "regex" {
		price = 20 * patterns.Effort(text)
	}
	if len(text) > maxFormatted {
		r.end(&textError{pathOf(r.p.steps()), fmt.Errorf("a text of %d bytes is too long for the format %s, and the maximum is %d", len(text), n.format, maxFormatted)})
	}
	if r.spend(price) {
		err := n.check(text)
		if errors.Is(err, patterns.ErrLarge) {
			r.end(&textError{pathOf(r.p.steps()), err})
		} else if err != nil {
			r.fail("format", func() Violation {
				return Violation{Message: fmt.Sprintf("%s is not valid %s: %v", display(text), n.format, err), Expected: "format " + n.format, Got: show(text)}
			})
		}
	}
}

// equal reports whether v is equal to a value in canonical form. It pays for
// reading v.
func (r *run) equal(v any, other string) bool {
	return r.spend(byteSize(v, r.left)/8) && canonical(v) == other
}

func (r *run) among(e *enum, v any, is typeSet) bool {
	if text, ok := v.(string); ok {
		return e.texts[text]
	}
	return e.types&is != 0 && r.spend(byteSize(v, r.left)/8) && e.known[canonical(v)]
}

func (e *enum) message() string {
	words := make([]string, len(e.values))
	for i, v := range e.values {
		words[i] = display(v)
	}
	if len(words) == 1 {
		return sentence("const", words[0])
	}
	return sentence("enum", strings.Join(words, ", "))
}

func (r *run) text(s string) {
	t := r.n.text
	if !r.spend(len(s) / bytesPerUnit) {
		return
	}
	if t.min >= 0 || t.max >= 0 {
		r.bounds("Length", utf8.RuneCountInString(s), t.min, t.max)
	}
	if t.pattern != nil && !r.done() && !r.matches(t.pattern, s) && r.err == nil {
		r.fail("pattern", func() Violation {
			return Violation{
				Message:  clips.Bytes(quoted(clips.Bytes(s, maxMessage))+" does not match pattern "+quoted(t.pattern.String()), maxMessage),
				Expected: "match for " + clips.Bytes(t.pattern.String(), maxShown), Got: show(s),
			}
		})
	}
}

// matches reports whether a text matches a pattern. If the budget ends first,
// it returns false and sets r.err.
func (r *run) matches(p patterns.Matcher, text string) bool {
	matches, err := p.MatchWithin(r.budget, text)
	if err != nil {
		r.end(&textError{pathOf(r.p.steps()), err})
	}
	return matches && err == nil
}

// bounds evaluates a pair of keywords that limit a count.
func (r *run) bounds(of string, got, min, max int) {
	if min >= 0 && got < min {
		r.fail("min"+of, func() Violation {
			return Violation{Message: sentence("min"+of, countInWords(min, of), strconv.Itoa(got)), Expected: "at least " + strconv.Itoa(min), Got: strconv.Itoa(got)}
		})
	}
	if max >= 0 && got > max {
		r.fail("max"+of, func() Violation {
			return Violation{Message: sentence("max"+of, countInWords(max, of), strconv.Itoa(got)), Expected: "at most " + strconv.Itoa(max), Got: strconv.Itoa(got)}
		})
	}
}

func (r *run) number(v any) {
	n := r.n.number
	r.limit("minimum", v, n.minimum, ">= ", func(order int) bool { return order >= 0 })
	r.limit("maximum", v, n.maximum, "<= ", func(order int) bool { return order <= 0 })
	r.limit("exclusiveMinimum", v, n.above, "> ", func(order int) bool { return order > 0 })
	r.limit("exclusiveMaximum", v, n.below, "< ", func(order int) bool { return order < 0 })
	if n.multipleOf != nil && !r.done() && !r.multiple(v, n.multipleOf) {
		r.failComparison("multipleOf", "a multiple of ", v, n.multipleOf)
	}
}

func (r *run) limit(word string, v, limit any, sign string, holds func(order int) bool) {
	if limit == nil || r.done() {
		return
	}
	if order, ok := Compare(v, limit); ok && !holds(order) {
		r.failComparison(word, sign, v, limit)
	}
}

func (r *run) failComparison(word, sign string, v, want any) {
	r.fail(word, func() Violation {
		return Violation{Message: sentence(word, show(want), show(v)), Expected: sign + show(want), Got: show(v)}
	})
}

// multiple reports whether v is a multiple of another number. It divides
// exactly, by the decimal digits as written.
func (r *run) multiple(v, of any) bool {
	a, whole := v.(int)
	b, both := of.(int)
	if whole && both && b != 0 {
		return a%b == 0
	}
	x, y := rational(v), rational(of)
	if x == nil || y == nil || y.Sign() == 0 || !r.spend((x.Num().BitLen()+x.Denom().BitLen()+y.Num().BitLen()+y.Denom().BitLen())/8) {
		return true
	}
	return new(big.Rat).Quo(x, y).IsInt()
}

func rational(v any) *big.Rat {
	text, ok := written(v)
	if !ok {
		return nil
	}
	x, _ := new(big.Rat).SetString(text)
	return x
}

// quoted returns a text in single quotes, escaped and clipped for a message.
func quoted(s string) string {
	s = strings.ReplaceAll(strconv.Quote(clips.Bytes(s, maxMessage)), `\"`, `"`)
	s = strings.ReplaceAll(s, `'`, `\'`)
	return "'" + s[1:len(s)-1] + "'"
}

func quotedAll(words []string) string {
	var b strings.Builder
	for i, word := range words {
		if b.Len() > maxMessage {
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(word))
	}
	return b.String()
}

// display returns a value for a message: a text in quotes, other values as
// JSON.
func display(v any) string {
	if text, ok := v.(string); ok {
		return quoted(text)
	}
	return show(v)
}

// maxShown is the maximum length of a value in a violation, in bytes.
const maxShown = 120

func show(v any) string {
	text, err := Encode(v)
	if err != nil {
		return ""
	}
	return clips.Bytes(string(text), maxShown)
}
