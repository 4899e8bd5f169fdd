package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/internal/modelmarkup"
	"github.com/seed61713e19/capstan/validators/schema"
)

// document returns the JSON of a message: the whole text, or the last fence in its
// prose, without what the model thought. All else is blank, so that positions are
// those of the text.
func document(text []byte) ([]byte, error) {
	text = bytes.Clone(bytes.TrimPrefix(text, []byte("\ufeff")))
	for _, s := range modelmarkup.Find(string(text)) {
		if s.Kind != modelmarkup.Thinking {
			continue
		}
		if s.End == len(text) {
			return nil, errors.New("it ends within the model's thinking")
		}
		blank(text[s.Start:s.End])
	}
	start := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	if start < len(text) && (text[start] == '{' || text[start] == '[') {
		return behind(text, start, len(text)), nil
	}
	from, to, err := lastFence(text, start)
	switch {
	case err != nil:
		return nil, err
	case to > 0:
		if at := another(text[to:]); at >= 0 {
			return nil, fmt.Errorf("line %d: a second document begins behind the first", bytes.Count(text[:to+at], []byte{'\n'})+1)
		}
		return behind(text, from, to), nil
	}
	if json.Valid(text) {
		return text, nil
	}
	return nil, errors.New("there is no JSON: want one JSON object, by itself or in a ```json fence")
}

// blank overwrites a text with blanks, but keeps its line ends.
func blank(text []byte) {
	for i, b := range text {
		if b != '\n' {
			text[i] = ' '
		}
	}
}

// behind is text[from:to] with the lines and columns that it has in the text.
func behind(text []byte, from, to int) []byte {
	line := bytes.LastIndexByte(text[:from], '\n') + 1
	lines := bytes.Count(text[:from], []byte{'\n'})
	return slices.Concat(bytes.Repeat([]byte{'\n'}, lines), bytes.Repeat([]byte{' '}, from-line), text[from:to])
}

// lastFence finds the body of the last fenced block that is JSON by its label
// or has none; to is 0 where there is none. A block that nobody closes is a text
// that was cut off, whatever stands in it.
func lastFence(text []byte, start int) (from, to int, err error) {
	mark, begin, opened, isJSON := "", 0, 0, false
	for at := start; at < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		found, label := fence(text[at:end])
		switch {
		case found == "":
		case mark == "":
			mark, begin, opened, isJSON = found, end, at, label == "" || strings.HasPrefix(strings.ToLower(label), "json")
		case found[0] == mark[0] && len(found) >= len(mark) && label == "":
			if isJSON {
				from, to = begin, at
			}
			mark = ""
		}
		at = end
	}
	if mark != "" {
		return 0, 0, fmt.Errorf("the fence in line %d is never closed", bytes.Count(text[:opened], []byte{'\n'})+1)
	}
	return from, to, nil
}

// another is where a JSON object begins behind a message that is one, too; -1
// for none. Objects of other things, such as of a command line, are none.
func another(text []byte) int {
	for at, tries := 0, 0; ; tries++ {
		i := bytes.IndexByte(text[at:], '{')
		if i < 0 {
			return -1
		}
		if at += i; tries == maxTries {
			return at
		}
		d := json.NewDecoder(bytes.NewReader(text[at:]))
		var object map[string]json.RawMessage
		if d.Decode(&object) != nil {
			at++
			continue
		}
		for _, field := range []string{"task_id", "verdict", "criteria_results", "acceptance_criteria", "promise_id"} {
			if object[field] != nil {
				return at
			}
		}
		at += int(d.InputOffset())
	}
}

// maxTries is how many braces behind a message are looked at; what has more is
// not taken for prose.
const maxTries = 100

// fence reads a line as the mark of a fenced block and its label.
func fence(line []byte) (mark, label string) {
	s := bytes.TrimSpace(line)
	if !bytes.HasPrefix(s, []byte("```")) && !bytes.HasPrefix(s, []byte("~~~")) {
		return "", ""
	}
	rest := bytes.TrimLeft(s, string(s[:1]))
	if s[0] == '`' && bytes.IndexByte(rest, '`') >= 0 {
		return "", ""
	}
	return string(s[:len(s)-len(rest)]), string(bytes.TrimSpace(rest))
}

// maxTokens bounds a message as a whole, for a decoded value takes some fifty
// times its text. It suffices for the protocol's lists, all as long as they may
// be.
const maxTokens = 500_000

// bounded refuses a document that has too many tokens to be decoded.
func bounded(doc []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for range maxTokens + 1 {
		if _, err := d.ReadToken(); err != nil {
			return nil // the end, or what its reader tells of
		}
	}
	return fmt.Errorf("has more than %d keys, values and brackets", maxTokens)
}

// parse reads a document as a plain value and tells what is wrong with it.
func (p *problems) parse(text []byte) (any, bool) {
	doc, err := document(text)
	if err == nil {
		err = bounded(doc)
	}
	if err != nil {
		p.add("", "%v", err)
		return nil, false
	}
	value, err := schema.Parse(doc)
	var twice *schema.DuplicateKey
	if errors.As(err, &twice) {
		p.add(strings.TrimPrefix(strings.TrimPrefix(twice.Path, "$"), "."), "appears twice; an object has each key once")
		return nil, false
	}
	if err != nil {
		p.add("", "%v", err)
		return nil, false
	}
	return value, true
}
