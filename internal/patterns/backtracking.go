package patterns

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// A Matcher is a compiled pattern of a schema.
type Matcher interface {
	// MatchWithin reports whether the pattern matches in a text. With an error there is
	// no answer.
	MatchWithin(m Meter, text string) (bool, error)
	String() string
}

// errUnmatched is the error of a match with look-around that exceeds a limit.
var errUnmatched = errors.New("the pattern has look-around or a back-reference, and")

// Limits of a pattern that needs backtracking.
const (
	maxBacktracked = 1 << 20 // bytes of the text
	maxBacktrack   = time.Second
)

// A backtracking pattern has constructs that Go's patterns do not support. Its
// time may grow exponentially with the text, so a time limit ends it.
type backtracking struct {
	re     *regexp2.Regexp
	source string
}

// CompileECMA reads a pattern in the syntax of ECMAScript, as JSON Schema
// requires. If Go's syntax can express the pattern, matching takes linear time.
// Otherwise a match ends with an error after one second, and a text of more
// than 1 MiB is an error. The limits of [Compile] apply.
func CompileECMA(source string) (Matcher, error) {
	p, err := Compile(source)
	if err == nil {
		return p, nil
	}
	if errors.Is(err, ErrLarge) {
		return nil, err
	}
	re, other := regexp2.Compile(endings(source), regexp2.ECMAScript|regexp2.Unicode)
	if other != nil {
		return nil, err
	}
	re.MatchTimeout = maxBacktrack
	return backtracking{re, source}, nil
}

// endings writes each $ as \z: in regexp2, $ also matches before a line feed at the end.
func endings(source string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\' && i+1 < len(source):
			b.WriteString(source[i : i+2])
			i++
			continue
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '$' && !class:
			b.WriteString(`\z`)
			continue
		}
		b.WriteByte(source[i])
	}
	return b.String()
}

// String returns the pattern's source.
func (p backtracking) String() string { return p.source }

// unitTime is the time of a unit of a [Meter].
const unitTime = 100 * time.Nanosecond

// MatchWithin implements [Matcher]. It pays for the time that has passed.
func (p backtracking) MatchWithin(m Meter, text string) (bool, error) {
	if len(text) > maxBacktracked {
		return false, fmt.Errorf("%w the text has %d bytes; the maximum is %d", errUnmatched, len(text), maxBacktracked)
	}
	start := time.Now()
	matches, err := p.re.MatchString(text)
	if err != nil {
		return false, fmt.Errorf("%w matching did not end within %s", errUnmatched, maxBacktrack)
	}
	if m != nil {
		err = m.Spend(1 + len(text)/stepsPerUnit + int(time.Since(start)/unitTime))
	}
	return matches && err == nil, err
}
