package request

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/modelmarkup"
	"github.com/seed61713e19/capstan/internal/reading"
)

// parse reads the JSON of a message as a plain value: the whole text, or the
// last fence in its prose. It ignores the model's thinking.
func (p *problems) parse(text []byte) (any, bool) {
	value, err := message(string(text))
	var twice *jsonvalue.DuplicateKey
	switch {
	case errors.As(err, &twice):
		p.add(strings.TrimPrefix(strings.TrimPrefix(twice.Path, "$"), "."), "appears twice; an object has each key once")
	case err != nil:
		p.add("", "%v", err)
	}
	return value, err == nil
}

func message(text string) (any, error) {
	source, err := withoutThinking(text)
	if err != nil {
		return nil, err
	}
	source = strings.TrimPrefix(source, "\ufeff")
	if strings.HasPrefix(strings.TrimLeft(source, " \t\r\n"), "{") {
		return jsonvalue.Parse([]byte(source))
	}
	d, err := reading.Read(source)
	if err != nil {
		return nil, err
	}
	found, err := lastJSON(d)
	if err != nil {
		return nil, err
	}
	var syntax *jsonvalue.SyntaxError
	if errors.As(found.Err, &syntax) {
		line, column := d.Position(found.At)
		return nil, fmt.Errorf("line %d, column %d: %s", line, column, syntax.Message)
	}
	return found.Value, found.Err
}

// withoutThinking replaces the model's thinking by blanks, so that offsets
// remain valid.
func withoutThinking(text string) (string, error) {
	plain := []byte(text)
	for _, s := range modelmarkup.Find(text) {
		if s.Kind != modelmarkup.Thinking {
			continue
		}
		if s.End == len(text) {
			return "", errors.New("it ends within the model's thinking")
		}
		for i := s.Start; i < s.End; i++ {
			if plain[i] != '\n' {
				plain[i] = ' '
			}
		}
	}
	return string(plain), nil
}

// lastJSON returns the JSON of a message. A fence without an end is a truncated
// text. A last fence without JSON, or a second message after it, is an error.
func lastJSON(d *reading.Document) (found reading.JSON, err error) {
	if len(d.JSON) > 0 && d.JSON[0].Whole {
		return d.JSON[0], nil
	}
	last := -1
	for i, b := range d.Blocks {
		if b.Fenced && !b.Closed {
			line, _ := d.Position(b.Start)
			return found, fmt.Errorf("the fence in line %d is never closed", line)
		}
		if b.Fenced && (b.Language == "" || strings.HasPrefix(strings.ToLower(b.Language), "json")) {
			last = i
		}
	}
	if last < 0 {
		return found, errors.New("there is no JSON: want one JSON object, alone or in a ```json fence")
	}
	i := slices.IndexFunc(d.JSON, func(j reading.JSON) bool { return j.Block == last })
	if i < 0 {
		line, _ := d.Position(d.Blocks[last].Start)
		return found, fmt.Errorf("the last fence, in line %d, is no JSON", line)
	}
	behind := d.Blocks[last].End
	if at := messageKey().FindStringIndex(d.Source[behind:]); at != nil {
		line, _ := d.Position(behind + at[0])
		return found, fmt.Errorf("line %d: a second document begins behind the first", line)
	}
	return d.JSON[i], nil
}

// messageKey matches the fields of a second message.
var messageKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:task_id|verdict|criteria_results|acceptance_criteria|promise_id)"\s*:`)
})
