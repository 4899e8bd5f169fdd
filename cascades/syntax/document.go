// Package syntax reads a YAML or JSON file as a tree of values with ranges.
//
// [File.Tree] returns the tree. If the text is neither YAML nor JSON, it also returns a
// [Mistake], and the tree contains only the values that could be read. The position of the
// mistake can be before the position where the YAML library stopped.
//
// [File.Range] returns the range of a value. [File.Inside] maps a character of a text to its
// position in the file. It takes account of quotes, escapes and folded lines. The package does
// not interpret keys.
//
// The package does not panic for any input. The caller must limit the depth of values. An
// alias may be inside the value that it names.
package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// A Mistake is the reason why a text is neither YAML nor JSON. Its line and column start at 1,
// and columns count characters.
type Mistake struct {
	Line, Column int
	Message      string
}

// Empty is the message for a text without values.
const Empty = "the file is empty"

// Unmarked returns the text without a byte order mark.
func Unmarked(source []byte) []byte { return bytes.TrimPrefix(source, []byte("\xef\xbb\xbf")) }

func read(name string, source []byte) (*yaml.Node, *Mistake) {
	switch {
	case !utf8.Valid(source):
		return nil, mistakeAt(source, invalid(source), "the file is not UTF-8 text"+encoding(source))
	case looksJSON(source):
		n, _ := jsonNodes(source) // it is valid
		return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{n}}, nil
	}
	if wrong := jsonSyntax(name, source); wrong != nil {
		return nil, mistakeAt(source, int(wrong.Offset)-1, fmt.Sprintf("JSON: %v%s", wrong, jsonHint(wrong)))
	}
	return readYAML(source)
}

// encoding returns a hint for a file that is not UTF-8: its probable encoding, or "".
func encoding(source []byte) string {
	if bytes.HasPrefix(source, []byte("\xff\xfe")) || bytes.HasPrefix(source, []byte("\xfe\xff")) {
		return ": it is UTF-16; save it as UTF-8"
	}
	return ""
}

// mistakeAt returns a mistake at a byte offset of the text.
func mistakeAt(source []byte, offset int, message string) *Mistake {
	before := source[:max(0, min(offset, len(source)))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return &Mistake{1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:]), message}
}

// invalid returns the offset of the first byte that is not UTF-8.
func invalid(source []byte) int {
	offset := 0
	for offset < len(source) {
		r, size := utf8.DecodeRune(source[offset:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		offset += size
	}
	return offset
}

// newer matches the directive of YAML 1.2, which the YAML library rejects. The library reads
// the values of cascades as YAML 1.2 does.
var newer = patterns.Lazy(`\A(?:[ \t]*(?:#[^\n]*)?\n)*%YAML 1\.2[ \t\r\n]`)

func readYAML(source []byte) (*yaml.Node, *Mistake) {
	if at := newer().FindIndex(source); at != nil {
		source = bytes.Clone(source)
		source[at[1]-2] = '1'
	}
	r := &lineReader{source: source}
	d := yaml.NewDecoder(r)
	var doc, second yaml.Node
	err := decode(d, &doc)
	switch {
	case errors.Is(err, io.EOF):
		return nil, &Mistake{1, 1, Empty}
	case err != nil:
		return nil, syntax(source, err, r.lines)
	}
	if err := decode(d, &second); err == nil {
		return nil, &Mistake{max(second.Line, 1), max(second.Column, 1), "a file holds one document; a second document begins here"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntax(source, err, r.lines)
	}
	return &doc, nil
}

// decode turns panics of the YAML library into errors.
func decode(d *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	if err := d.Decode(n); err != nil {
		return err
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) == 0 {
		return io.EOF
	}
	return nil
}

// A lineReader returns one line at a time. The number of lines shows where the YAML library
// stopped.
type lineReader struct {
	source []byte
	rest   []byte // rest of the current line
	lines  int
}

func (r *lineReader) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		if len(r.source) == 0 {
			return 0, io.EOF
		}
		end := bytes.IndexByte(r.source, '\n') + 1
		if end == 0 {
			end = len(r.source)
		}
		r.rest, r.source, r.lines = r.source[:end], r.source[end:], r.lines+1
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// For the errors in fromContext, the YAML library counts lines from 0. For the errors in
// fromStop, the line where the library stopped is more precise.
var (
	fromContext = []string{"did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected node content"}
	fromStop    = []string{"did not find expected key", "did not find expected '-' indicator", "control characters are not allowed",
		"did not find expected <document start>", "exceeded max depth"}
)

// syntax returns the mistake for a YAML error at the most probable line. stopped is the last
// line that the library has read.
func syntax(source []byte, err error, stopped int) *Mistake {
	lines := strings.Split(string(source), "\n")
	if line, column, message := strayQuote(lines); message != "" {
		return &Mistake{line, column, message}
	}
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if n, _ := fmt.Sscanf(message, "line %d:", &line); n == 1 {
		_, message, _ = strings.Cut(message, ": ")
	}
	begins := func(with string) bool { return strings.HasPrefix(message, with) }
	switch {
	case slices.ContainsFunc(fromStop, begins):
		line = stopped
	case slices.ContainsFunc(fromContext, begins):
		line++
	case begins("found a tab character"):
		if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "\t") }); i >= 0 {
			line = 1 + i
		}
	case begins("mapping values are not allowed") && line > 1 && line <= len(lines) && runTogether().MatchString(strings.TrimRight(lines[line-2], " \r")):
		line, message = line-1, "a blank is missing behind the colon"
	case begins("unknown anchor"):
		line = lineWith(lines, message)
	}
	line = max(1, min(line, len(lines)))
	text := lines[line-1]
	column := 1 + len(text) - len(strings.TrimLeft(text, " \t"))
	return &Mistake{line, column, message + hint(lines, message, line)}
}

// lineWith returns the line of the alias in an error message.
func lineWith(lines []string, message string) int {
	_, name, _ := strings.Cut(message, "'")
	name, _, _ = strings.Cut(name, "'")
	return 1 + slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "*"+name) })
}

var (
	runTogether = patterns.Lazy(`^[ -]*[A-Za-z_]+:[^ ]+$`)
	keyed       = patterns.Lazy(`^[ -]*[A-Za-z_]+: +[^ ]`)
)

func indented(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// hint returns the usual cause of an error, if the message of the YAML library does not
// explain it.
func hint(lines []string, message string, line int) string {
	text, above := lines[line-1], strings.TrimRight(strings.Join(lines[max(0, line-2):line-1], ""), " \r")
	inner := indented(text) > indented(strings.TrimPrefix(strings.TrimLeft(above, " "), "- "))
	switch {
	case strings.HasPrefix(message, "mapping values are not allowed") && strings.Count(text, ": ") < 2 && inner && keyed().MatchString(above):
		return fmt.Sprintf(": the line is indented further than line %d, whose value is written already", line-1)
	case strings.HasPrefix(message, "found a tab character"):
		return ": indent with blanks, not tabs"
	case strings.HasPrefix(message, "unknown anchor"):
		return ": a text that begins with * needs quotes"
	case strings.HasPrefix(message, "did not find expected alphabetic or numeric character"):
		return ": a text that begins with * or & needs quotes"
	case strings.HasPrefix(message, "found unknown escape character"):
		return `: in double quotes \ begins an escape: write \\, or the text in single quotes`
	case strings.HasPrefix(message, "could not find expected ':'"):
		return ": this line has no key; a text of several lines is indented further than its key"
	case strings.HasPrefix(message, "found character that cannot start any token"):
		return ": indent with blanks, not tabs, and quote a text that begins with @, ` or %"
	case strings.HasPrefix(message, "mapping values are not allowed"):
		return ": quote a text that holds a colon and a blank"
	case strings.HasPrefix(message, "did not find expected ',' or"):
		return ": a bracket is not closed, or a text needs quotes, such as one that ends with ?"
	case strings.HasPrefix(message, "did not find expected key"), strings.HasPrefix(message, "did not find expected '-' indicator"):
		return ": look at the indentation"
	}
	return ""
}
