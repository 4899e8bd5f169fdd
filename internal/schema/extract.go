package schema

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/modelmarkup"
	"github.com/seed61713e19/capstan/internal/reading"
)

// Extract returns the one JSON document in a model's reply, checked against a
// schema.
//
// If the whole text is a document, or its only fenced block, nothing else
// counts. Otherwise the document is the object or array in the text, of a type
// that the schema's root allows. Quotations, inline code, Markdown links and
// thinking do not count. Equal documents count once.
//
// An error describes why there is no answer: no JSON ([ErrNoJSON]), several
// different documents, or broken JSON after a document. [ErrUnchecked] is an
// error of the check, not of the text, see [Schema.Check]. A text with more
// than 1,000,000 values is such an error.
//
// A nil schema accepts every document. The time is linear in the text. A text
// that is not JSON and that [reading.Read] rejects, such as a text over 1 MiB,
// has no answer.
func Extract(stop Stop, text string, s *Schema) (any, []Violation, error) {
	return extractor{stop, reading.Read}.extract(text, s)
}

// ExtractShared is [Extract] with a function that reads texts, such as the one
// from [reading.Shared].
func ExtractShared(stop Stop, read func(string) (*reading.Document, error), text string, s *Schema) (any, []Violation, error) {
	return extractor{stop, read}.extract(text, s)
}

// An extractor reads texts until stop returns an error.
type extractor struct {
	stop Stop
	read func(text string) (*reading.Document, error)
}

func (r extractor) extract(text string, s *Schema) (any, []Violation, error) {
	v, err := r.document(text, s.rootTypes())
	if err != nil {
		return nil, nil, err
	}
	broken, err := s.Check(r.stop, v)
	if err != nil {
		return nil, nil, err
	}
	return v, broken, nil
}

// document returns the answer in a text.
func (r extractor) document(text string, types typeSet) (any, error) {
	v, o, err := r.value(&text)
	if err != nil || o == nil {
		return v, err
	}
	if len(o.fences) == 1 {
		if v, err := o.fences[0].json(r.stop); err == nil {
			return v, nil
		}
	}
	return o.choose(text, types)
}

// value returns the value of a text that is one document, or else the outline
// of the text. It replaces thinking in the text by blanks, so that offsets stay
// valid.
func (r extractor) value(text *string) (any, *outline, error) {
	for again := false; ; again = true {
		d := jsonvalue.NewDecoder(r.stop, []byte(*text), jsonvalue.MaxValues)
		var broken error
		if start := strings.TrimLeft(*text, " \t\r\n"); start != "" && strings.IndexByte(`{["-0123456789tfn`, start[0]) >= 0 {
			v, err := d.Whole()
			if err == nil || d.Fatal(err) {
				return v, nil, markUnchecked(err)
			}
			broken = err
		}
		if !again {
			if visible := withoutThinking(*text); visible != *text {
				*text = visible
				continue
			}
		}
		d.Restart()
		o, err := r.outline(d, *text)
		if errors.Is(err, errUnread) && broken != nil {
			err = fmt.Errorf("%w; as JSON: %w", err, broken)
		}
		return nil, &o, markUnchecked(err)
	}
}

// markUnchecked wraps an error that describes the check, not the text.
func markUnchecked(err error) error {
	if err == nil || errors.Is(err, jsonvalue.ErrNested) || errors.Is(err, errUnread) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnchecked, err)
}

// withoutThinking returns the text with blanks in place of thinking. The length
// stays the same.
func withoutThinking(text string) string {
	visible := []byte(text)
	for _, s := range modelmarkup.Find(text) {
		if s.Kind == modelmarkup.Thinking {
			blank(visible[s.Start:s.End])
		}
	}
	return string(visible)
}

// blank overwrites text with blanks, except line ends.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// choose returns the only document of an outline, of one of the types.
func (o *outline) choose(text string, types typeSet) (any, error) {
	var values, broken []candidate
	for _, of := range []struct {
		typeSet
		candidates
	}{{objectType, o.objects}, {arrayType, o.lists}} {
		if of.typeSet&types == 0 {
			continue
		}
		values = append(values, of.values...)
		if of.broken != nil {
			broken = append(broken, *of.broken, *of.lastBroken)
		}
	}
	switch {
	case len(values) > 1:
		return nil, errSeveral(text, values)
	case len(values) == 0 && len(broken) > 0:
		return nil, fmt.Errorf("there is no valid JSON in the text: %w", reason(text, broken[0]))
	case len(values) == 0 && types != objectType|arrayType:
		return o.choose(text, objectType|arrayType) // the schema then reports the wrong type
	case len(values) == 0:
		return nil, mentionBlank(text, o.noJSON())
	}
	for _, b := range broken {
		if b.start > values[0].start {
			line, column := jsonvalue.Position([]byte(text), values[0].start)
			return nil, fmt.Errorf("there is broken JSON after the JSON at line %d, column %d: %w. Give exactly one JSON document", line, column, reason(text, b))
		}
	}
	return values[0].value, nil
}

// reason returns the syntax error of a broken candidate.
func reason(text string, c candidate) error {
	return jsonvalue.NewDecoder(nil, []byte(text), jsonvalue.MaxValues).Explain(c.err, c.end)
}

// ErrNoJSON is the error for a text without anything that looks like JSON.
var ErrNoJSON = errors.New("there is no JSON in the text")

func (o *outline) noJSON() error {
	if o.skipped {
		return fmt.Errorf("%w; JSON in quotations (lines that begin with >) or inline code does not count", ErrNoJSON)
	}
	return ErrNoJSON
}

// mentionBlank extends err if a character that JSON does not accept as white
// space follows {, [, a comma or a colon. Pasted text often contains a no-break
// space.
func mentionBlank(text string, err error) error {
	mark := false
	for i, r := range text {
		if mark && unicode.IsSpace(r) && !strings.ContainsRune(" \t\r\n", r) {
			line, column := jsonvalue.Position([]byte(text), i)
			return fmt.Errorf("%w; line %d, column %d: the character U+%04X is no blank in JSON, so write a space", err, line, column, r)
		}
		mark = strings.ContainsRune("{[,:", r)
	}
	return err
}

// errSeveral returns the error for a text with several different documents.
func errSeveral(text string, values []candidate) error {
	places := make([]string, len(values))
	for i, v := range values {
		line, column := jsonvalue.Position([]byte(text), v.start)
		places[i] = fmt.Sprintf("line %d, column %d", line, column)
	}
	return fmt.Errorf("the text has several different JSON documents (%s). Give exactly one", strings.Join(places, "; "))
}
