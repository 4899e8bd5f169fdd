package patterns

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// A Pattern is a compiled regular expression of an author or a client. Its methods
// with a [Meter] take bounded time. Make one with [Compile].
type Pattern struct {
	re     *regexp.Regexp
	size   int
	effort int
}

// ErrLarge is the error of [Compile] for a pattern above a limit. Such a pattern may
// be a valid regular expression.
var ErrLarge = errors.New("the pattern is too large")

// Limits of one pattern.
const (
	maxSource = 16 << 10
	maxWide   = 100
	maxSize   = 10_000
)

// wideEffort is the cost to parse a wide part of a pattern, in plain bytes: Go
// looks up 125,000 characters of a range to fold their case.
const wideEffort = 1000

// Compile reads a pattern in Go's syntax. The error is [ErrLarge] if the
// pattern is too large. The maximum is 16 KiB, 100 Unicode classes and ranges
// beyond ASCII, and 10,000 instructions after repeats are expanded. Compile
// checks each limit before the work that the limit is for.
func Compile(source string) (Pattern, error) {
	if len(source) > maxSource {
		return Pattern{}, fmt.Errorf("%w: it has %d bytes, and the maximum is %d", ErrLarge, len(source), maxSource)
	}
	if n := wide(source); n > maxWide {
		return Pattern{}, fmt.Errorf("%w: it has %d Unicode classes and ranges beyond ASCII, and the maximum is %d", ErrLarge, n, maxWide)
	}
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return Pattern{}, err
	}
	size := instructions(parsed)
	if size > maxSize {
		return Pattern{}, fmt.Errorf("%w: its repeats expand to %d instructions, and the maximum is %d", ErrLarge, size, maxSize)
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{re, size, Effort(source)}, nil
}

// Effort estimates the cost to parse a pattern. A unit is the parsing of one
// plain byte, some microseconds at most.
func Effort(source string) int { return 1 + len(source) + wideEffort*wide(source) }

// wide counts Unicode classes and possible ranges that end beyond ASCII.
func wide(source string) int {
	n := strings.Count(source, `\p`) + strings.Count(source, `\P`) + strings.Count(source, `-\x`)
	for at := 0; ; {
		i := strings.IndexByte(source[at:], '-')
		if i < 0 || at+i+1 == len(source) {
			return n
		}
		if at += i + 1; source[at] >= utf8.RuneSelf {
			n++
		}
	}
}

// instructions counts the instructions of a pattern's program, as package syntax
// compiles it.
func instructions(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCapture:
		n += 2
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		n++
	case syntax.OpAlternate:
		n += len(re.Sub)
	case syntax.OpRepeat:
		if re.Max < 0 {
			n = n*max(re.Min, 1) + 1
		} else {
			n = n*re.Max + re.Max - re.Min
		}
	case syntax.OpConcat:
	default:
		n = 1
	}
	return min(n, 1<<40)
}

// String returns the pattern's source.
func (p Pattern) String() string { return p.re.String() }

// Match reports whether the pattern matches in a text, in any time that it takes.
func (p Pattern) Match(text string) bool { return p.re.MatchString(text) }

// Size returns the number of instructions. A byte of text and an instruction
// take at most 10 ns together. Most patterns need a quarter of that.
func (p Pattern) Size() int { return p.size }

// maxTogether limits the costs of the patterns of a [Group].
const maxTogether = 250_000

// A Group compiles the patterns of one schema or expression, each source once,
// and limits their total cost. The zero Group is ready to use.
type Group struct {
	known map[string]Pattern
	ecma  map[string]Matcher
	cost  int
}

// Compile is [Compile] that also returns [ErrLarge] if the patterns of the group are
// too large together.
func (g *Group) Compile(source string) (Pattern, error) {
	if p, ok := g.known[source]; ok {
		return p, nil
	}
	if g.cost+Effort(source) > maxTogether {
		return Pattern{}, fmt.Errorf("%w, together with those before it", ErrLarge)
	}
	p, err := Compile(source)
	if err != nil {
		return p, err
	}
	if g.cost += p.effort + p.size; g.cost > maxTogether {
		return Pattern{}, fmt.Errorf("%w, together with those before it", ErrLarge)
	}
	if g.known == nil {
		g.known = map[string]Pattern{}
	}
	g.known[source] = p
	return p, nil
}

// CompileECMA is [CompileECMA] within the limits of [Group.Compile].
func (g *Group) CompileECMA(source string) (Matcher, error) {
	if m, ok := g.ecma[source]; ok {
		return m, nil
	}
	p, err := g.Compile(source)
	if err == nil {
		return p, nil
	}
	if errors.Is(err, ErrLarge) {
		return nil, err
	}
	m, err := CompileECMA(source)
	if err != nil {
		return nil, err
	}
	if g.cost += Effort(source); g.ecma == nil {
		g.ecma = map[string]Matcher{}
	}
	g.ecma[source] = m
	return m, nil
}
