package reading

import (
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Figure is a number in figures, as it may be read: 1.000 is a thousand in one
// language and one in another.
type Figure struct {
	Text  string // as it stands
	Line  int
	Forms []string // the values that it may have; the same value is always the same form
}

// Figures lists the numbers of a text that stand in figures, those of dates,
// headings, tables and HTML as well, without their units; what is glued to letters,
// and what stands in code or in an address, is none. With spelt those in
// (English) words come along.
func (t Text) Figures(spelt bool) []Figure {
	var out []Figure
	for _, b := range t.Shown() {
		_, words := addresses.take(b.Words)
		_, words = placeholders.take(words)
		found, _ := inFigures.take(words)
		if spelt {
			more, _ := spelledOut.take(words)
			found = append(found, more...)
		}
		for _, s := range found {
			figure := strings.TrimLeft(strings.Fields(s)[0], "<>≤≥≈~±=+")
			out = append(out, Figure{figure, b.Line, forms(figure)})
		}
	}
	return out
}

// forms are the values of a figure by the ways to group and to part it.
func forms(figure string) []string {
	figure, fraction := inDigits(figure)
	switch {
	case fraction != nil && figure == "":
		return []string{fraction.RatString(), decimal(fraction)}
	case fraction != nil:
		whole, ok := new(big.Rat).SetString(figure)
		if !ok {
			return []string{figure + " " + fraction.RatString()}
		}
		return []string{decimal(fraction.Add(whole, fraction))}
	}
	marks := strings.Map(func(r rune) rune {
		if strings.ContainsRune(".,'’", r) {
			return r
		}
		return -1
	}, figure)
	bare := strings.NewReplacer("'", "", "’", "").Replace(figure)
	last := strings.LastIndexAny(bare, ".,")
	if last < 0 {
		return []string{bare}
	}
	whole := strings.NewReplacer(".", "", ",", "")
	parted := whole.Replace(bare[:last]) + "." + bare[last+1:]
	joined := whole.Replace(bare)
	switch thousands := len(bare)-last-1 == 3; {
	case strings.Count(marks, string(bare[last])) > 1: // 1.000.000
		return []string{joined}
	case thousands && len(marks) == 1:
		return []string{parted, joined}
	case strings.Trim(bare[last+1:], "0") == "": // 5.0; 3.10 may be a version
		return []string{whole.Replace(bare[:last])}
	default:
		return []string{parted}
	}
}

// inDigits is a figure in the digits of ASCII, without the fraction (½) that it may
// end with.
func inDigits(figure string) (digits string, fraction *big.Rat) {
	if isASCII(figure) {
		return figure, nil
	}
	last, size := utf8.DecodeLastRuneInString(figure)
	if over := norm.NFKC.String(string(last)); strings.Contains(over, "⁄") {
		if f, ok := new(big.Rat).SetString(strings.Replace(over, "⁄", "/", 1)); ok {
			figure, fraction = figure[:len(figure)-size], f
		}
	}
	return strings.Map(digit, figure), fraction
}

// digit is the digit of ASCII that one of another script is; they stand in tens.
func digit(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if lo := rune(t.Lo); r >= lo && r <= rune(t.Hi) {
			return '0' + (r-lo)%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if lo := rune(t.Lo); r >= lo && r <= rune(t.Hi) {
			return '0' + (r-lo)%10
		}
	}
	return r
}

// decimal writes a fraction with a point, if it comes to an end there.
func decimal(f *big.Rat) string {
	places, exact := f.FloatPrec()
	if !exact {
		return f.RatString()
	}
	return f.FloatString(places)
}
