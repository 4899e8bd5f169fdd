package schema

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/modelmarkup"
)

// Extract returns the one JSON document in a model's reply and checks it against a
// schema.
//
// If the whole text is a document, or its only fenced block, nothing else counts.
// Otherwise the document is the object or array in the text, of a type that the
// schema's root allows. Quotations, inline code and Markdown links do not count, and
// thinking never does. Equal documents count once. An error says why there is no
// answer: no JSON ([ErrNoJSON]), several different documents, or broken JSON after a
// document. [ErrUntold] is an error of the check and says nothing about the text, as
// for [Schema.Check]; a text with more than 1,000,000 values is such an error.
//
// A nil schema accepts every document. Time is linear in the text. A text that is not JSON
// and that [reading.Read] does not read, as one of more than 1 MiB, has no answer.
func Extract(stop Stop, text string, s *Schema) (any, []Violation, error) {
	v, err := document(stop, text, s.rootTypes())
	if err != nil {
		return nil, nil, err
	}
	broken, err := s.Check(stop, v)
	if err != nil {
		return nil, nil, err
	}
	return v, broken, nil
}

// document finds the answer in a text.
func document(stop Stop, text string, types typeSet) (any, error) {
	text = strings.TrimRight(text, " \t\r\n")
	v, o, err := read(stop, &text)
	if err != nil || o == nil {
		return v, err
	}
	if len(o.fences) == 1 {
		if v, err := o.fences[0].json(stop); err == nil {
			return v, nil
		}
	}
	return o.choose(text, types)
}

// read returns the value of a text that is one document, or else its outline. It
// blanks out what the model thought, so that offsets stay.
func read(stop Stop, text *string) (any, *outline, error) {
	for again := false; ; again = true {
		d := jsonvalue.NewDecoder(stop, []byte(*text), jsonvalue.MaxValues)
		var broken error
		if start := strings.TrimLeft(*text, " \t\r\n"); start != "" && strings.IndexByte(`{["-0123456789tfn`, start[0]) >= 0 {
			v, err := d.Whole()
			if err == nil || d.Fatal(err) {
				return v, nil, untold(err)
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
		o, err := outlineOf(d, *text)
		if errors.Is(err, errUnread) && broken != nil {
			err = fmt.Errorf("%w; as JSON: %w", err, broken)
		}
		return nil, &o, untold(err)
	}
}

// untold marks an error that says nothing about the text.
func untold(err error) error {
	if err == nil || errors.Is(err, jsonvalue.ErrNested) || errors.Is(err, errUnread) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUntold, err)
}

// withoutThinking returns a text of the same length without thinking.
func withoutThinking(text string) string {
	visible := []byte(text)
	for _, s := range modelmarkup.Find(text) {
		if s.Kind == modelmarkup.Thinking {
			blank(visible[s.Start:s.End])
		}
	}
	return string(visible)
}

// blank overwrites text with blanks. Line ends stay.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// choose returns the one document of an outline, of the types that may be.
func (o *outline) choose(text string, types typeSet) (any, error) {
	var values, broken []candidate
	for _, of := range []struct {
		typeSet
		finds
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
		return nil, several(text, values)
	case len(values) == 0 && len(broken) > 0:
		return nil, fmt.Errorf("there is no valid JSON in the text: %w", reason(text, broken[0]))
	case len(values) == 0 && types != objectType|arrayType:
		return o.choose(text, objectType|arrayType) // the schema says what is wrong with it
	case len(values) == 0:
		return nil, oddBlank(text, o.none())
	}
	for _, b := range broken {
		if b.start > values[0].start {
			line, column := jsonvalue.Position([]byte(text), values[0].start)
			return nil, fmt.Errorf("there is broken JSON after the JSON at line %d, column %d: %w. Give exactly one JSON document", line, column, reason(text, b))
		}
	}
	return values[0].value, nil
}

// reason returns why a candidate is broken.
func reason(text string, c candidate) error {
	return jsonvalue.NewDecoder(nil, []byte(text), jsonvalue.MaxValues).Explain(c.err, c.end)
}

// ErrNoJSON is the error of a text in which nothing looks like JSON.
var ErrNoJSON = errors.New("there is no JSON in the text")

func (o *outline) none() error {
	if o.skipped {
		return fmt.Errorf("%w; JSON in quotations (lines that begin with >) or inline code does not count", ErrNoJSON)
	}
	return ErrNoJSON
}

// oddBlank adds to an error the first blank after a mark of JSON that is none in JSON,
// such as a no-break space in pasted text.
func oddBlank(text string, err error) error {
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

// several returns the error of a text with different documents.
func several(text string, values []candidate) error {
	places := make([]string, len(values))
	for i, v := range values {
		line, column := jsonvalue.Position([]byte(text), v.start)
		places[i] = fmt.Sprintf("line %d, column %d", line, column)
	}
	return fmt.Errorf("the text has several different JSON documents (%s). Give exactly one", strings.Join(places, "; "))
}
