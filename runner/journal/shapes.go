package journal

import (
	"bytes"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
)

// Most rows are of a few shapes: the same JSON but for some values. Of such a row
// a pack has a letter and the values; what they stand in is here. A row of no
// shape has its kind's own word, and its JSON as it is. Either gives back the
// same bytes that were written, so that nothing else knows of shapes, but the
// view entry in views.sql: a new shape stands there too, where a view shows its
// kind.
//
// A row is a list: letter, path, nanoseconds since the pack's time; then how long
// it took and its print, where its shape has them; then the values. One without
// a shape has its kind, path, time, how long, print and JSON. A finding that the
// verdict some rows behind it says too has its letter, and how many rows. With the
// path draft/attempt[1]/ for the pack, a model's effect, a finding, its verdict and
// a row of no shape are
//
//	[["k","turn[1]",0,900,"AQID","m","draft",1,{"text":"Hi"}],
//	["f",1],
//	["v","post[0]",50,"draft",1,1,"post","max_length","retry",true,"short"],
//	["turn_started","turn[2]",70,0,null,{"phase":"draft","attempt":1,"turn":2,"x":1}]]

// A shape is what rows of a kind have in common.
type shape struct {
	letter string
	kind   string
	took   bool
	print  bool
	pieces []string // of the JSON, between which the values stand
	same   []int    // of each value, the earlier one that it is, or [fresh], [ownPath] or [whatever]
}

// What a value may be beside an earlier one.
const (
	fresh    = -1 // a string, number or other word
	ownPath  = -2 // the row's path
	whatever = -3 // all up to the end of the row
)

// shapeOf reads a shape from the JSON with a sign at each value: ? a word, ?1 to
// ?3 what the first to third are, @ the row's path, * whatever is there. A row of
// {"phase":?,"again":?1,"said":*} has two values, the phase and what is said.
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
		`{`+inTurn+`,"request":{"model":?,"phase":?1,"attempt":?2,"said":*}}`),
	shapeOf("c", string(event.ModelCalled), false, true,
		`{`+inTurn+`,"request":{"model":?,"phase":?1,"attempt":?2,"turn":?3,"on":?,"keep":?,"first":?,"before":?,"reply":?,"said":*}}`),
	shapeOf("m", modelEffect, true, true, `{"model":?,`+inTurn+`,"response":{"text":?,"model":?,"finish":?,`+usage+`}}`),
	shapeOf("n", modelEffect, true, true, `{"model":?,`+inTurn+`,"response":*}`),
	shapeOf("k", modelEffect, true, true, `{"model":?,"phase":?,"attempt":?,"response":*}`), // of the first turn
	shapeOf("r", string(event.ModelReplied), false, false, `{`+inTurn+`,"effect":?}`),
	shapeOf("f", findingEffect, false, false, `{"finding":{"verdict":{"valid":?,"reason":?}}}`),
	shapeOf("v", string(event.VerdictGiven), false, false,
		`{"verdict":{"path":@,`+inTurn+`,"moment":?,"validator":?,"mode":?,"valid":?,"reason":?,"error":null}}`),
}

const usage = `"usage":{"model_calls":?,"input_tokens":?,"output_tokens":?,"cost_usd":?}`

// mostElements is as many as a row of any shape has.
const mostElements = 16

// fold takes the values out of a row's JSON, where it has the shape, and puts
// them behind those of values.
func (s *shape) fold(w *row, path []byte, values [][]byte) (_ [][]byte, ok bool) {
	if w.kind != s.kind || w.took != 0 && !s.took && s.kind != findingEffect || w.print != nil && !s.print {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(w.data, []byte(s.pieces[0]))
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

// fits tells whether there are as many values as the shape has places for.
func (s *shape) fits(values [][]byte) bool {
	n := 0
	for _, is := range s.same {
		if is == fresh || is == whatever {
			n++
		}
	}
	return n == len(values)
}

// unfold is the JSON of a row of the shape with values that fit it.
func (s *shape) unfold(values [][]byte, path string) []byte {
	data := []byte(s.pieces[0])
	used := 0
	for i, is := range s.same {
		switch {
		case is == ownPath:
			data = model.AppendText(data, path)
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

// shapeBy is the shape of a letter.
func shapeBy(letter string) *shape {
	i := slices.IndexFunc(shapes, func(s shape) bool { return s.letter == letter })
	if i < 0 {
		return nil
	}
	return &shapes[i]
}
