package main

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/batch"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A row is one label as somebody else has written it, with its line.
type labelRow struct {
	line   int
	fields map[string]string
	err    error
}

// takeLabels takes over the labels of a file. A row that is none is told, and
// stops no other.
func (c *Command) takeLabels(cascade *cascades.Cascade, f labelFlags) error {
	in, err := os.Open(f.from)
	if err != nil {
		return usage("--from: %w", err)
	}
	defer in.Close()
	rows := jsonRows
	if strings.EqualFold(filepath.Ext(f.from), ".csv") {
		rows = csvRows
	}
	dir, taken, wrong := labelDir(cascade.File, f.labels), 0, 0
	text := bufio.NewReaderSize(in, 64<<10)
	if err := batch.Plain(text); err != nil {
		return usage("--from: %s: %w", f.from, err)
	}
	err = rows(text, func(r labelRow) error {
		l, text, err := f.labelOf(r)
		if err == nil {
			own := f
			own.phase, own.gate = l.Phase, l.Gate
			err = own.fits(cascade)
		}
		if err != nil {
			wrong++
			fmt.Fprintf(c.Stderr, "%s:%d: %v\n", f.from, r.line, err)
			return nil
		}
		taken++
		if err := keepTaken(dir, text, l); err != nil {
			return &exit{exitBroken, err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Stderr, "%d labels taken over, %d rows are none\n", taken, wrong)
	if wrong > 0 {
		return &exit{status: exitNo}
	}
	return nil
}

// keepTaken keeps a label of a text, or of the digest of one that is elsewhere.
func keepTaken(dir, text string, l measure.Label) error {
	if text != "" {
		return keepLabel(dir, text, l)
	}
	return addLabel(dir, l)
}

// labelOf makes a label of a row, and gives the text where the row has it.
func (f labelFlags) labelOf(r labelRow) (l measure.Label, text string, err error) {
	if r.err != nil {
		return l, "", r.err
	}
	for name := range r.fields {
		switch name {
		case "content", "text", "good", "phase", "gate", "reason", "by", "time":
		default:
			return l, "", fmt.Errorf("a label has no field %q", name)
		}
	}
	text = r.fields["content"]
	l = measure.Label{
		Text: r.fields["text"], Phase: cmp.Or(r.fields["phase"], f.phase), Gate: cmp.Or(r.fields["gate"], f.gate),
		Reason: r.fields["reason"], By: cmp.Or(r.fields["by"], f.by), Time: time.Now().UTC().Truncate(time.Second),
	}
	switch good := strings.ToLower(strings.TrimSpace(r.fields["good"])); good {
	case "true", "yes", "y", "1", "good":
		l.Good = true
	case "false", "no", "n", "0", "bad":
	default:
		return l, "", fmt.Errorf("good must be true or false, not %q", good)
	}
	if said := r.fields["time"]; said != "" {
		if l.Time, err = time.Parse(time.RFC3339, said); err != nil {
			return l, "", fmt.Errorf("time: %w", err)
		}
	}
	switch {
	case text == "" && l.Text == "":
		return l, "", errors.New("it has neither content nor text, the SHA-256 of one")
	case text != "" && l.Text != "" && strings.TrimPrefix(l.Text, "sha256:") != measure.TextDigest(text):
		return l, "", errors.New("text is not the SHA-256 of content")
	case text != "":
		l.Text = measure.TextDigest(text)
	}
	_, err = l.Line()
	return l, text, err
}

func csvRows(in io.Reader, each func(labelRow) error) error {
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1
	head, err := r.Read()
	for i := range head {
		head[i] = strings.ToLower(strings.TrimSpace(head[i]))
		if slices.Contains(head[:i], head[i]) {
			err = fmt.Errorf("two columns are called %q", head[i])
		}
	}
	if err != nil {
		return usage("--from: the head line: %w", err)
	}
	for {
		values, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		row := labelRow{err: err, fields: map[string]string{}}
		row.line, _ = r.FieldPos(0)
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			row.line = wrong.StartLine
		} else if err != nil {
			return usage("--from: %w", err)
		}
		if err == nil && len(values) != len(head) {
			row.err = fmt.Errorf("it has %d fields, the head line %d", len(values), len(head))
		}
		for i := range min(len(values), len(head)) {
			row.fields[head[i]] = values[i]
			if !utf8.ValidString(values[i]) {
				row.err = fmt.Errorf("%s is not UTF-8 text", head[i])
			}
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

func jsonRows(in io.Reader, each func(labelRow) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		row := labelRow{line: n, fields: map[string]string{}}
		v, err := schema.Parse(lines.Bytes())
		object, ok := v.(map[string]any)
		switch {
		case err != nil:
			row.err = err
		case !ok:
			row.err = errors.New("a row is an object")
		}
		for name, value := range object {
			if _, text := value.(string); text || name == "good" && value != nil {
				row.fields[name] = fmt.Sprint(value)
			} else if value != nil { // null is none
				row.err = fmt.Errorf("%s is not a text", name)
			}
		}
		if err := each(row); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return usage("--from: %w", err)
	}
	return nil
}
