package reading

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// codes are those of ISO 4217 and others that prices are given in. ALL, TOP and IRR are
// left out, which are more often words and the rate of return.
var codes = sync.OnceValue(func() map[string]bool {
	return set(strings.Fields("AED AFN AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLF CLP CNH CNY COP CRC CUP CVE CZK DJF DKK DOP DZD " +
		"EGP ERN ETB EUR FJD FKP GBP GBX GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD " +
		"MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NTD NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RMB RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL " +
		"THB TJS TMT TND TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG")...)
})

// local are the words for money that are no codes, by the byte that they begin with.
var local = func() (by [256][]string) {
	for _, w := range []string{"Rs.", "Rs", "Rp.", "Rp", "RM", "SFr.", "SFr", "Fr.", "Kč", "Ft", "kr.", "kr", "zł", "GBp", "ZAc", "NIS", "руб.", "руб"} {
		by[w[0]] = append(by[w[0]], w)
	}
	return by
}()

// coined are the bytes that a currency may begin with, small letters for small words,
// and seconds the small letters that may follow.
var coined, seconds = func() (first, second bytesOf) {
	for c := range first {
		first[c] = c == '$' || c >= 0x80 || isUpper(byte(c)) || local[c] != nil
		for _, w := range local[c] {
			second[w[1]] = true
		}
	}
	return first, second
}()

// coinless says at a glance that a text begins with no currency, as most words do.
func coinless(t []byte) bool {
	return len(t) < 2 || !coined[t[0]] || isLower(t[1]) && !seconds[t[1]]
}

// currency gives the length of a currency in front of a number, and of the space
// behind it: of £, US$, CA$, SEK, Rs, and of the R of R125.50.
func currency(t []byte) int {
	n := coin(t)
	if n == 0 {
		return 0
	}
	if n < len(t) && t[n] == ' ' {
		n++
	} else if n < len(t) && t[n] >= 0x80 {
		n += blankRune(t[n:])
	}
	if n < len(t) && (isDigit(t[n]) || minus(t[n:]) > 0 || t[n] == '.') {
		return n
	}
	return 0
}

// Priced says that a text begins with an amount of money.
func Priced(t []byte) bool { return currency(t) > 0 }

// coin gives the length of the currency that a text begins with.
func coin(t []byte) int {
	if coinless(t) {
		return 0
	}
	if t[0] == '$' || t[0] >= 0x80 {
		if n := moneySign(t); n > 0 {
			return n
		}
		return localCoin(t)
	}
	n := 0
	for n < 3 && n < len(t) && isUpper(t[n]) {
		n++
	}
	switch {
	case n > 0 && n < len(t) && t[n] == '$':
		return n + 1
	case n == 3 && (n == len(t) || !isASCIIWord(t[n]) || isDigit(t[n])) && codes()[string(t[:n])]:
		return n
	case n == 1 && t[0] == 'R' && cents(t[1:]):
		return n
	}
	return localCoin(t)
}

// moneySign gives the length of a sign for money: of €, and of none of its kin.
func moneySign(t []byte) int {
	switch {
	case len(t) == 0:
		return 0
	case t[0] == '$':
		return 1
	case t[0] < 0x80, t[0] == 0xE2 && len(t) > 1 && t[1]|1 != 0x83:
		return 0
	}
	if r, n := utf8.DecodeRune(t); unicode.Is(unicode.Sc, r) {
		return n
	}
	return 0
}

func localCoin(t []byte) int {
	for _, w := range local[t[0]] {
		if bytes.HasPrefix(t, []byte(w)) && (len(t) == len(w) || !isASCIIWord(t[len(w)]) || isDigit(t[len(w)])) {
			return len(w)
		}
	}
	return 0
}

// cents says that a text is a number with two digits behind its point, as money is
// and what R stands for otherwise is not.
func cents(t []byte) bool {
	i := 0
	if t[0] == ' ' {
		i++
	}
	start := i
	for i < len(t) && (isDigit(t[i]) || t[i] == ',') {
		i++
	}
	return i > start && i+2 < len(t) && t[i] == '.' && isDigit(t[i+1]) && isDigit(t[i+2]) && (i+3 == len(t) || !isASCIIWord(t[i+3]))
}

// coinBehind gives the length of a currency that stands behind its number: of €,
// SEK, kr, and of the p of 725p.
func coinBehind(t []byte) int {
	if !coined[t[0]] && t[0] != 'p' {
		return 0
	}
	if n := moneySign(t); n > 0 {
		return n
	}
	switch w := wordAt(t, 0); {
	case len(w) == 3 && isUpper(w[0]) && codes()[string(w)], len(w) == 1 && w[0] == 'p' && (len(t) == 1 || t[1] != '.'): // a year is p.a.
		return len(w)
	}
	return localCoin(t)
}
