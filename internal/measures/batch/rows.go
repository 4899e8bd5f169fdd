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
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/schema"
)

// jsonRows reads JSON Lines. The keys of an object are the inputs. The key expect is the
// expectation of the row. A single key input is the object of inputs. Inputs of the cascade with
// these names take precedence.
func jsonRows(text *bufio.Reader, most int, c *cascades.Cascade, body func(Row) error) error {
	row, first := Row{}, ""
	for line := 1; ; line++ {
		written, long, err := jsonvalue.ReadLine(text, most)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(bytes.TrimSpace(written)) > 0 || long {
			row = Row{Number: row.Number + 1, Line: line}
			if long {
				row.Err = tooLong(most)
			} else if row.Input, row.Err = object(bytes.TrimSpace(written)); row.Err == nil {
				row.splitExpect(c)
				row.compareColumns(&first)
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

// splitExpect removes the expectation from the inputs.
func (r *Row) splitExpect(c *cascades.Cascade) {
	const expect, input = "expect", "input"
	if written, there := r.Input[expect]; there && !declares(c, expect) {
		delete(r.Input, expect)
		r.Expect, r.Err = newExpect(written)
	}
	if inner, isObject := r.Input[input].(map[string]any); isObject && len(r.Input) == 1 && !declares(c, input) {
		r.Input = inner
	}
}

func declares(c *cascades.Cascade, name string) bool {
	return slices.ContainsFunc(c.Inputs, func(in cascades.Input) bool { return in.Name == name })
}

// compareColumns describes how the columns differ from those of the first row.
func (r *Row) compareColumns(first *string) {
	own := slices.Sorted(maps.Keys(r.Input))
	if *first == "" {
		*first = "\x00" + strings.Join(own, "\x00")
		return
	}
	earlier := strings.Split(*first, "\x00")[1:]
	if slices.Equal(earlier, own) || len(earlier) == 1 && earlier[0] == "" && len(own) == 0 {
		return
	}
	var parts []string
	for _, name := range earlier {
		if !slices.Contains(own, name) && name != "" {
			parts = append(parts, "no "+name)
		}
	}
	for _, name := range own {
		if !slices.Contains(earlier, name) {
			parts = append(parts, "also "+name)
		}
	}
	r.Other = strings.Join(parts, ", ")
}

// csvRows reads CSV. The first row contains the names of the inputs.
func csvRows(text *bufio.Reader, most int, c *cascades.Cascade, body func(Row) error) error {
	bound := &bounded{text, most, most}
	r := csv.NewReader(bound)
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		err = checkHeader(header)
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

// fill converts the cells. A cell is a text, or a JSON value if the schema of the input accepts no
// text. An empty cell is omitted if the input has a default, or if its schema does not accept an
// empty text.
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
			continue // no expectation
		}
		if v, there := value(c, header[i], cell); there {
			r.Input[header[i]] = v
		}
	}
	r.splitExpect(c)
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

// bounded limits the size of one row.
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
