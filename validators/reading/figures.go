package reading

import (
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A Figure is a number in figures, as it may be read: 1.000 is a thousand in one
// language and one in another.
type Figure struct {
	Text  string // as it stands
	Line  int
	Forms []string // the values that it may have; the same value is always the same form
	Bare  []string // what it is without the word behind it, where that counts: 5 of 5 million, 3 of 3 pm
	Month bool     // it is one that is named
}

// Figures lists the numbers of a text that stand in figures, those of dates,
// headings, tables and HTML as well, without their units, and the months of dates; what is
// glued to letters, and what stands in code or in an address, is none. With inWords those in
// words come along, versions behind a v, and all months. 1.5 million is its value, and so is 3 pm. A date is its parts: 2024-01-15 is 15.1.2024.
func (t Text) Figures(inWords bool) []Figure {
	var out []Figure
	for _, b := range t.Shown() {
		_, words := addresses.take(b.Words)
		_, words = placeholders.take(words)
		times, words := clock(words)
		for _, f := range append(times, months(words, !inWords)...) {
			f.Line = b.Line
			out = append(out, f)
		}
		found := figures(words)
		if digits := spelt(words); inWords && digits != words {
			found = append(found, figures(digits)...)
		}
		if inWords {
			for _, m := range versions().FindAllStringSubmatch(words, -1) {
				found = append(found, m[1])
			}
		}
		for _, s := range found {
			s = strings.TrimLeft(s, "<>≤≥≈~±=+")
			for _, figure := range dateParts(strings.Fields(s)[0]) {
				out = append(out, Figure{Text: figure, Line: b.Line, Forms: forms(figure)})
			}
			if whole := scaled(s); whole != s {
				last := &out[len(out)-1]
				last.Forms, last.Bare = forms(strings.Fields(whole)[0]), last.Forms
				if head, rest, dotted := strings.Cut(s, "."); dotted && thousand().MatchString(rest) { // 1.500 millones
					last.Forms = append(last.Forms, forms(strings.Fields(scaled(head + rest))[0])...)
				}
			}
		}
	}
	return out
}

var (
	versions = patterns.Lazy(`\b[vV](\d+(?:\.\d+)+)\b`) // glued to a letter that stands for a word
	thousand = patterns.Lazy(`^\d{3} `)
)

// dateParts are the numbers of a date with a whole year, which languages write in
// orders of their own; of what is none the figure.
func dateParts(figure string) []string {
	for _, mark := range []string{".", "/"} {
		parts := strings.Split(figure, mark)
		if len(parts) == 3 && len(parts[1]) <= 2 && (len(parts[0]) == 4 && len(parts[2]) <= 2 || len(parts[0]) <= 2 && len(parts[2]) == 4) {
			return parts
		}
	}
	return []string{figure}
}

var (
	unprimed = strings.NewReplacer("'", "", "’", "")
	unparted = strings.NewReplacer(".", "", ",", "")
)

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
	figure = strings.ToLower(figure) // 1E6
	if value, ok := power(figure); ok {
		return []string{value}
	}
	if whole := strings.TrimPrefix(figure, "-"); strings.HasPrefix(whole, ".") {
		figure = strings.TrimSuffix(figure, whole) + "0" + whole
	}
	marks := strings.Map(func(r rune) rune {
		if strings.ContainsRune(".,'’", r) {
			return r
		}
		return -1
	}, figure)
	bare := unprimed.Replace(figure)
	last := strings.LastIndexAny(bare, ".,")
	if last < 0 {
		return asWhole(bare)
	}
	parted := unparted.Replace(bare[:last]) + "." + bare[last+1:]
	joined := unparted.Replace(bare)
	switch thousands := len(bare)-last-1 == 3; {
	case strings.Count(marks, string(bare[last])) > 1: // 1.000.000
		return []string{joined}
	case thousands && len(marks) == 1:
		return []string{parted, joined}
	case strings.Trim(bare[last+1:], "0") == "": // 5.0; 3.10 may be a version
		return []string{unparted.Replace(bare[:last])}
	default:
		return []string{parted}
	}
}

// power is the value of a figure with an exponent, where that is a small one: 2e3.
func power(figure string) (value string, ok bool) {
	base, exponent, found := strings.Cut(figure, "e")
	if !found || len(base) > lead || len(strings.TrimLeft(exponent, "+-")) > 2 {
		return "", false
	}
	f, ok := new(big.Rat).SetString(strings.Replace(base, ",", ".", 1) + "e" + exponent)
	if !ok {
		return "", false
	}
	return decimal(f), true
}

// asWhole are the forms of what has no fraction: 05 is 5, and of the hour 15:30 some
// languages make 15.30.
func asWhole(figure string) []string {
	if hour, minute, ok := strings.Cut(figure, ":"); ok && len(hour) <= 2 && len(minute) == 2 {
		return append(forms(hour+"."+minute), figure)
	}
	if short := strings.TrimLeft(figure, "0"); short != "" && short != figure && !strings.ContainsAny(short, ":/") {
		return []string{figure, short}
	}
	return []string{figure}
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

// digit is the digit or mark of ASCII that one of another script is; digits stand in
// tens.
func digit(r rune) rune {
	switch r {
	case '٫', '．':
		return '.'
	case '：':
		return ':'
	case '٬':
		return ','
	}
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
