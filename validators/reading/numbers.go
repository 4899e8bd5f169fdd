package reading

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// units are what stands behind a number, each in one way.
var units = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for short, names := range map[string]string{
		"ms": "ms millisecond milliseconds msec", "µs": "µs us microsecond microseconds", "ns": "ns nanosecond nanoseconds",
		"s": "s sec secs second seconds", "min": "min mins minute minutes", "h": "h hr hrs hour hours", "day": "d day days", "week": "week weeks",
		"month": "month months", "year": "yr yrs year years", "%": "% percent", "‰": "‰", "°C": "°C", "°F": "°F", "°": "°", "K": "K", "k": "k thousand", "M": "million mio",
		"bn": "billion bn", "T": "trillion", "B": "B byte bytes", "bit": "bit bits", "kB": "kB KB kilobyte kilobytes", "MB": "MB megabyte megabytes", "GB": "GB gigabyte gigabytes",
		"TB": "TB terabyte terabytes", "KiB": "KiB", "MiB": "MiB", "GiB": "GiB", "TiB": "TiB", "Mb": "Mb Mbit", "Gb": "Gb Gbit", "Mbps": "Mbps Mbit/s", "Gbps": "Gbps",
		"Hz": "Hz hertz", "kHz": "kHz", "MHz": "MHz", "GHz": "GHz", "mm": "mm millimetre millimetres millimeter millimeters", "cm": "cm centimetre centimetres centimeter centimeters",
		"m": "m metre metres meter meters", "km": "km kilometre kilometres kilometer kilometers", "in": "inch inches", "ft": "ft foot feet", "mi": "mile miles",
		"mg": "mg milligram milligrams", "µg": "µg mcg microgram micrograms", "g": "g gram grams", "kg": "kg kilogram kilograms", "t": "tonne tonnes ton tons", "lb": "lb lbs pound pounds",
		"ml": "ml mL millilitre millilitres", "l": "l litre litres liter liters", "V": "V volt volts", "A": "ampere amperes", "W": "W watt watts", "kW": "kW", "kWh": "kWh",
		"px": "px pixel pixels", "pt": "pt", "€": "€ EUR euro euros", "$": "$ USD dollar dollars", "£": "£ GBP", "¥": "¥ JPY yen", "CHF": "CHF", "bp": "bps bp",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = short
		}
	}
	return m
})

// A figure: a sign or comparison, a currency, digits that may be grouped, an
// exponent, and what may be a unit.
var numberPattern = patterns.Lazy(`(^|[^\p{L}\p{Nd}_\x{fffc}.,-]|-)` +
	`((?:[<>≤≥≈~±=]=?\s?)?[-−+–]?(?:\p{Sc}\s?|USD |EUR |GBP |CHF )?(?:\d{1,3}(?: \d{3}\b)+|[\p{Nd}\p{No}⁄]+|\.\d+)(?:[.,'’:/٫٬][\p{Nd}]+)*(?:[eE][-+]?\d+)?)` +
	`((?:[\s-]?(?:%|‰|°[CF]?|\p{Sc}))|[\s-]?[\p{L}µ]+(?:/s)?)?`)

// lead is more bytes than what stands before the digits of a figure has: looking for
// it from there on, not from the last one, takes a third of the time.
const lead = 24

// numbers finds numbers with their units, in figures and in words.
func numbers(words string) ([]string, string) { return figures(spelt(words)) }

// figures finds those that stand in figures.
func figures(words string) ([]string, string) {
	var found []string
	for at := 0; at < len(words); {
		first := strings.IndexFunc(words[at:], isFigure)
		if first < 0 {
			break
		}
		from := at + max(0, first-lead)
		for from > at && !utf8.RuneStart(words[from]) {
			from--
		}
		m := numberPattern().FindStringSubmatchIndex(words[from:])
		if m == nil {
			break
		}
		figure, behind := part(words[from:], m, 2), part(words[from:], m, 3)
		glued := behind != "" && behind[0] != ' ' && behind[0] != '-'
		name := strings.Trim(behind, " -\u00a0\u202f\t")
		unit, known := units()[name]
		end := from + m[5]
		switch {
		case known:
			end = from + m[1]
		case glued: // 3rd, 100x, 2D
			unit = name
			end = from + m[1]
		}
		if at > 0 && from+m[4] == at {
			figure = strings.TrimLeft(figure, "-−–+") // of a range
		}
		found = append(found, written(figure, unit))
		at = end
	}
	return found, words
}

func part(s string, m []int, i int) string {
	if m[2*i] < 0 {
		return ""
	}
	return s[m[2*i]:m[2*i+1]]
}

var (
	currencies = patterns.Lazy(`[€$£¥]|USD|EUR|GBP|CHF`)
	grouped    = patterns.Lazy(`^(\D*)(\d{1,3}(?:[,'’\x{a0}\x{202f}]\d{3})+)(\D.*|)$`)
	notDigit   = patterns.Lazy(`[,'’\x{a0}\x{202f}]`)
)

// written writes a number in one way: 1,000 and 1000, $5 and 5 USD.
func written(figure, unit string) string {
	figure = strings.NewReplacer("−", "-", "–", "-", " ", "").Replace(figure)
	if symbol := currencies().FindString(figure); symbol != "" {
		figure, unit = strings.Replace(figure, symbol, "", 1), units()[symbol]+unit
	}
	if m := grouped().FindStringSubmatch(figure); m != nil {
		figure = m[1] + notDigit().ReplaceAllString(m[2], "") + m[3]
	}
	return strings.TrimSpace(strings.TrimPrefix(figure, "+") + " " + unit)
}

var smallNumbers = map[string]int{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13,
	"fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "one": 1, "zero": 0, "hundred": 100, "thousand": 1000, "million": 1_000_000, "dozen": 12,
}

func anyNumber(words string) bool {
	if anyFigure(words) {
		return true
	}
	for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return !wordRune(r) }) {
		if _, known := smallNumbers[strings.ToLower(word)]; known {
			return true
		}
	}
	return false
}

// spelt writes numbers that stand in words in figures. "One" alone is a
// pronoun more often than a number, and stays; before a unit it is one.
func spelt(words string) string {
	var b strings.Builder
	at := 0
	for start, end := nextSpelt(words, 0); start >= 0; start, end = nextSpelt(words, end) {
		word := strings.ToLower(words[start:end])
		b.WriteString(words[at:start])
		if word == "one" && !unitFollows(words[end:]) || word == "hundred" || word == "thousand" || word == "million" {
			b.WriteString(words[start:end])
		} else {
			b.WriteString(strconv.Itoa(valueOf(word)))
		}
		at = end
	}
	return b.String() + words[at:]
}

// nextSpelt finds the next run of number words; start is -1 where there is none.
func nextSpelt(words string, from int) (start, end int) {
	start = -1
	for i := from; i < len(words); {
		size := letters(words[i:])
		if size == 0 {
			if start >= 0 && words[i] != ' ' && words[i] != '-' {
				return start, end
			}
			_, width := utf8.DecodeRuneInString(words[i:])
			i += width
			continue
		}
		word := strings.ToLower(words[i : i+size])
		_, known := smallNumbers[word]
		switch {
		case known && start < 0:
			start, end = i, i+size
		case known:
			end = i + size
		case start >= 0 && word != "and":
			return start, end
		}
		i += size
	}
	return start, end
}

// letters is how many bytes of word a text begins with.
func letters(s string) int {
	for i, r := range s {
		if !wordRune(r) {
			return i
		}
	}
	return len(s)
}

func unitFollows(rest string) bool {
	for _, t := range tokens(strings.TrimLeft(rest[:min(len(rest), 40)], " -")) {
		return units()[t.text] != ""
	}
	return false
}

// valueOf is the value of number words: two hundred and five.
func valueOf(words string) int {
	total, current := 0, 0
	for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return r == ' ' || r == '-' }) {
		n, ok := smallNumbers[word]
		switch {
		case !ok:
		case n >= 1000:
			total, current = min(total+max(current, 1)*n, 1<<40), 0
		case n == 100 || n == 12 && current > 0:
			current = max(current, 1) * n
		default:
			current += n
		}
		current = min(current, 1<<30)
	}
	return total + current
}
