package capy

import (
	"bytes"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// maxBody is how much of an entry's body is looked at.
const maxBody = 1 << 14

// content says whether there is something under a heading: a line that is no
// heading, no placeholder and no word of where else it is, and not only
// templates.
func content(body []byte) bool {
	body = body[:min(len(body), maxBody)]
	lines, last := told(body)
	if lines == 0 || lines == 1 && len(last) < 200 && (disclaimers.Has(last) || elsewhere.Has(last) || borrowed.Has(last) && !telling(last) || excuses.Has(last) && !figures(last) || bytes.Contains(last, []byte(".json"))) {
		return false
	}
	return !template(body) && !hollow(body)
}

// hollow says that a body has names and nothing for them: {"nodes": null}.
func hollow(body []byte) bool {
	for line := range bytes.Lines(body) {
		if t := bytes.TrimSpace(line); len(t) == 0 || t[0] == '#' && !valueIn(t) || fenced(t) {
			continue
		}
		for i := 0; i < len(line); i++ {
			switch c := line[i]; {
			case c == '"':
				n := bytes.IndexByte(line[i+1:], '"')
				if n < 0 || said(line[i+1:i+1+n], line[i+n+2:]) {
					return false
				}
				i += n + 1
			case bytes.HasPrefix(line[i:], []byte("null")):
				i += len("null") - 1
			case word(c) || c >= 0x80:
				return false
			}
		}
	}
	return true
}

// told counts the lines that say something, up to a few, and gives the last of
// them where it is no block's. Behind one that says that there is nothing only
// blocks do, up to the next heading: what else stands there says why, or is
// about something else. Names with placeholders are nothing, nor is what leads them in;
// a heading is something where it gives a number.
func told(body []byte) (lines int, last []byte) {
	refused, fence, void := false, false, false
	spaced := false // between rulers of =, whose rows have no bars
	name := false   // the last line that says something may be the name of what is to come
	var table grid
	var owed, marks int // lines that have a placeholder for what they would say, and that only mark off
	var mark []byte
	for line := range bytes.Lines(barred(body)) {
		row := bytes.IndexByte(line, '|') >= 0 || (fence || spaced) && parted(line)
		t := unboxed(bytes.Trim(line, " \t\r\n*_-|:>+="))
		switch {
		case len(t) == 0 || t[0] == 0xE2 && drawn(t):
			if table.rule(line) {
				lines-- // the head of a table is none of its rows
			}
			spaced = bytes.Contains(line, []byte("= "))
		case fenced(t):
			fence = !fence
		case t[0] == '#' && !valueIn(t):
			refused = false
		case row && !table.says(line) || !row && (!fence || bytes.IndexByte([]byte(`"{[`), t[0]) < 0) && owing(line):
			owed++
		case !row && !fence && marking(line):
			marks, mark = marks+1, t
		case unmade(t) && (!isItem(line) || reading.CountWords(t) < fewWords):
			if name {
				lines, owed, name = lines-1, owed+1, false
			}
			refused = refused || lines == 0 && refuses(t) && reading.CountWords(t) <= fewWords+1
			void = true
		case !refused || fence || row || t[0] == '{' || t[0] == '[':
			if lines, last = lines+1, t; fence || row {
				last = nil // a word in a block says nothing of the block
			}
			name = last != nil && nameAlone(last)
			if lines > 2 {
				return lines, last
			}
		}
	}
	switch {
	case lines > 0:
		return lines + owed + marks, last // beside what is said they are a part of it
	case owed > 0 || void:
		return 0, nil
	}
	return marks, mark
}

// unboxed is what stands behind the box of a task: [ ] TODO.
func unboxed(t []byte) []byte {
	if len(t) > 3 && t[0] == '[' && t[2] == ']' {
		return bytes.TrimLeft(t[3:], " ")
	}
	return t
}

// marking says that a line is only a name for what is behind it, or marks off: a callout, a
// footnote, a tag that closes, the end.
func marking(line []byte) bool {
	line = bytes.TrimSpace(bytes.TrimLeft(line, " \t>"))
	if bytes.HasPrefix(line, []byte("[!")) || bytes.HasPrefix(line, []byte("[^")) || bytes.HasPrefix(line, []byte("</")) {
		return true
	}
	bare := bytes.TrimRight(line, "*_ ")
	return len(bare) > 0 && bare[len(bare)-1] == ':' || len(line) > 0 && bytes.IndexByte([]byte("*_[=-"), line[0]) >= 0 && marker(line)
}

// owing says that a line is a name and a placeholder for what it has.
func owing(line []byte) bool {
	line = bytes.TrimSpace(unboxed(bytes.TrimLeft(line, " \t>*_-+:")))
	if i := bytes.IndexByte(line, '.'); i > 0 && ordinal(line[:i]) {
		line = line[i+1:]
	}
	if i := bytes.IndexByte(line, ':'); i >= 0 && blank(line[i+1:]) {
		return true
	}
	value, linked := reading.Said(line)
	return linked && reading.Placeholder(value) && blank(value)
}

// nameAlone says that a line may be no more than a name: a few words, no number and no
// sentence.
func nameAlone(t []byte) bool {
	return reading.CountWords(t) <= fewWords && !hasNumber(t) && bytes.IndexByte([]byte(".!?;,"), t[len(t)-1]) < 0
}

// valueIn says that a heading gives a number for what it names.
func valueIn(heading []byte) bool {
	value, linked := reading.Said(heading)
	return linked && hasNumber(value) && !blank(value)
}

// blank says that a text of a few words, or in brackets, stands for a value that is not
// there, and has none itself. None is how many there are of something.
func blank(t []byte) bool {
	t = trimmed(t)
	return unmade(t) && (reading.CountWords(t) <= fewWords+1 || t[0] == '[' || t[0] == '<' || t[0] == '{') && !hasNumber(t) && !none.Has(t)
}

var none = reading.NewPhrases("none")

// isItem says that a line is a list's: what one item is missing is what it says.
func isItem(line []byte) bool {
	t := bytes.TrimLeft(line, " \t>")
	return len(t) > 1 && (t[0] == '-' || t[0] == '*' || t[0] == '+') && t[1] == ' '
}

func fenced(t []byte) bool {
	return bytes.HasPrefix(t, []byte("```")) || bytes.HasPrefix(t, []byte("~~~"))
}

// unmade says that a text stands for something that is not there: a
// placeholder, or words that say that it was not made or is elsewhere.
func unmade(t []byte) bool {
	return reading.Placeholder(t) || refuses(t) || elsewhere.Begin(t) > 0
}

// refuses says that a text says that something was not made: "not run",
// "omitted for brevity", "failed (kernel error)", but not "Failed routes".
func refuses(t []byte) bool {
	if refusals.Begin(t) > 0 {
		return true
	}
	n := failures.Begin(t)
	if n == 0 {
		return false
	}
	rest := bytes.TrimLeft(t[n:], " *_")
	return len(rest) == 0 || bytes.IndexByte([]byte(".,;()[]{}\""), rest[0]) >= 0 || because.Begin(rest) > 0
}

// refusals are how a text begins that says so, whatever follows; failures are
// words that do by themselves, or with a reason behind them.
var (
	refusals = reading.NewPhrases("not run", "not made", "not done", "not performed", "not executed", "not produced", "not enumerated", "not derived", "not computed", "not calculated", "not generated",
		"not available", "not provided", "could not be", "cannot be computed", "unable to", "kernel error", "kernel failed", "kernel failure", "to follow", "to come", "coming soon")
	failures = reading.NewPhrases("failed", "failure", "skipped", "omitted", "incomplete", "deferred", "error", "missing", "absent", "not included")
	because  = reading.NewPhrases("for", "by", "due", "because", "to", "as", "in t1", "in t2", "in t3", "in this turn", "here")
)

// elsewhere are words of where else something is: in a file, or in the output
// of another turn, which is not this one's.
var elsewhere = reading.NewPhrases("in another file", "separate file", "see file", "see attached", "attached separately", "in the file", "provided separately", "see t1", "see t2", "see t3", "see turn", "see refine",
	"see base t1", "see base t2", "see base refine", "see enrich t1", "see enrich t2", "see scenario t1", "see scenario t2", "see int t1", "see int t2", "see int t3", "see irr t1", "see irr t2", "see the output of", "see kernel", "see the kernel", "see log", "see the log", "see prior output", "see previous output")

// said says that a string of JSON is a value that stands for no other, or the name of a
// list or object that is known to be empty. An artifact that is empty is nothing.
func said(s, rest []byte) bool {
	value, named := bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte{':'})
	value = bytes.TrimLeft(value, " ")
	if !named {
		return !unmade(s)
	}
	return reading.KeyArtifact(s) == 0 && (bytes.HasPrefix(value, []byte("[]")) || bytes.HasPrefix(value, []byte("{}")))
}

// borrowed are words that say, where there are no others, that something is what
// another text has, or could not be.
var borrowed = reading.NewPhrases("unchanged", "no change", "no changes", "not changed", "same as", "identical to", "as before", "as above", "see above", "see below", "as in t1", "as in t2", "as in base", "as in enrich", "as in scenario", "as in int", "as in turn",
	"as in refine", "as in the prior", "as in the previous", "refer to", "carried over", "carried forward", "attached", "next message", "next response", "next turn", "cannot produce", "cannot generate", "cannot provide", "unable to", "not possible",
	"as listed in", "as given in", "as stated in", "as shown in", "as documented in", "as described in", "as previously", "previously delivered", "previously provided")

// excuses are sentences that say so, with their reason behind them.
var excuses = reading.NewPhrases("not completed", "not able to", "not complete", "will follow", "on request", "do not have", "don't have", "i'm sorry", "i apologize", "insufficient data", "insufficient information", "not enough data", "not enough information", "for brevity", "length constraints")

// telling says that a line gives figures, or says several things.
func telling(t []byte) bool {
	return bytes.IndexByte(t, ';') >= 0 || bytes.Count(t, []byte{','}) > 1 || figures(t)
}

// figures says that a line gives some, of 0.034, 12% or €820m, and not of A.3 or State 3.
func figures(t []byte) bool {
	for i := 1; i < len(t); i++ {
		if t[i-1] >= '0' && t[i-1] <= '9' && (t[i] == '%' || t[i] == '.' && i+1 < len(t) && t[i+1] >= '0' && t[i+1] <= '9') || reading.Priced(t[i:]) {
			return true
		}
	}
	return false
}

// uncommented is a body, as far as it is looked at, without its HTML comments;
// one that never ends is none.
func uncommented(t []byte) []byte {
	t = t[:min(len(t), maxBody)]
	if !bytes.Contains(t, []byte("<!--")) {
		return t
	}
	var seen []byte
	for {
		from := bytes.Index(t, []byte("<!--"))
		to := bytes.Index(t[max(from, 0):], []byte("-->"))
		if from < 0 || to < 0 {
			return append(seen, t...)
		}
		seen, t = append(seen, t[:from]...), t[from+to+len("-->"):]
	}
}

// How many of a block's values, one in so many, make it a template.
const (
	templateShare = 2
	templateLeast = 3
)

// template says whether JSON is one that is to be filled in: most of its values
// are placeholders or names of types.
func template(t []byte) bool {
	t = t[:min(len(t), maxBody)]
	pairs, blanks := 0, 0
	for {
		i := bytes.IndexByte(t, ':')
		if i < 0 {
			break
		}
		named := i > 0 && t[i-1] == '"'
		key := t[max(0, i-maxNameKey-2):max(0, i-1)]
		key = key[bytes.LastIndexByte(key, '"')+1:]
		for t = t[i+1:]; named && len(t) > 0 && (t[0] == ' ' || t[0] == '\t'); t = t[1:] {
		}
		if !named || len(t) == 0 || t[0] == '{' || t[0] == '[' && !bytes.HasPrefix(t, []byte("[...")) {
			continue
		}
		pairs++
		v, gaps := valueOf(t)
		if len(v) > 0 && digit(v[0]) && v[0] != '0' && !gaps {
			continue // a number, most often
		}
		quoted := bytes.HasPrefix(v, []byte{'"'})
		switch v = bytes.Trim(v, " \t\r\"]"); {
		case gaps || blankValue(v):
			blanks++
		case quoted && nameKeys[string(key)]:
			pairs-- // the name of what the others are of
		}
	}
	return blanks >= templateLeast && blanks*templateShare > pairs
}

// nameKeys are keys of the name of a thing.
var nameKeys = reading.Set("name", "metric", "label", "node", "driver", "parameter", "variable", "field", "id", "unit", "source")

// maxNameKey is how long these are at most.
const maxNameKey = len("parameter")

// valueOf is the value of JSON that a text begins with, as far as a line shows it, and
// whether it has gaps to be filled in, or is several to choose from.
func valueOf(t []byte) (v []byte, gaps bool) {
	for i, c := range t[:min(len(t), 200)] {
		if !endsValue[c] {
			continue
		}
		if c == ',' || c == '\n' || c == '}' {
			return t[:i], gaps
		}
		gaps = gaps || c == '|' || bytes.HasPrefix(t[i:], []byte("XX")) || bytes.HasPrefix(t[i:], []byte("X.X")) || bytes.HasPrefix(t[i:], []byte("..."))
	}
	return t[:min(len(t), 200)], gaps
}

// endsValue are the bytes that end a value, or may show that it has gaps.
var endsValue = [256]bool{',': true, '\n': true, '}': true, '|': true, 'X': true, '.': true}

// blankValue says that a value stands for one: <float>, string.
func blankValue(v []byte) bool {
	if len(v) == 0 {
		return false
	}
	if len(v) > maxType {
		return reading.Placeholder(v) || v[0] == '<' || v[0] == '{'
	}
	var room [maxType]byte
	lower := room[:copy(room[:], v)]
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] |= 0x20
		}
	}
	switch string(lower) {
	case "string", "float", "number", "integer", "int", "boolean", "bool", "array", "object", "date", "decimal", "value", "text", "yyyy-mm-dd", "str", "0.xx", "iso-8601":
		return true
	case "null":
		return false
	}
	return reading.Placeholder(v) || v[0] == '<' || v[0] == '{'
}

// maxType is how long the name of a type is at most.
const maxType = 10
