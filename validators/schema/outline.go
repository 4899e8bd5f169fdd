package schema

import (
	"errors"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// A span is a part of a text: byte offsets.
type span struct{ start, end int }

// A candidate is a JSON object or array in a text, or what begins like one.
type candidate struct {
	span        // end is where the text stops being JSON if it is broken
	value any   // of a whole one
	err   error // why it is not JSON
}

// Finds are the candidates of one type, objects or arrays. Equal values count once.
type finds struct {
	values             []candidate // at most maxFinds
	broken, lastBroken *candidate
}

// maxFinds is the maximum number of different values stored for one type. The error
// for several documents lists their places.
const maxFinds = 8

func (f *finds) add(c candidate) {
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

// A fence is a fenced code block, or a code span of three or more backticks, which
// is how a model writes a fenced block on one line.
type fence struct {
	span // with its marks
	body span
}

// An outline is where JSON may be in a text. Quotations (lines that begin with >),
// inline code and Markdown links are left out.
type outline struct {
	objects, lists finds
	last           *candidate // the last whole one
	fences         []fence
	skipped        bool // a bracket is in a quotation or in inline code
}

// outlineOf reads a text once, from left to right. An error means that the text has
// too many values or that the decoder was stopped.
//
// A broken candidate extends to its closing bracket, so a complete object inside a
// broken one is not a candidate. Without a closing bracket, the candidate ends at the
// syntax error.
func outlineOf(d *jsonvalue.Decoder, text string) (outline, error) {
	o := outliner{Decoder: d, in: text, fresh: true, mark: -1}
	for o.pos < len(o.in) {
		if o.fresh {
			o.fresh = false
			if o.line() {
				continue
			}
		}
		next := strings.IndexAny(o.in[o.pos:], "\n`{[")
		if next < 0 {
			break
		}
		o.pos += next
		switch o.in[o.pos] {
		case '\n':
			o.pos++
			o.fresh = true
		case '`':
			o.code()
		default:
			if err := o.bracket(); err != nil {
				return o.outline, err
			}
		}
	}
	if o.mark >= 0 { // nobody closed the fence
		o.close(len(o.in), len(o.in))
	}
	return o.outline, nil
}

type outliner struct {
	*jsonvalue.Decoder
	outline
	in    string
	pos   int
	fresh bool // pos is where a line begins

	mark  int // where the open fence's marks begin; -1 outside a fence
	sign  string
	body  int
	until int         // the end of the paragraph that runs belongs to
	runs  map[int]int // where the last run of backticks of each length begins

	starts, ends []uint32 // of all pairs of brackets, once a candidate has broken
}

// line handles a line that is the border of a fence or a quotation, and reports
// whether it is one.
func (o *outliner) line() bool {
	end := o.lineEnd(o.pos)
	text := strings.TrimSpace(o.in[o.pos:end])
	sign := fenceSign(text)
	switch {
	case o.mark >= 0:
		if len(sign) < len(o.sign) || sign[0] != o.sign[0] || sign != text {
			return false
		}
		o.close(o.pos, end)
	case sign != "":
		o.mark, o.sign, o.body = o.pos, sign, min(end+1, len(o.in))
	case strings.HasPrefix(text, ">"):
		o.skipped = o.skipped || strings.ContainsAny(text, "{[")
	default:
		return false
	}
	o.pos, o.fresh = min(end+1, len(o.in)), true
	return true
}

func (o *outliner) lineEnd(at int) int {
	if n := strings.IndexByte(o.in[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(o.in)
}

func (o *outliner) close(body, end int) {
	o.fences = append(o.fences, fence{span{o.mark, end}, span{o.body, max(o.body, body)}})
	o.mark = -1
}

// fenceSign is the run of marks that opens or closes a fence at the beginning of
// a line; "" if there is none.
func fenceSign(line string) string {
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return ""
	}
	rest := strings.TrimLeft(line, line[:1])
	if line[0] == '`' && strings.Contains(rest, "`") {
		return ""
	}
	return line[:len(line)-len(rest)]
}

// code skips a code span. A run of backticks that nothing closes in its paragraph
// is text.
func (o *outliner) code() {
	start, n := o.pos, backticks(o.in[o.pos:])
	o.pos += n
	if o.mark >= 0 {
		return
	}
	if o.pos > o.until {
		o.paragraph(start)
	}
	if o.runs[n] <= start {
		return
	}
	body := span{start: o.pos}
	for {
		o.pos += strings.IndexByte(o.in[o.pos:], '`')
		size := backticks(o.in[o.pos:])
		body.end, o.pos = o.pos, o.pos+size
		if size == n {
			break
		}
	}
	inside := o.in[body.start:body.end]
	if n >= len("```") {
		body.start += len(inside) - len(strings.TrimLeft(inside, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))
		o.fences = append(o.fences, fence{span{start, o.pos}, body})
		return
	}
	o.skipped = o.skipped || strings.ContainsAny(inside, "{[")
}

// backticks is the length of the run of backticks that a text begins with.
func backticks(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// paragraph notes the runs of backticks between a place and the end of its paragraph.
func (o *outliner) paragraph(start int) {
	o.runs, o.until = map[int]int{}, start
	for at := start; at < len(o.in); {
		end := o.lineEnd(at)
		line := o.in[at:end]
		if text := strings.TrimSpace(line); at > start && (text == "" || text[0] == '>' || fenceSign(text) != "") {
			break
		}
		for i := strings.IndexByte(line, '`'); i >= 0 && i < len(line); {
			n := backticks(line[i:])
			o.runs[n] = at + i
			next := strings.IndexByte(line[i+n:], '`')
			if next < 0 {
				break
			}
			i += n + next
		}
		o.until = end
		at = end + 1
	}
}

// bracket reads what an opening bracket begins.
func (o *outliner) bracket() error {
	start := o.pos
	o.pos++
	rest := strings.TrimLeft(o.in[o.pos:min(o.pos+1+maxBlanks, len(o.in))], " \t\r\n")
	blank := o.pos < len(o.in) && strings.IndexByte(" \t\r\n", o.in[o.pos]) >= 0
	list := o.in[start] == '['
	switch {
	case rest == "", list && rest[0] == ']' && blank, // "[ ]" opens a task of a Markdown list
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
	case !list || strings.IndexByte("tfn", rest[0]) < 0: // else it is a word in brackets
		found.add(candidate{span{start, end}, nil, err})
		end = max(end, o.closing(start))
	}
	o.pos = max(end, o.pos)
	if line := strings.LastIndexByte(o.in[start:o.pos], '\n'); line >= 0 && strings.TrimLeft(o.in[start+line+1:o.pos], " \t\r") == "" {
		o.pos, o.fresh = start+line+1, true
	}
	return nil
}

// closing returns the offset after the bracket that closes the one at start, 0 if there
// is none. It also counts brackets in strings.
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
		case len(open) > 0 && o.in[o.starts[open[len(open)-1]]] == c-2: // the opening one, two before it in ASCII
			o.ends[open[len(open)-1]] = uint32(at + 1)
			open = open[:len(open)-1]
		}
	}
}

// maxBlanks is how far the first value may be from its bracket, in bytes.
const maxBlanks = 1 << 10

// link reports whether a list in a text is a part of a Markdown link: [1](to),
// [text][1], or [1]: at the beginning of a line.
func (o *outliner) link(start, end int) bool {
	after := ""
	if end < len(o.in) {
		after = o.in[end : end+1]
	}
	before := strings.TrimRight(o.in[max(0, start-maxBlanks):start], " \t")
	return after == "(" || after == "[" || start > 0 && o.in[start-1] == ']' ||
		after == ":" && (before == "" || before[len(before)-1] == '\n')
}
