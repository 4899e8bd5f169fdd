package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// add appends a number with the sign, the currency and the unit around it.
func (s *scanner) add(n Number) {
	before := s.text[:n.Start]
	if cut := len(s.found) - 1; cut >= 0 {
		before = s.text[s.found[cut].End:n.Start]
	}
	if len(before) > maxAround {
		before = before[len(before)-maxAround:]
	}
	first := len(s.found) == 0
	before = n.sign(before, first)
	before = n.currency(before)
	n.sign(before, first)
	n.unit(s.text[n.End:])
	s.found = append(s.found, n)
}

// maxAround is how far, in bytes, a sign, a currency or a unit can extend.
const maxAround = 32

// sign takes the sign at the end of the text between the previous number, if there is one,
// and this one. A dash after a letter, a figure or a percent sign is no sign.
func (n *Number) sign(before string, first bool) string {
	r, size := utf8.DecodeLastRuneInString(before)
	if r != '-' && r != '−' && r != '+' {
		return before
	}
	rest := before[:len(before)-size]
	outer, _ := utf8.DecodeLastRuneInString(rest)
	if rest == "" && !first || rest != "" && (joined(outer) || outer == r || strings.ContainsRune(")%", outer)) {
		return before
	}
	n.Start -= size
	if r != '+' && n.Value != 0 {
		n.Value = -n.Value
		for i, reading := range n.Readings {
			n.Readings[i] = "-" + reading
		}
	}
	return rest
}

// currency takes the currency at the end of the text before a number: $5, USD 5.
func (n *Number) currency(before string) string {
	text := strings.TrimRight(before, " \u00a0")
	if r, size := utf8.DecodeLastRuneInString(text); unicode.Is(unicode.Sc, r) {
		n.Currency = string(r)
		n.Start -= len(before) - len(text) + size
		return text[:len(text)-size]
	}
	if size := len(text); size >= 3 && size < len(before) && isCode(text[size-3:]) {
		if r, _ := utf8.DecodeLastRuneInString(text[:size-3]); size == 3 || !joined(r) && digit(r) < 0 {
			n.Currency = text[size-3:]
		}
	}
	return before
}

// isCode reports whether a text is three capital letters, as a currency's code is.
func isCode(text string) bool {
	return len(text) == 3 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// unit takes the unit at the beginning of the text after a number.
func (n *Number) unit(after string) {
	after = after[:min(len(after), maxAround)]
	text := after
	if r, size := utf8.DecodeRuneInString(after); r == ' ' || r == '\u00a0' || r == '\u202f' || r == '-' {
		text = after[size:]
	}
	r, size := utf8.DecodeRuneInString(text)
	if next, _ := utf8.DecodeRuneInString(text[size:]); unicode.Is(unicode.Sc, r) && digit(next) < 0 && n.Currency == "" {
		n.Currency = string(r)
		return
	}
	end := 0
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !strings.ContainsRune("%‰°٪％", r) && (r != '/' || end == 0) && !unicode.IsLetter(r) {
			break
		}
		end += size
	}
	n.Unit = strings.TrimRight(text[:end], "/")
	if rest := text[end:]; isCode(n.Unit) && len(rest) > 1 && rest[0] == ' ' && rest[1] >= '0' && rest[1] <= '9' {
		n.Unit = "" // the currency of the next number
		return
	}
	n.Percent = n.Unit != "" && strings.ContainsRune("%٪％", r)
}

// ranges joins the two ends of each range: 5–10, 5 – 10 %. Three numbers with dashes
// are a date, and so are two if the second begins with zero.
func (s *scanner) ranges() []Number {
	var list []Number
	for i := 0; i < len(s.found); i++ {
		n := s.found[i]
		if i+1 < len(s.found) && s.dash(i) && !(i+2 < len(s.found) && s.dash(i+1)) && !(i > 0 && s.dash(i-1)) {
			to := s.found[i+1]
			if first := s.text[to.Start]; first != '0' || to.End-to.Start == 1 || s.text[to.Start+1] < '0' {
				if n.Unit == "" {
					n.Unit, n.Percent = to.Unit, to.Percent
				}
				n.To = &to
				i++
			}
		}
		list = append(list, n)
	}
	return list
}

// dash reports whether a dash is all that is between a number and the next one.
func (s *scanner) dash(i int) bool {
	between := s.text[s.found[i].End:max(s.found[i].End, s.found[i+1].Start)]
	if len(between) > maxAround {
		return false
	}
	unit := s.found[i].Unit
	between = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(between), unit))
	if s.found[i+1].Currency != "" && between == "" {
		return false
	}
	switch between {
	case "-", "–", "—", "‒", "~", "〜", "～", "‐", "‑":
		return true
	}
	return false
}
