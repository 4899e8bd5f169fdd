package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/reading"
)

// A span is a part of a text, in byte offsets.
type span struct{ start, end int }

// A candidate is a JSON object or array in a text, or broken JSON that begins
// like one.
type candidate struct {
	span        // end is the place of the syntax error if it is broken
	value any   // nil if it is broken
	err   error // the syntax error of a broken one
}

// candidates are the objects or the arrays of a text. Equal values count once.
type candidates struct {
	values             []candidate // at most maxFinds
	broken, lastBroken *candidate
}

// maxFinds is the maximum number of different values stored for one type. The
// error for several documents lists their places.
const maxFinds = 8

func (f *candidates) add(c candidate) {
	switch {
	case c.err != nil:
		f.lastBroken = &c
		if f.broken == nil {
			f.broken = &c
		}
	case len(f.values) < maxFinds && !(len(f.values) > 0 && equal(f.values[len(f.values)-1].value, c.value)):
		f.values = append(f.values, c)
	}
}

// A fence is a fenced code block, or a code span of three or more backticks.
// Models write such spans as fenced blocks on one line.
type fence struct {
	span // including its markers
	body string
	read *reading.JSON // nil if it has not been parsed
}

// json returns the document in the fence.
func (f fence) json(stop Stop) (any, error) {
	if f.read != nil {
		return f.read.Value, f.read.Err
	}
	return jsonvalue.NewDecoder(stop, []byte(f.body), jsonvalue.MaxValues).Whole()
}

// An outline is the JSON in a text, without quotations, inline code and
// Markdown links.
type outline struct {
	objects, lists candidates
	last           *candidate // the last complete one
	fences         []fence
	skipped        bool // a bracket is in a quotation or in inline code
}

// outline finds the JSON in a text, from left to right. It returns an error if
// the text cannot be read, has too many values, or the decoder was stopped.
//
// A broken candidate extends to its closing bracket, so a complete object
// inside a broken one is not a candidate. Without a closing bracket, the
// candidate ends at the syntax error.
func (r extractor) outline(d *jsonvalue.Decoder, text string) (outline, error) {
	o := outliner{Decoder: d, in: text}
	document, err := r.read(text)
	if err != nil {
		return o.outline, fmt.Errorf("%w: %w", errUnread, err)
	}
	o.regions(document)
	for o.pos < len(o.in) {
		next := strings.IndexAny(o.in[o.pos:], "{[")
		if next < 0 {
			break
		}
		o.pos += next
		for len(o.skip) > 0 && o.skip[0].end <= o.pos {
			o.skip = o.skip[1:]
		}
		if len(o.skip) > 0 && o.skip[0].start <= o.pos {
			o.pos, o.skipped = o.skip[0].end, true
			continue
		}
		if err := o.bracket(); err != nil {
			return o.outline, err
		}
	}
	return o.outline, nil
}

var errUnread = errors.New("the text is not read")

type outliner struct {
	*jsonvalue.Decoder
	outline
	in   string
	pos  int
	skip []span // quotations and inline code, in order

	starts, ends []uint32 // all pairs of brackets, filled at the first broken candidate
}

// regions records the fences, quotations and inline code of a document.
func (o *outliner) regions(d *reading.Document) {
	parsed := map[int]*reading.JSON{}
	for i := range d.JSON {
		if j := &d.JSON[i]; !j.Whole {
			parsed[j.Block] = j
		}
	}
	for i, b := range d.Blocks {
		switch {
		case b.Quoted:
			o.skip = append(o.skip, span{b.Start, b.End})
			continue
		case b.Fenced:
			o.fences = append(o.fences, fence{span{b.Start, b.End}, b.Text, parsed[i]})
		}
		for _, in := range b.Inlines {
			if in.Kind != reading.CodeSpan {
				continue
			}
			if strings.HasPrefix(o.in[in.Start:], "```") {
				body := strings.TrimLeft(in.Raw, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
				o.fences = append(o.fences, fence{span{in.Start, in.End}, body, nil})
				continue
			}
			o.skip = append(o.skip, span{in.Start, in.End})
		}
	}
}

// bracket parses the candidate that starts at an opening bracket.
func (o *outliner) bracket() error {
	start := o.pos
	o.pos++
	rest := strings.TrimLeft(o.in[o.pos:min(o.pos+1+maxBlanks, len(o.in))], " \t\r\n")
	blank := o.pos < len(o.in) && strings.IndexByte(" \t\r\n", o.in[o.pos]) >= 0
	list := o.in[start] == '['
	switch {
	case rest == "", list && rest[0] == ']' && blank, // "[ ]" marks a task in a Markdown list
		!list && strings.IndexByte(`"}`, rest[0]) < 0,
		list && strings.IndexByte(`{["-0123456789tfn]`, rest[0]) < 0:
		return nil
	}
	value, end, err := o.At(start)
	found := &o.objects
	if list {
		found = &o.lists
	}
	switch {
	case err == nil:
		o.pos = end
		if !list || !o.link(start, end) {
			c := candidate{span{start, end}, value, nil}
			found.add(c)
			o.last = &c
		}
		return nil
	case o.Fatal(err), errors.Is(err, jsonvalue.ErrNested):
		return err
	case !list || strings.IndexByte("tfn", rest[0]) < 0: // otherwise it is a word in brackets
		found.add(candidate{span{start, end}, nil, err})
		end = max(end, o.closing(start))
	}
	o.pos = max(end, o.pos)
	return nil
}

// closing returns the offset after the bracket that closes the one at start, or
// 0. It also counts brackets in strings.
func (o *outliner) closing(start int) int {
	if o.starts == nil {
		o.pair()
	}
	if i, ok := slices.BinarySearch(o.starts, uint32(start)); ok {
		return int(o.ends[i])
	}
	return 0
}

func (o *outliner) pair() {
	o.starts = []uint32{}
	var open []int // indexes of starts
	for at := 0; ; at++ {
		next := strings.IndexAny(o.in[at:], "{}[]")
		if next < 0 {
			return
		}
		at += next
		switch c := o.in[at]; {
		case c == '{' || c == '[':
			open = append(open, len(o.starts))
			o.starts, o.ends = append(o.starts, uint32(at)), append(o.ends, 0)
		case len(open) > 0 && o.in[o.starts[open[len(open)-1]]] == c-2: // the opening bracket is two before it in ASCII
			o.ends[open[len(open)-1]] = uint32(at + 1)
			open = open[:len(open)-1]
		}
	}
}

// maxBlanks is the maximum distance between a bracket and its first value, in
// bytes.
const maxBlanks = 1 << 10

// link reports whether a list is part of a Markdown link: [1](to), [text][1],
// or [1]: at the beginning of a line.
func (o *outliner) link(start, end int) bool {
	after := ""
	if end < len(o.in) {
		after = o.in[end : end+1]
	}
	before := strings.TrimRight(o.in[max(0, start-maxBlanks):start], " \t")
	return after == "(" || after == "[" || start > 0 && o.in[start-1] == ']' ||
		after == ":" && (before == "" || before[len(before)-1] == '\n')
}
