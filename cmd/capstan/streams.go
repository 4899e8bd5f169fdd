package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/seed61713e19/capstan/internal/redactions"
	"github.com/seed61713e19/capstan/internal/reports"
)

// results is standard output. It remembers the first error of writing: most verbs
// write line by line, and a command whose output is incomplete must fail.
type results struct {
	io.Writer
	lost error // the first failure
}

func (r *results) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	if r.lost == nil {
		r.lost = err
	}
	return n, err
}

// filter puts the command's filters in front of its streams: secrets are redacted, and
// what people read has its control characters escaped. People read standard error,
// and standard output if it is a terminal; other output keeps its bytes.
func (c *Command) filter(out *results) {
	c.Stdout, c.Stderr = redactions.Writer(out, c.hidden), &reports.VisibleWriter{Out: redactions.Writer(c.Stderr, c.hidden)}
	if isTerminal(out) {
		c.Stdout = &reports.VisibleWriter{Out: c.Stdout}
	}
}

// visible is standard output for text that only people read. It escapes control
// characters also if standard output is a pipe, such as one to a pager.
func (c *Command) visible() io.Writer {
	if _, ok := c.Stdout.(*reports.VisibleWriter); ok {
		return c.Stdout
	}
	return &reports.VisibleWriter{Out: c.Stdout}
}

// unescaped returns the stream behind a filter that escapes control characters.
// Whoever writes to it must escape untrusted text itself.
func unescaped(stream io.Writer) io.Writer {
	if v, ok := stream.(*reports.VisibleWriter); ok {
		return v.Out
	}
	return stream
}

// unfiltered returns the stream behind all filters, for protocols that count bytes.
func unfiltered(stream io.Writer) io.Writer { return redactions.Unwrap(unescaped(stream)) }

// writeJSON writes a JSON document, or a text that may be one, so that a document
// remains valid.
func writeJSON(out io.Writer, document []byte) error {
	if _, ok := out.(*reports.VisibleWriter); ok {
		document = []byte(reports.Visible(string(document)))
	}
	return redactions.WriteJSON(unescaped(out), document)
}

// A documents writer gets a JSON document with each write.
type documents struct{ out io.Writer }

func (d documents) Write(document []byte) (int, error) {
	return len(document), writeJSON(d.out, document)
}

// flush writes what the filters of a stream hold back.
func flush(stream io.Writer) {
	if v, ok := stream.(*reports.VisibleWriter); ok {
		_ = v.Flush() // results remembers the error
	}
	redactions.Flush(unescaped(stream))
}

// terminal reports whether a stream is a terminal that a person looks at.
func (c *Command) terminal(stream any) bool {
	return isTerminal(stream) && c.Getenv("CI") == "" && c.Getenv("TERM") != "dumb"
}

func isTerminal(stream any) bool {
	f, ok := file(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}

// file returns the file behind a stream.
func file(stream any) (*os.File, bool) {
	if out, ok := stream.(io.Writer); ok {
		stream = unfiltered(out)
	}
	if out, ok := stream.(*results); ok {
		stream = out.Writer
	}
	f, ok := stream.(*os.File)
	return f, ok
}
