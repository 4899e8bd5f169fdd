package reading

import (
	"math/big"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/reading/numerals"
)

// units are what stands behind a number, each in one way.
var units = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for short, names := range map[string]string{
		"ms": "ms millisecond milliseconds msec", "µs": "µs us microsecond microseconds", "ns": "ns nanosecond nanoseconds",
		"s": "s sec secs second seconds Sekunde Sekunden seconde secondes segundo segundos", "min": "min mins minute minutes Minute Minuten minuto minutos",
		"h": "h hr hrs hour hours Stunde Stunden heure heures hora horas", "day": "d day days Tag Tage Tagen jour jours día días", "week": "week weeks Woche Wochen semaine semaines semana semanas",
		"month": "month months Monat Monate Monaten mois mes meses", "year": "yr yrs year years Jahr Jahre Jahren année années año años", "%": "% percent Prozent", "‰": "‰", "°C": "°C", "°F": "°F", "°": "° degree degrees Grad degré degrés grado grados", "K": "K", "k": "k thousand Tausend", "M": "million millions mio Mio Million Millionen millón millones milione milioni milhão milhões miljoen miljon miljoner",
		"bn": "billion billions bn Mrd Milliarde Milliarden milliard milliards miliardo miliardi miljard miljarder bilhão bilhões", "lakh": "lakh lakhs", "crore": "crore crores", "T": "trillion trillions Billionen billones billón biljoen biljoner", "B": "B byte bytes", "bit": "bit bits", "kB": "kB KB kilobyte kilobytes", "MB": "MB megabyte megabytes", "GB": "GB gigabyte gigabytes",
		"TB": "TB terabyte terabytes", "KiB": "KiB", "MiB": "MiB", "GiB": "GiB", "TiB": "TiB", "Mb": "Mb Mbit", "Gb": "Gb Gbit", "Mbps": "Mbps Mbit/s Mb/s", "Gbps": "Gbps Gb/s", "kB/s": "kB/s KB/s", "MB/s": "MB/s", "GB/s": "GB/s",
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
	m["per cent"] = "%"
	return m
})

// A figure: a sign or comparison, a currency, digits that may be grouped, an
// exponent, and what may be a unit. A letter before it belongs to a name (R1), but in
// scripts that have no blanks between words.
var numberPattern = patterns.Lazy(`(^|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|[^\p{L}\p{Nd}_\x{fffc}.,-]|-)` +
	`((?:[<>≤≥≈~±=]=?\s?)?[-−+–]?(?:\p{Sc}\s?|USD |EUR |GBP |CHF )?(?:\d+ ` + vulgarPattern + `\b|\d{1,3}(?: \d{3}\b)+|[\p{Nd}\p{No}⁄]+|\.\d+)(?:[.,'’:/٫٬．：][\p{Nd}]+)*(?:[eE][-+]?\d+)?)` +
	`((?:[\s-]?(?:%|‰|°[CF]?|\p{Sc}))| per cent\b|[\s-]?[\p{L}µ]+(?:/s)?)?`)

// The fractions that have a sign of their own.
const vulgarPattern = `(?:1/10|1/[2-9]|2/[35]|3/[458]|4/5|5/[68]|7/8)`

var vulgar = map[string]string{
	"1/2": "½", "1/3": "⅓", "2/3": "⅔", "1/4": "¼", "3/4": "¾", "1/5": "⅕", "2/5": "⅖", "3/5": "⅗", "4/5": "⅘", "1/6": "⅙", "5/6": "⅚",
	"1/7": "⅐", "1/8": "⅛", "3/8": "⅜", "5/8": "⅝", "7/8": "⅞", "1/9": "⅑", "1/10": "⅒",
}

// lead is more bytes than what stands before the digits of a figure has: looking for
// it from there on, not from the last one, takes a third of the time.
const lead = 24

// numbers finds numbers with their units, in figures and in words.
func numbers(words string) ([]string, string) {
	found := figures(spelt(words))
	for i, s := range found {
		found[i] = scaled(s)
	}
	return found, words
}

// scales are units that are numbers; those of East Asia stand before what is counted.
var (
	scales = map[string]int64{"k": 1e3, "M": 1e6, "bn": 1e9, "T": 1e12, "lakh": 1e5, "crore": 1e7}
	myriad = map[rune]int64{'万': 1e4, '萬': 1e4, '만': 1e4, '億': 1e8, '亿': 1e8, '억': 1e8}
)

// scaled writes a number with such a unit in figures alone, where it is a whole one:
// 1.5 M is 1500000, and 5 $M is 5000000 $.
func scaled(s string) string {
	figure, unit, _ := strings.Cut(s, " ")
	symbol := currencies().FindString(unit)
	scale, known := scales[strings.TrimPrefix(unit, symbol)]
	if first, _ := utf8.DecodeRuneInString(unit); !known {
		scale, known = myriad[first]
	}
	if !known || len(figure) > lead {
		return s
	}
	value, ok := new(big.Rat).SetString(strings.Replace(figure, ",", ".", 1))
	if !ok || !value.Mul(value, big.NewRat(scale, 1)).IsInt() {
		return s
	}
	return strings.TrimSpace(value.Num().String() + " " + symbol)
}

// figures finds those that stand in figures.
func figures(words string) []string {
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
		letter, size := utf8.DecodeRuneInString(behind)
		glued := behind != "" && behind[0] != ' ' && behind[0] != '-'
		name := strings.Trim(behind, " -\u00a0\u202f\t")
		unit, known := units()[name]
		end := from + m[5]
		switch {
		case known:
			end = from + m[1]
		case glued && unblanked(letter):
			if myriad[letter] > 0 {
				unit = string(letter)
				end += size
			}
		case behind != "" && behind[0] == ' ' && myriad[firstOf(name)] > 0: // 150 万
			unit = string(firstOf(name))
			end = from + m[1] - len(name) + len(unit)
		case glued: // 3rd, 100x, 2D
			unit = name
			end = from + m[1]
		}
		if at > 0 && from+m[4] == at {
			figure = strings.TrimLeft(figure, "-−–+") // of a range
		}
		if below[unit] && minus(words[:from+m[4]]) {
			figure = "-" + strings.TrimLeft(figure, "-−–+")
		}
		found = append(found, written(figure, unit))
		at = end
	}
	return found
}

func firstOf(s string) rune {
	first, _ := utf8.DecodeRuneInString(s)
	return first
}

// below are the units of what may be below nothing without being taken from something.
var below = map[string]bool{"°C": true, "°F": true, "°": true, "%": true}

// minus tells whether words end with this one, and no figure stands before it.
func minus(words string) bool {
	before := strings.TrimRight(words, " ")
	n := len(before) - len("minus")
	return n >= 0 && strings.EqualFold(before[n:], "minus") && (n == 0 || before[n-1] == ' ') && !figureEnds(before[:n])
}

// unblanked tells a letter of a script that has no blanks between words.
func unblanked(first rune) bool {
	return first >= '\u0e00' && unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func part(s string, m []int, i int) string {
	if m[2*i] < 0 {
		return ""
	}
	return s[m[2*i]:m[2*i+1]]
}

var (
	currencies = patterns.Lazy(`[€$£¥]|USD|EUR|GBP|CHF`)
	grouped    = patterns.Lazy(`^(\D*)([1-9]\d{0,2}(?:[,'’\x{a0}\x{202f}]\d{3})+)(\D.*|)$`)
	withVulgar = patterns.Lazy(`^(\D*)(?:(\d+) )?(` + vulgarPattern + `)$`)
	notDigit   = patterns.Lazy(`[,'’\x{a0}\x{202f}]`)
)

var oneMinus = strings.NewReplacer("−", "-", "–", "-", " ", "")

// written writes a number in one way: 1,000 and 1000, $5 and 5 USD.
func written(figure, unit string) string {
	if m := withVulgar().FindStringSubmatch(figure); m != nil {
		figure = m[1] + m[2] + vulgar[m[3]]
	}
	figure = oneMinus.Replace(figure)
	if symbol := currencies().FindString(figure); symbol != "" {
		if unit == "K" { // no kelvins
			unit = "k"
		}
		figure, unit = strings.Replace(figure, symbol, "", 1), units()[symbol]+unit
	}
	if m := grouped().FindStringSubmatch(figure); m != nil {
		figure = m[1] + notDigit().ReplaceAllString(m[2], "") + m[3]
	}
	return strings.TrimSpace(strings.TrimPrefix(figure, "+") + " " + unit)
}

func anyNumber(words string) bool {
	if anyFigure(words) {
		return true
	}
	for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return !wordRune(r) }) {
		if _, known := numerals.Of(word); known {
			return true
		}
	}
	return false
}

// spelt writes numbers that stand in words in figures. "One" alone is a
// pronoun more often than a number, and stays; before a unit it is one.
func spelt(words string) string {
	var b strings.Builder
	at, halved := 0, -1 // where a half ended last
	for start, end := nextSpelt(words, 0); start >= 0; start, end = nextSpelt(words, end) {
		word := strings.ToLower(words[start:end])
		b.WriteString(words[at:start])
		half := andHalf(words[end:])
		switch {
		case numerals.Multiplies(word) && (figureEnds(words[:start]) || start == halved+1), half == 0 && word == "one" && !unitFollows(words[end:]):
			b.WriteString(words[start:end])
		case half > 0 && !numerals.Multiplies(word):
			b.WriteString(strconv.Itoa(numerals.Value(word)) + ".5")
			end += half
			halved = end
		default:
			b.WriteString(strconv.Itoa(numerals.Value(words[start:end])))
		}
		at = end
	}
	return b.String() + words[at:]
}

// andHalf is how long the half is that words begin with.
func andHalf(words string) int {
	for _, half := range []string{" and a half", "-and-a-half"} {
		if strings.HasPrefix(words, half) {
			return len(half)
		}
	}
	return 0
}

// nextSpelt finds the next run of number words; start is -1 where there is none.
func nextSpelt(words string, from int) (start, end int) {
	start = -1
	before := 0
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
		value, known := numerals.Of(words[i : i+size])
		switch {
		case known && start < 0:
			start, end, before = i, i+size, value
		case known:
			end, before = i+size, value
		case start >= 0 && !numerals.Joins(words[i:i+size], before):
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

// figureEnds tells whether words end with a figure.
func figureEnds(words string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(words, " -"))
	return isFigure(last)
}

func unitFollows(rest string) bool {
	for _, t := range tokens(strings.TrimLeft(rest[:min(len(rest), 40)], " -")) {
		return units()[t.text] != ""
	}
	return false
}
