package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Extract takes the JSON value out of a model's reply (LANGUAGE §7). The whole
// text is tried first; else every fenced block and every balanced object or
// array in the prose, <think> blocks left out. The last candidate that the
// schema accepts wins; if none does, the last that parses is returned with its
// violations. A nil schema accepts everything but keys that stand twice, which
// are violations under any schema. An error means that there is no JSON in the
// text at all, or that there is no telling, [ErrUntold]: as of [Schema.Check],
// with one bound for all candidates together. Reading is linear in the text.
func Extract(stop Stop, text string, s *Schema) (any, []Violation, error) {
	w := newWork(stop)
	if v, broken, err := readPiece(strings.Trim(text, " \t\r\n")); err == nil {
		more, err := s.check(w, v)
		if err != nil {
			return nil, nil, err
		}
		broken = append(broken, more...)
		return v, broken[:min(len(broken), maxViolations)], nil
	}
	found, _ := pieces(text)
	var last any
	var lastBroken []Violation
	parsed, deep := false, false
	for i := len(found) - 1; i >= 0; i-- {
		if found[i].thought {
			continue
		}
		v, broken, err := readPiece(text[found[i].start:found[i].end])
		if err != nil {
			deep = deep || errors.Is(err, errNested)
			continue
		}
		more, err := s.check(w, v)
		if err != nil {
			return nil, nil, err
		}
		if broken = append(broken, more...); len(broken) == 0 {
			return v, nil, nil
		}
		if !parsed {
			last, lastBroken, parsed = v, broken[:min(len(broken), maxViolations)], true
		}
	}
	switch {
	case parsed:
		return last, lastBroken, nil
	case deep:
		return nil, nil, errNested
	}
	return nil, nil, noJSON(text)
}

func readPiece(piece string) (value any, twice []Violation, err error) {
	if !utf8.ValidString(piece) {
		return nil, nil, errNoDocument
	}
	return read(piece)
}

// noJSON says why nothing was found: the first thing that looked like JSON and
// broke is what the author of the text wants to hear of.
func noJSON(text string) error {
	aloud, _ := thoughts(text, nil)
	prose := blanked(text, aloud)
	start := strings.IndexAny(prose, "{[")
	if start < 0 {
		return errors.New("there is no JSON in the text")
	}
	var v any
	err := json.NewDecoder(strings.NewReader(prose[start:])).Decode(&v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return errors.New("there is no complete JSON in the text: it ends inside an object or array")
	}
	// prose keeps the length of text, so offsets agree.
	line, column := position([]byte(text), start+int(syntax.Offset)-1)
	return fmt.Errorf("there is no valid JSON in the text: line %d, column %d: %w", line, column, syntax)
}

// A piece is a part of a text that may be JSON.
type piece struct {
	start, end int
	thought    bool // a model thought it aloud
}

// pieces lists what may be JSON in a text, in the order in which it ends: the
// whole, where it is; else objects and arrays wherever they stand, and what a
// fence holds, which matters only for a bare string, number or word. The
// thoughts that the text begins with end at opening.
func pieces(text string) (found []piece, opening int) {
	whole := piece{start: spaceAt(text, 0), end: len(strings.TrimRight(text, " \t\r\n"))}
	if whole.start < whole.end && strings.IndexByte("{[", text[whole.start]) < 0 {
		if _, _, err := read(text[whole.start:whole.end]); err == nil {
			return []piece{whole}, 0
		}
	}
	groups := balanced(text)
	if len(groups) == 1 && groups[0] == whole {
		return groups, 0
	}
	aloud, opening := thoughts(text, groups)
	found = withFences(blanked(text, aloud), groups)
	at := 0
	for i := range found {
		for at < len(aloud) && aloud[at].end <= found[i].start {
			at++
		}
		found[i].thought = at < len(aloud) && aloud[at].start <= found[i].start
	}
	return found, opening
}

// balanced lists the objects and arrays of a text, the largest that are whole.
func balanced(text string) []piece {
	var found []piece
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], "{[")
		if next < 0 {
			break
		}
		start := i + next
		done, end := scan(text, start)
		for _, d := range done {
			found = append(found, piece{start: d[0], end: d[1]})
		}
		i = max(end, start+1)
	}
	return found
}

// withFences adds what fences hold and groups are not, where the fence ends, so that
// of {"x":1}, a fence with 7 and [2] behind it the fence's 7 is the second. Of a fence
// with an object the group is that.
func withFences(text string, groups []piece) []piece {
	var found []piece
	at, open := 0, -1
	for line := 0; line < len(text); {
		end := line + strings.IndexByte(text[line:], '\n')
		if end < line {
			end = len(text)
		}
		is, bare := fence(text[line:end])
		switch {
		case is && open < 0:
			open = end
		case bare:
			for at < len(groups) && groups[at].end <= line {
				found, at = append(found, groups[at]), at+1
			}
			start := min(spaceAt(text, open), line)
			body := strings.TrimRight(text[start:line], " \t\r\n")
			if body != "" && body[0] != '{' && body[0] != '[' {
				found = append(found, piece{start: start, end: start + len(body)})
			}
			open = -1
		}
		line = end + 1
	}
	return append(found, groups[at:]...)
}

// fence tells whether a line opens a fence, and whether it could close one:
// nothing stands behind its marks.
func fence(line string) (is, bare bool) {
	line = strings.TrimLeft(line, " \t")
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return false, false
	}
	rest := strings.TrimLeft(line, line[:1])
	return !strings.Contains(rest, "`"), strings.TrimSpace(rest) == ""
}

// What a model thinks aloud stands between these, with > or ing> behind them.
const thinks, thought = "<think", "</think"

// tagged is the end of a tag that a text has at i; 0 for none.
func tagged(text string, i int, tag string) int {
	rest, is := strings.CutPrefix(text[i:], tag)
	if rest = strings.TrimPrefix(rest, "ing"); !is || !strings.HasPrefix(rest, ">") {
		return 0
	}
	return len(text) - len(rest) + 1
}

// thoughts lists what a reasoning model thought aloud, in order, and the end of
// what the text begins with of it. A tag inside one of the groups, which are
// JSON, is a part of what it says. Some chat templates drop the opening tag: then
// all before the last closing one was thought. What begins with a thought that
// nobody ends was cut off in it.
//
//	<think>{"v":1}</think>{"v":2}   {"v":1} is, and the text begins with it
//	{"v":1} hm</think>{"v":2}       {"v":1} is
//	<think>{"v":1} hm               {"v":1} is
//	{"v":"</think>"}                none
func thoughts(text string, groups []piece) (found []piece, opening int) {
	open, first := -1, spaceAt(text, 0)
	if !strings.Contains(text, thought) && tagged(text, first, thinks) == 0 {
		return nil, 0
	}
	for i, at := 0, 0; ; i++ {
		next := strings.IndexByte(text[i:], '<')
		switch {
		case next < 0 && open == first && opening == 0:
			return append(found, piece{start: open, end: len(text)}), len(text)
		case next < 0:
			return found, opening
		}
		i += next
		for at < len(groups) && groups[at].end <= i {
			at++
		}
		switch {
		case at < len(groups) && groups[at].start < i:
			i = groups[at].end - 1
		case open < 0 && tagged(text, i, thinks) > 0:
			open = i
		case tagged(text, i, thought) > 0:
			end := tagged(text, i, thought)
			if open == first && opening == 0 {
				opening = end
			}
			if open < 0 {
				found, open = nil, 0
			}
			found, open = append(found, piece{start: open, end: end}), -1
		}
	}
}

// blanked is the text with pieces of it blanked out, of the same length.
func blanked(text string, pieces []piece) string {
	if len(pieces) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, p := range pieces {
		b.WriteString(text[at:p.start])
		b.WriteString(strings.Repeat(" ", p.end-p.start))
		at = p.end
	}
	b.WriteString(text[at:])
	return b.String()
}
