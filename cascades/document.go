package cascades

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/patterns"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Document reads a file as the tree of its values, with its comments, whatever
// they mean: a document node that holds one value. An error is [Diagnostics]: what
// is neither YAML nor JSON, more than a cascade may hold, or contains itself.
func Document(name string, source []byte) (*yaml.Node, error) {
	p := &parser{file: name, source: source}
	if doc := p.document(); doc != nil && p.sound(doc.Content[0], nil) {
		return doc, nil
	}
	return nil, p.found
}

// document decodes the file into one document, or reports why it cannot.
func (p *parser) document() *yaml.Node {
	p.source = bytes.TrimPrefix(p.source, byteOrderMark)
	switch {
	case len(p.source) > maxSource:
		p.report(nil, CodeTooLarge, "the file has %d bytes; a cascade may have %d", len(p.source), maxSource)
		return nil
	case !utf8.Valid(p.source):
		p.reportAt(p.invalid(), CodeSyntax, "the file is not UTF-8 text%s", p.encoding())
		return nil
	case looksJSON(p.source):
		n, _ := jsonNodes(p.source) // it is valid
		return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{n}}
	}
	if wrong := p.jsonSyntax(); wrong != nil {
		p.reportAt(p.at(int(wrong.Offset)-1), CodeSyntax, "JSON: %v%s", wrong, jsonHint(wrong))
		return nil
	}
	return p.yamlDocument()
}

// encoding says what a file that is not UTF-8 seems to be.
func (p *parser) encoding() string {
	if bytes.HasPrefix(p.source, []byte("\xff\xfe")) || bytes.HasPrefix(p.source, []byte("\xfe\xff")) {
		return ": it is UTF-16; save it as UTF-8"
	}
	return ""
}

// at gives the place of a byte of the file.
func (p *parser) at(offset int) Position {
	before := p.source[:max(0, min(offset, len(p.source)))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return Position{p.file, 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])}
}

// invalid is the place of the first byte that is not UTF-8.
func (p *parser) invalid() Position {
	offset := 0
	for offset < len(p.source) {
		r, size := utf8.DecodeRune(p.source[offset:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		offset += size
	}
	return p.at(offset)
}

func (p *parser) yamlDocument() *yaml.Node {
	r := &lineReader{source: p.source}
	d := yaml.NewDecoder(r)
	var doc, second yaml.Node
	err := decode(d, &doc)
	switch {
	case errors.Is(err, io.EOF):
		p.report(nil, CodeSyntax, "the file is empty")
		return nil
	case err != nil:
		p.syntax(err, r.lines)
		return nil
	}
	if err := decode(d, &second); err == nil {
		p.report(&second, CodeSyntax, "a file holds one cascade; a second document begins here")
		return nil
	} else if !errors.Is(err, io.EOF) {
		p.syntax(err, r.lines)
		return nil
	}
	return &doc
}

// decode guards against panics of the YAML library on hostile texts.
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

// A lineReader hands out one line at a time, so that the number of lines read
// tells about where the YAML library was when it gave up.
type lineReader struct {
	source []byte
	rest   []byte // of the line
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

// The complaints of the YAML library that tell, counted from 0, the line where
// what it was reading began; and those among them for which the line where it
// stopped says more.
var (
	fromContext = []string{"did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected node content"}
	fromStop    = []string{"did not find expected key", "did not find expected '-' indicator", "control characters are not allowed",
		"did not find expected <document start>", "exceeded max depth"}
)

// syntax reports a YAML error at the line it tells of, as well as that can be
// known; stopped is the last line that was read.
func (p *parser) syntax(err error, stopped int) {
	if line, column, message := strayQuote(p.sourceLines()); message != "" {
		p.reportAt(Position{p.file, line, column}, CodeSyntax, "%s", message)
		return
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
		if i := slices.IndexFunc(p.sourceLines(), func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "\t") }); i >= 0 {
			line = 1 + i
		}
	case begins("mapping values are not allowed") && line > 1 && line <= len(p.sourceLines()) && runTogether().MatchString(strings.TrimRight(p.sourceLines()[line-2], " \r")):
		line, message = line-1, "a blank is missing behind the colon"
	case begins("unknown anchor"):
		line = p.lineWith(message)
	}
	lines := p.sourceLines()
	line = max(1, min(line, len(lines)))
	text := lines[line-1]
	column := 1 + len(text) - len(strings.TrimLeft(text, " \t"))
	p.reportAt(Position{p.file, line, column}, CodeSyntax, "%s%s", message, p.hint(message, line))
}

// lineWith finds the line of the alias that an error quotes.
func (p *parser) lineWith(message string) int {
	_, name, _ := strings.Cut(message, "'")
	name, _, _ = strings.Cut(name, "'")
	return 1 + slices.IndexFunc(p.sourceLines(), func(line string) bool { return strings.Contains(line, "*"+name) })
}

var (
	runTogether = patterns.Lazy(`^[ -]*[A-Za-z_]+:[^ ]+$`)
	keyed       = patterns.Lazy(`^[ -]*[A-Za-z_]+: +[^ ]`)
)

func indented(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// hint says what usually is behind an error that the YAML library has no words
// for.
func (p *parser) hint(message string, line int) string {
	lines := p.sourceLines()
	text, above := lines[line-1], strings.TrimRight(strings.Join(lines[max(0, line-2):line-1], ""), " \r")
	inner := indented(text) > indented(strings.TrimPrefix(strings.TrimLeft(above, " "), "- "))
	switch {
	case strings.HasPrefix(message, "mapping values are not allowed") && strings.Count(text, ": ") < 2 && inner && keyed().MatchString(above):
		return fmt.Sprintf(": the line is indented further than line %d, whose value is written already", line-1)
	case strings.HasPrefix(message, "found a tab character"):
		return ": indent with blanks, not tabs"
	case strings.HasPrefix(message, "unknown anchor"):
		return ": a text that begins with * needs quotes"
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
