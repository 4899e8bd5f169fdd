package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// importLabels imports the labels of a file. Invalid rows are reported and skipped.
func (c *Command) importLabels(cascade *cascades.Cascade, f labelFlags) error {
	in, err := os.Open(f.from)
	if err != nil {
		return usage("--import: %w", err)
	}
	defer in.Close()
	dir, taken, wrong := labelDir(cascade.File, f.labels), 0, 0
	var broken error // while writing to the folder
	err = (&batch.Dataset{File: f.from}).Read(in, &cascades.Cascade{}, func(r batch.Row) error {
		l, text, err := f.labelOf(r)
		if err == nil {
			own := f
			own.phase, own.gate = l.Phase, l.Gate
			err = own.fits(cascade)
		}
		if err != nil {
			wrong++
			fmt.Fprintf(c.Stderr, "%s:%d: %v\n", f.from, r.Line, err)
			return nil
		}
		taken++
		broken = storeImported(dir, text, l)
		return broken
	})
	switch {
	case broken != nil:
		return &exit{exitBroken, broken}
	case err != nil:
		return usage("--import: %s: %w", f.from, err)
	}
	fmt.Fprintf(c.Stderr, "%d labels taken over, %d rows are none\n", taken, wrong)
	if taken > 0 && !f.random {
		fmt.Fprintln(c.Stderr, "note: no rate uses these labels, because how the texts were drawn is unknown; with --order random they count as random draws")
	}
	if wrong > 0 {
		return &exit{status: exitNo}
	}
	return nil
}

// storeImported stores a label with its text, if the text is known.
func storeImported(dir, text string, l stats.Label) error {
	if text != "" {
		return storeLabel(dir, text, l)
	}
	return addLabel(dir, l)
}

// labelOf converts a row to a label, and returns the text if the row contains it.
func (f labelFlags) labelOf(r batch.Row) (l stats.Label, text string, err error) {
	if r.Err != nil {
		return l, "", r.Err
	}
	fields := map[string]string{}
	for name, value := range r.Input {
		name = strings.ToLower(strings.TrimSpace(name))
		_, twice := fields[name]
		fields[name], _ = value.(string)
		switch _, isText := value.(string); {
		case twice:
			return l, "", fmt.Errorf("%s stands twice", name)
		case !slices.Contains([]string{"content", "text", "good", "phase", "gate", "reason", "by", "time"}, name):
			return l, "", fmt.Errorf("a label has no field %q", name)
		case name == "good" && value != nil:
			fields[name] = fmt.Sprint(value)
		case !isText && value != nil: // null counts as missing
			return l, "", fmt.Errorf("%s is not a text", name)
		}
	}
	if r.Expect != nil {
		return l, "", errors.New(`a label has no field "expect"`)
	}
	text = fields["content"]
	l = stats.Label{
		Text: fields["text"], Phase: cmp.Or(fields["phase"], f.phase), Gate: cmp.Or(fields["gate"], f.gate),
		Reason: fields["reason"], By: cmp.Or(fields["by"], f.by), Time: time.Now().UTC().Truncate(time.Second),
	}
	if f.random {
		l.Draw = &stats.Draw{Order: stats.Random}
	}
	switch good := strings.ToLower(strings.TrimSpace(fields["good"])); good {
	case "true", "yes", "y", "1", "good":
		l.Good = true
	case "false", "no", "n", "0", "bad":
	default:
		return l, "", fmt.Errorf("good must be true or false, not %q", good)
	}
	if at := fields["time"]; at != "" {
		if l.Time, err = time.Parse(time.RFC3339, at); err != nil {
			return l, "", fmt.Errorf("time: %w", err)
		}
	}
	switch {
	case text == "" && l.Text == "":
		return l, "", errors.New("it needs content, or text with a SHA-256")
	case text != "" && l.Text != "" && strings.TrimPrefix(l.Text, "sha256:") != stats.TextDigest(text):
		return l, "", errors.New("text is not the SHA-256 of content")
	case text != "":
		l.Text = stats.TextDigest(text)
	}
	_, err = l.Line()
	return l, text, err
}
