package batch

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/validators/schema"
)

// jsonRows reads JSON Lines: an object a line, its keys the inputs. Where the
// cascade has no input of that name, expect is what the row expects, and input
// with nothing but expect beside it is the object of inputs.
func jsonRows(text *bufio.Reader, most int, c *cascades.Cascade, body func(Row) error) error {
	row, first := Row{}, ""
	for line := 1; ; line++ {
		said, long, err := wholeLine(text, most)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(bytes.TrimSpace(said)) > 0 || long {
			row = Row{Number: row.Number + 1, Line: line}
			if long {
				row.Err = tooLong(most)
			} else if row.Input, row.Err = object(bytes.TrimSpace(said)); row.Err == nil {
				row.sort(c)
				row.compare(&first)
			}
			if err := body(row); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// wholeLine reads to the end of the line. Of one that is too long nothing is kept.
func wholeLine(text *bufio.Reader, most int) (line []byte, long bool, err error) {
	for {
		part, err := text.ReadSlice('\n')
		if long = long || len(line)+len(part) > most; !long {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

func tooLong(most int) error { return fmt.Errorf("the row has more than %d bytes", most) }

func object(text []byte) (map[string]any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("it is not UTF-8 text")
	}
	v, err := schema.Parse(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "line 1, "))
	}
	o, isObject := v.(map[string]any)
	if !isObject {
		return nil, errors.New("want a JSON object")
	}
	return o, nil
}

// sort takes what the row expects out of its inputs.
func (r *Row) sort(c *cascades.Cascade) {
	const expect, input = "expect", "input"
	if said, there := r.Input[expect]; there && !declares(c, expect) {
		delete(r.Input, expect)
		r.Expect, r.Err = newExpect(said)
	}
	if inner, isObject := r.Input[input].(map[string]any); isObject && len(r.Input) == 1 && !declares(c, input) {
		r.Input = inner
	}
}

func declares(c *cascades.Cascade, name string) bool {
	return slices.ContainsFunc(c.Inputs, func(in cascades.Input) bool { return in.Name == name })
}

// compare tells how the row's columns differ from the first row's.
func (r *Row) compare(first *string) {
	own := slices.Sorted(maps.Keys(r.Input))
	if *first == "" {
		*first = "\x00" + strings.Join(own, "\x00")
		return
	}
	was := strings.Split(*first, "\x00")[1:]
	if slices.Equal(was, own) || len(was) == 1 && was[0] == "" && len(own) == 0 {
		return
	}
	var parts []string
	for _, name := range was {
		if !slices.Contains(own, name) && name != "" {
			parts = append(parts, "no "+name)
		}
	}
	for _, name := range own {
		if !slices.Contains(was, name) {
			parts = append(parts, "also "+name)
		}
	}
	r.Other = strings.Join(parts, ", ")
}

// csvRows reads CSV: the first row names the inputs, and expect.
func csvRows(text *bufio.Reader, most int, c *cascades.Cascade, body func(Row) error) error {
	bound := &bounded{text, most, most}
	r, header, err := csvHeader(bound)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	for row := (Row{}); ; {
		bound.left = most
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		last := max(row.Line, 1)
		row = Row{Number: row.Number + 1}
		var broken *csv.ParseError
		switch {
		case errors.As(err, &broken):
			row.Line, row.Err = broken.StartLine, broken.Err
		case err != nil && bound.left > 0:
			return err
		case err != nil:
			row.Line, row.Err = last+1, fmt.Errorf("%w; the following rows cannot be read: check for an unclosed quote", err)
		default:
			row.Line, _ = r.FieldPos(0)
			row.fill(c, header, cells)
		}
		if e := body(row); e != nil || err != nil && broken == nil {
			return e
		}
	}
}

// csvHeader reads the names of the columns; the error is [io.EOF] where there is
// nothing.
func csvHeader(text io.Reader) (r *csv.Reader, header []string, err error) {
	r = csv.NewReader(text)
	r.FieldsPerRecord = -1
	if header, err = r.Read(); err == nil {
		err = checkHeader(header)
	}
	return r, header, err
}

func checkHeader(header []string) error {
	for i, name := range header {
		switch {
		case !utf8.ValidString(name):
			return errors.New("it is not UTF-8 text")
		case strings.Contains(name, "\r"):
			return errors.New("its line does not end with a line feed, as lines of CSV do")
		case len(header) == 1 && strings.ContainsAny(name, ";\t"):
			return fmt.Errorf("it has one column, %q: want commas between columns", name)
		case name == "":
			return fmt.Errorf("column %d has no name", i+1)
		case slices.Contains(header[:i], name):
			return fmt.Errorf("two columns are called %s", name)
		}
	}
	return nil
}

// fill makes the row of its cells. A cell is the text that stands in it, or, where
// the input's schema does not take a text, what that is as JSON. An empty one is
// left out where the input has a default or may not be empty.
func (r *Row) fill(c *cascades.Cascade, header, cells []string) {
	if len(cells) != len(header) {
		r.Err = fmt.Errorf("it has %d columns; the header has %d", len(cells), len(header))
		return
	}
	r.Input = map[string]any{}
	for i, cell := range cells {
		if !utf8.ValidString(cell) {
			r.Err = fmt.Errorf("column %s is not UTF-8 text", header[i])
			return
		}
		if header[i] == "expect" && cell == "" && !declares(c, "expect") {
			continue // of this row nothing is expected
		}
		if v, there := value(c, header[i], cell); there {
			r.Input[header[i]] = v
		}
	}
	r.sort(c)
}

func value(c *cascades.Cascade, name, cell string) (v any, there bool) {
	i := slices.IndexFunc(c.Inputs, func(in cascades.Input) bool { return in.Name == name })
	if i < 0 {
		return cell, true
	}
	in := c.Inputs[i]
	fits := func(v any) bool { return len(in.Check(nil, v, true)) == 0 }
	switch parsed, err := schema.Parse([]byte(cell)); {
	case cell == "" && (in.HasDefault || !fits(cell)):
		return nil, false
	case fits(cell) || err != nil || !fits(parsed):
		return cell, true
	default:
		return parsed, true
	}
}

// bounded bounds what one row may take.
type bounded struct {
	r          io.Reader
	left, most int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, tooLong(b.most)
	}
	n, err := b.r.Read(p)
	b.left = max(b.left-n, 0)
	return n, err
}
