package codec

import (
	"bytes"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/runner/event"
)

// Most rows have one of a few shapes: the same JSON except for some values. A
// pack stores the letter of the shape and the values. A row without a shape has
// its kind and its JSON. Both are decoded to the bytes that were written, so
// the rest of the code does not know about shapes. The only exception is the
// view entry of each store: it needs every new shape whose kind a view shows.
//
// A row is a list: letter, path and nanoseconds since the time of the pack.
// Then come duration and fingerprint, if the shape has them, and the values. A row
// without a shape has kind, path, time, duration, fingerprint and JSON. A finding
// that a later verdict repeats has its letter and the distance to the verdict.
// With the path draft/attempt[1]/ for the pack, a model's effect, a finding,
// its verdict and a row without a shape are
//
//	[["k","turn[1]",0,900,"AQID","m","draft",1,{"text":"Hi"}],
//	["f",1],
//	["v","post[0]",50,"draft",1,1,"post","max_length","retry",true,"short"],
//	["turn_started","turn[2]",70,0,null,{"phase":"draft","attempt":1,"turn":2,"x":1}]]

// A shape is the common form of rows of a kind.
type shape struct {
	letter string
	kind   string
	took   bool
	print  bool
	pieces []string // parts of the JSON between the values
	same   []int    // for each value, the index of an equal earlier value, or [fresh], [ownPath] or [whatever]
}

// Kinds of values that do not repeat an earlier one.
const (
	fresh    = -1 // a string, a number or another literal
	ownPath  = -2 // the row's path
	whatever = -3 // any JSON up to the end of the row
)

// shapeOf parses a shape from JSON with placeholders. They are ? for a literal, ?1, ?2
// and ?3 for a repeated value, @ for the row's path, and * for any JSON. A row of
// {"phase":?,"again":?1,"messages":*} has two values, the phase and the value of messages.
func shapeOf(letter, kind string, took, print bool, text string) shape {
	s := shape{letter: letter, kind: kind, took: took, print: print}
	for {
		i := strings.IndexAny(text, "?@*")
		if i < 0 {
			s.pieces = append(s.pieces, text)
			return s
		}
		s.pieces = append(s.pieces, text[:i])
		is := fresh
		switch {
		case text[i] == '@':
			is = ownPath
		case text[i] == '*':
			is = whatever
		case text[i+1] >= '1' && text[i+1] <= '3':
			is = int(text[i+1] - '1')
			i++
		}
		s.same = append(s.same, is)
		text = text[i+1:]
	}
}

const inTurn = `"phase":?,"attempt":?,"turn":?`

var shapes = []shape{
	shapeOf("t", string(event.TurnStarted), false, false, `{`+inTurn+`}`),
	shapeOf("b", string(event.ModelCalled), false, true, // the first turn
		`{`+inTurn+`,"request":{"model":?,"phase":?1,"attempt":?2,"messages":*}}`),
	shapeOf("c", string(event.ModelCalled), false, true,
		`{`+inTurn+`,"request":{"model":?,"phase":?1,"attempt":?2,"turn":?3,"base":?,"base_count":?,"first":?,"before":?,"reply":?,"messages":*}}`),
	shapeOf("m", ModelEffect, true, true, `{"model":?,`+inTurn+`,"response":{"text":?,"model":?,"finish":?,`+usage+`}}`),
	shapeOf("n", ModelEffect, true, true, `{"model":?,`+inTurn+`,"response":*}`),
	shapeOf("k", ModelEffect, true, true, `{"model":?,"phase":?,"attempt":?,"response":*}`), // of the first turn
	shapeOf("r", string(event.ModelReplied), false, false, `{`+inTurn+`,"effect":?}`),
	shapeOf("f", FindingEffect, false, false, `{"finding":{"verdict":{"valid":?,"reason":?}}}`),
	shapeOf("v", string(event.VerdictGiven), false, false,
		`{"verdict":{"path":@,`+inTurn+`,"moment":?,"validator":?,"mode":?,"valid":?,"reason":?,"error":null}}`),
}

const usage = `"usage":{"model_calls":?,"input_tokens":?,"output_tokens":?,"cost_usd":?}`

// mostElements is the maximum number of elements of a row with a shape.
const mostElements = 16

// fold appends the values of a row's JSON to values, if the row has the shape.
func (s *shape) fold(w *Row, path []byte, values [][]byte) (_ [][]byte, ok bool) {
	if w.Kind != s.kind || w.Took != 0 && !s.took && s.kind != FindingEffect || w.Fingerprint != nil && !s.print {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(w.Data, []byte(s.pieces[0]))
	for i := 0; ok && i < len(s.same); i++ {
		var value []byte
		if s.same[i] == whatever {
			value = rest[:max(len(rest)-len(s.pieces[i+1]), 0)]
		} else {
			value = rest[:encodings.TokenEnd(rest)]
		}
		switch is := s.same[i]; is {
		case ownPath:
			ok = bytes.Equal(value, path)
		case fresh, whatever:
			values = append(values, value)
			ok = len(value) > 0 && encodings.ValueEnd(value) == len(value)
		default:
			ok = bytes.Equal(value, values[is])
		}
		rest = rest[len(value):]
		if ok {
			rest, ok = bytes.CutPrefix(rest, []byte(s.pieces[i+1]))
		}
	}
	return values, ok && len(rest) == 0
}

// fits reports whether the number of values is right for the shape.
func (s *shape) fits(values [][]byte) bool {
	n := 0
	for _, is := range s.same {
		if is == fresh || is == whatever {
			n++
		}
	}
	return n == len(values)
}

// unfold returns the JSON of a row of the shape with these values.
func (s *shape) unfold(values [][]byte, path string) []byte {
	data := []byte(s.pieces[0])
	used := 0
	for i, is := range s.same {
		switch {
		case is == ownPath:
			data = jsonvalue.AppendText(data, path)
		case is >= 0:
			data = append(data, values[is]...)
		default:
			data = append(data, values[used]...)
			used++
		}
		data = append(data, s.pieces[i+1]...)
	}
	return data
}

// shapeBy returns the shape with a letter, or nil.
func shapeBy(letter string) *shape {
	i := slices.IndexFunc(shapes, func(s shape) bool { return s.letter == letter })
	if i < 0 {
		return nil
	}
	return &shapes[i]
}
