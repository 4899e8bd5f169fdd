package schema

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// formats are the checked formats. Every text is valid for any other format.
var formats = map[string]func(string) error{
	"date": isDate, "time": isTime, "date-time": isDateTime, "duration": isDuration, "period": isPeriod,
	"email": isEmail, "hostname": isHostname, "ipv4": isIPv4, "ipv6": isIPv6,
	"uri": isURI, "iri": isURI, "uri-reference": isReference, "iri-reference": isReference, "uri-template": isTemplate,
	"json-pointer": isPointer, "relative-json-pointer": isRelativePointer, "uuid": isUUID, "semver": isSemver, "regex": isRegexp,
}

// like returns the check of a format that one pattern describes. It compiles
// the pattern at the first use.
func like(pattern, words string) func(string) error {
	re := patterns.Lazy(pattern)
	return func(s string) error {
		if !re().MatchString(s) {
			return errors.New(words)
		}
		return nil
	}
}

var (
	isSpan = like(`^P(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$`, "want a duration as in P1DT12H")
	// RFC 6901.
	isPointer         = like(`^(?:/(?:[^~/]|~[01])*)*$`, "want /, and ~ followed by 0 or 1")
	isRelativePointer = like(`^(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~[01])*)*)$`, "want a number, then # or a JSON pointer")
	// The text form of RFC 9562.
	isUUID = like(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`, "want five groups of 8, 4, 4, 4 and 12 hex digits")
	// semver.org, version 2.0.0.
	isSemver = like(`^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$`,
		"want a version as in 1.0.0")
	isLabel = like(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`, "a label has 1 to 63 letters, digits and hyphens inside")
	isClock = like(`^\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[zZ]|[+-]\d{2}:\d{2})$`, "want hh:mm:ss and Z or an offset")
	isLocal = like("^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+)*$|^\"[^\\\\\"]*\"$", "what stands before the @ is no local part")
)

// isDuration checks a duration of RFC 3339, appendix A.
func isDuration(s string) error {
	if strings.HasSuffix(s, "P") || strings.HasSuffix(s, "T") {
		return errors.New("nothing stands behind " + s[len(s)-1:])
	}
	return isSpan(s)
}

func isDate(s string) error {
	if _, err := time.Parse("2006-01-02", s); err != nil {
		return errors.New("want a day of the calendar as yyyy-mm-dd")
	}
	return nil
}

// isTime checks a time of RFC 3339, section 5.6. Leap seconds are valid only at
// the end of a day in UTC.
func isTime(s string) error {
	if err := isClock(s); err != nil {
		return err
	}
	var h, m, sec, zh, zm int
	fmt.Sscanf(s[:8], "%d:%d:%d", &h, &m, &sec)
	sign := 0
	if at := len(s) - 6; s[at] == '+' || s[at] == '-' {
		sign = map[byte]int{'+': -1, '-': 1}[s[at]]
		fmt.Sscanf(s[at+1:], "%d:%d", &zh, &zm)
	}
	if h > 23 || m > 59 || sec > 60 || zh > 23 || zm > 59 {
		return errors.New("there is no such time")
	}
	if utc := (h*60 + m + sign*(zh*60+zm) + 24*60) % (24 * 60); sec == 60 && utc != 23*60+59 {
		return errors.New("leap seconds end a day")
	}
	return nil
}

func isDateTime(s string) error {
	if len(s) < 20 || s[10] != 'T' && s[10] != 't' {
		return errors.New("want yyyy-mm-ddThh:mm:ss and Z or an offset")
	}
	return errors.Join(isDate(s[:10]), isTime(s[11:]))
}

// isPeriod checks a period of ISO 8601, in the form of RFC 3339, appendix A.
func isPeriod(s string) error {
	start, end, ok := strings.Cut(s, "/")
	if !ok {
		return errors.New("want two ends with / between")
	}
	of := func(s string) error {
		if strings.HasPrefix(s, "P") {
			return isDuration(s)
		}
		return isDateTime(s)
	}
	if strings.HasPrefix(start, "P") && strings.HasPrefix(end, "P") {
		return errors.New("one end must be a time")
	}
	return errors.Join(of(start), of(end))
}

// isHostname checks a host name of RFC 1123.
func isHostname(s string) error {
	s = strings.TrimSuffix(s, ".")
	if len(s) > 253 {
		return errors.New("longer than 253 characters")
	}
	for label := range strings.SplitSeq(s, ".") {
		if err := isLabel(label); err != nil {
			return err
		}
	}
	return nil
}

// isEmail checks a mailbox of RFC 5321.
func isEmail(s string) error {
	at := strings.LastIndexByte(s, '@')
	switch {
	case at < 0:
		return errors.New("missing @")
	case len(s) > 254:
		return errors.New("longer than 254 characters")
	case at > 64:
		return errors.New("more than 64 characters before the @")
	}
	if err := isLocal(s[:at]); err != nil {
		return err
	}
	domain := s[at+1:]
	if !strings.HasPrefix(domain, "[") || !strings.HasSuffix(domain, "]") {
		return isHostname(domain)
	}
	domain = domain[1 : len(domain)-1]
	if six, ok := strings.CutPrefix(domain, "IPv6:"); ok {
		return isIPv6(six)
	}
	return isIPv4(domain)
}

func isIPv4(s string) error {
	if a, err := netip.ParseAddr(s); err != nil || !a.Is4() {
		return errors.New("want four numbers up to 255")
	}
	return nil
}

func isIPv6(s string) error {
	if a, err := netip.ParseAddr(s); err != nil || !a.Is6() || a.Zone() != "" {
		return errors.New("want groups of hex digits with colons")
	}
	return nil
}

func parseURI(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // the message already quotes the text
		}
		return nil, err
	}
	if host := u.Hostname(); strings.Contains(host, ":") {
		if !strings.Contains(u.Host, "[") || !strings.Contains(u.Host, "]") {
			return nil, errors.New("an IPv6 address stands in brackets")
		}
		return u, isIPv6(host)
	}
	return u, nil
}

func isURI(s string) error {
	u, err := parseURI(s)
	if err == nil && !u.IsAbs() {
		err = errors.New("it has no scheme")
	}
	return err
}

func isReference(s string) error {
	if strings.Contains(s, `\`) {
		return errors.New(`\ cannot stand in one`)
	}
	_, err := parseURI(s)
	return err
}

// isTemplate checks only the braces of RFC 6570, section 2.
func isTemplate(s string) error {
	if _, err := parseURI(strings.NewReplacer("{", "", "}", "", "%7B", "", "%7D", "").Replace(s)); err != nil {
		return err
	}
	open := false
	for _, r := range s {
		if r == '{' && open || r == '}' && !open {
			return errors.New("braces do not match")
		}
		open = open && r != '}' || r == '{'
	}
	if open {
		return errors.New("a brace is not closed")
	}
	return nil
}

func isRegexp(s string) error {
	_, err := patterns.CompileECMA(s)
	return err
}
