// Package numerals reads numbers in words of English, German, French, Spanish, Italian,
// Portuguese, Dutch and Swedish.
package numerals

import (
	"strconv"
	"strings"
	"sync"
)

// numerals are the words of numbers in English, German, French, Spanish, Italian, Portuguese, Dutch
// and Swedish. What is a common word of another of them is left out (neuf, once, seize, quince, elf, cent, due, sei, sex).
var numerals = sync.OnceValue(func() map[string]int {
	m := map[string]int{"zero": 0, "one": 1, "Sept": none, "DOS": none, "Otto": none, "Cem": none, "Quattro": none} // a month, a system, names
	for _, row := range []string{
		"2 two zwei zwo deux dos", "3 three drei trois tres", "4 four vier quatre cuatro", "5 five fünf cinq cinco", "6 six sechs seis", "7 seven sieben sept siete",
		"8 eight acht huit ocho", "9 nine neun nueve", "10 ten zehn dix diez", "11 eleven onze", "12 twelve zwölf douze doce dozen dutzend douzaine docena",
		"13 thirteen dreizehn treize trece", "14 fourteen vierzehn quatorze catorce", "15 fifteen fünfzehn quinze", "16 sixteen sechzehn dieciséis",
		"17 seventeen siebzehn diecisiete", "18 eighteen achtzehn dieciocho", "19 nineteen neunzehn diecinueve",
		"20 twenty zwanzig vingt vingts veinte", "30 thirty dreißig dreissig trente treinta", "40 forty vierzig quarante cuarenta", "50 fifty fünfzig cinquante cincuenta",
		"60 sixty sechzig soixante sesenta", "70 seventy siebzig septante setenta", "80 eighty achtzig huitante ochenta", "90 ninety neunzig nonante noventa",
		"21 veintiuno", "22 veintidós", "23 veintitrés", "24 veinticuatro", "25 veinticinco", "26 veintiséis", "27 veintisiete", "28 veintiocho", "29 veintinueve",
		"100 hundred hundert cien ciento", "200 doscientos doscientas", "300 trescientos trescientas", "400 cuatrocientos cuatrocientas", "500 quinientos quinientas",
		"600 seiscientos seiscientas", "700 setecientos setecientas", "800 ochocientos ochocientas", "900 novecientos novecientas",
		"2 dois duas twee två", "3 três tre drie", "4 quattro quatro fyra", "5 cinque vijf fem", "6 zes", "7 sette sete zeven sju", "8 otto oito åtta", "9 nove negen nio", "10 dieci dez tien tio", "11 undici elva",
		"12 dodici doze twaalf tolv", "13 tredici treze dertien tretton", "14 quattordici veertien fjorton", "15 quindici vijftien femton", "16 sedici dezesseis dezasseis zestien sexton", "17 diciassette dezessete dezassete zeventien sjutton",
		"18 diciotto dezoito achttien arton", "19 diciannove dezenove dezanove negentien nitton", "20 venti vinte twintig tjugo", "30 trinta dertig trettio", "40 quaranta quarenta veertig fyrtio", "50 cinquanta cinquenta vijftig femtio",
		"60 sessanta sessenta zestig sextio", "70 settanta zeventig sjuttio", "80 ottanta oitenta tachtig åttio", "90 novanta negentig nittio", "100 cento cem honderd hundra", "200 duzentos duzentas", "300 trezentos trezentas", "400 quatrocentos quatrocentas",
		"500 quinhentos quinhentas", "600 seiscentos seiscentas", "700 setecentos setecentas", "800 oitocentos oitocentas", "900 novecentos novecentas", "1000 duizend tusen",
		"1000 thousand tausend mille mil", "1000000 million millón", "1000000000 billion milliarde milliard",
	} {
		words := strings.Fields(row)
		for _, word := range words[1:] {
			m[word], _ = strconv.Atoi(words[0])
		}
	}
	compounds(m)
	return m
})

// compounds adds the numbers that are written as one word.
func compounds(m map[string]int) {
	for _, c := range []struct{ units, joint, tens, hundred, thousand string }{
		{"ein zwei drei vier fünf sechs sieben acht neun", "und", "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", "hundert", "tausend"},
		{"een twee drie vier vijf zes zeven acht negen", "en", "twintig dertig veertig vijftig zestig zeventig tachtig negentig", "honderd", "duizend"},
		{"ett två tre fyra fem sex sju åtta nio", "", "tjugo trettio fyrtio femtio sextio sjuttio åttio nittio", "hundra", "tusen"},
		{"uno due tre quattro cinque sei sette otto nove", "", "venti trenta quaranta cinquanta sessanta settanta ottanta novanta", "cento", "mila"},
	} {
		for i, unit := range strings.Fields(c.units) {
			for k, ten := range strings.Fields(c.tens) {
				value := 10*(k+2) + i + 1
				switch {
				case c.joint == "": // ventotto, ventitré
					m[ten+unit] = value
					m[ten[:len(ten)-1]+unit], m[ten+strings.Replace(unit, "tre", "tré", 1)] = value, value
				case strings.HasSuffix(unit, "e"): // drieëntwintig
					m[unit+"ë"+c.joint[1:]+ten] = value
				default:
					m[unit+c.joint+ten] = value
				}
			}
			m[unit+c.hundred], m[unit+c.thousand] = 100*(i+1), 1000*(i+1)
		}
	}
}

// none is the value of a word that is none in this spelling.
const none = -1

// Of is the value of a number word.
func Of(word string) (value int, ok bool) {
	if n, known := numerals()[word]; known {
		return n, n != none
	}
	if lower := strings.ToLower(word); lower != word {
		value, ok = numerals()[lower]
	}
	return value, ok
}

// Joins tells whether a word holds number words together behind one: two hundred and
// five, treinta y cinco, soixante et onze; and not two and five.
func Joins(word string, before int) bool {
	switch word {
	case "and":
		return before >= 100
	case "y", "et", "e":
		return before >= 20 && before < 100 && before%10 == 0
	}
	return false
}

// Multiplies tells the number words that stand alone for one of them, and behind a
// figure are its unit: a thousand, 5 thousand.
func Multiplies(word string) bool {
	switch word {
	case "hundred", "thousand", "million", "billion", "hundert", "tausend", "milliarde", "cien", "mille", "mil", "millón", "milliard", "cento", "cem", "honderd", "duizend", "hundra", "tusen":
		return true
	}
	return false
}

func dozen(word string) bool {
	switch word {
	case "dozen", "dutzend", "douzaine", "docena":
		return true
	}
	return false
}

// Value is the value of number words: two hundred and five.
func Value(words string) int {
	total, current := 0, 0
	for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return r == ' ' || r == '-' }) {
		n, ok := Of(word)
		switch word = strings.ToLower(word); {
		case !ok:
		case n >= 1000:
			total, current = min(total+max(current, 1)*n, 1<<40), 0
		case n == 100, dozen(word) && current > 0, n == 20 && current == 4 && strings.HasPrefix(word, "vingt"):
			current = max(current, 1) * n
		default:
			current += n
		}
		current = min(current, 1<<30)
	}
	return total + current
}
