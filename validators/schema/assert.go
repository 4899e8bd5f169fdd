package schema

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// whole evaluates the words that are about any value. Broken, they end the
// node: what the others say of a value of the wrong kind helps nobody.
func (r *run) whole() {
	v := r.p.value
	is := typeOf(v)
	if is == 0 {
		r.fail("", said(fmt.Sprintf("invalid jsonType %T", v)))
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

// maxFormatted bounds a text of a format, in bytes: its check cannot be interrupted.
const maxFormatted = 1 << 20

// format evaluates the word format at a text.
func (r *run) format(text string) {
	n, price := r.n, len(text)/priceBytes
	if n.format == "regex" {
		price = 20 * patterns.Effort(text)
	}
	if len(text) > maxFormatted {
		r.end(&unchecked{pathOf(r.p.steps()), fmt.Errorf("a text of %d bytes is too long for the format %s, and the maximum is %d", len(text), n.format, maxFormatted)})
	}
	if r.spend(price) {
		err := n.check(text)
		if errors.Is(err, patterns.ErrLarge) {
			r.end(&unchecked{pathOf(r.p.steps()), err})
		} else if err != nil {
			r.fail("format", func() Violation {
				return Violation{Message: fmt.Sprintf("%s is not valid %s: %v", display(text), n.format, err), Expected: "format " + n.format, Got: show(text)}
			})
		}
	}
}

// equal pays for what has to be read of v.
func (r *run) equal(v any, other string) bool {
	return r.spend(heft(v, r.left)/8) && canonical(v) == other
}

func (r *run) among(e *enum, v any, is typeSet) bool {
	if text, ok := v.(string); ok {
		return e.texts[text]
	}
	return e.types&is != 0 && r.spend(heft(v, r.left)/8) && e.known[canonical(v)]
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
	if !r.spend(len(s) / priceBytes) {
		return
	}
	if t.min >= 0 || t.max >= 0 {
		r.bounds("Length", utf8.RuneCountInString(s), t.min, t.max)
	}
	if t.pattern != nil && !r.over() && !r.matches(t.pattern, s) && r.err == nil {
		r.fail("pattern", func() Violation {
			return Violation{
				Message:  Clip(quoted(Clip(s, maxMessage))+" does not match pattern "+quoted(t.pattern.String()), maxMessage),
				Expected: "match for " + Clip(t.pattern.String(), maxShown), Got: show(s),
			}
		})
	}
}

// matches reports whether a text matches a pattern. If the work ends before, the
// result is false and r.err is set.
func (r *run) matches(p patterns.Matcher, text string) bool {
	matches, err := p.MatchWithin(r.work, text)
	if err != nil {
		r.end(&unchecked{pathOf(r.p.steps()), err})
	}
	return matches && err == nil
}

// bounds evaluates a rule about how many there are.
func (r *run) bounds(of string, got, min, max int) {
	if min >= 0 && got < min {
		r.fail("min"+of, func() Violation {
			return Violation{Message: sentence("min"+of, things(min, of), strconv.Itoa(got)), Expected: "at least " + strconv.Itoa(min), Got: strconv.Itoa(got)}
		})
	}
	if max >= 0 && got > max {
		r.fail("max"+of, func() Violation {
			return Violation{Message: sentence("max"+of, things(max, of), strconv.Itoa(got)), Expected: "at most " + strconv.Itoa(max), Got: strconv.Itoa(got)}
		})
	}
}

func (r *run) number(v any) {
	n := r.n.number
	r.limit("minimum", v, n.minimum, ">= ", func(order int) bool { return order >= 0 })
	r.limit("maximum", v, n.maximum, "<= ", func(order int) bool { return order <= 0 })
	r.limit("exclusiveMinimum", v, n.above, "> ", func(order int) bool { return order > 0 })
	r.limit("exclusiveMaximum", v, n.below, "< ", func(order int) bool { return order < 0 })
	if n.multipleOf != nil && !r.over() && !r.multiple(v, n.multipleOf) {
		r.compared("multipleOf", "a multiple of ", v, n.multipleOf)
	}
}

func (r *run) limit(word string, v, limit any, sign string, holds func(order int) bool) {
	if limit == nil || r.over() {
		return
	}
	if order, ok := Compare(v, limit); ok && !holds(order) {
		r.compared(word, sign, v, limit)
	}
}

func (r *run) compared(word, sign string, v, want any) {
	r.fail(word, func() Violation {
		return Violation{Message: sentence(word, show(want), show(v)), Expected: sign + show(want), Got: show(v)}
	})
}

// multiple divides exactly, digit by digit as the numbers are written.
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

// quoted writes a text as messages do.
func quoted(s string) string {
	s = strings.ReplaceAll(strconv.Quote(Clip(s, maxMessage)), `\"`, `"`)
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

// display writes a value as messages do.
func display(v any) string {
	if text, ok := v.(string); ok {
		return quoted(text)
	}
	return show(v)
}

// maxShown bounds a value quoted in a violation, in bytes.
const maxShown = 120

func show(v any) string {
	text, err := Encode(v)
	if err != nil {
		return ""
	}
	return Clip(string(text), maxShown)
}
