package reading

import (
	"fmt"
	"strings"
)

// The parser is quadratic in the links and definitions of a paragraph and in
// the depth of a line, fills the rows of a table up to its width, and takes
// some hundred bytes for each byte of hostile text.
const (
	maxText   = 1 << 20
	maxTangle = 1_000_000_000 // a unit can take the parser two nanoseconds
	cellWork  = 1000          // of a cell of a table that is filled up
)

// Tangled says where, as "line 3", and why a Markdown text would take too long
// to parse; why is empty for one that would not. It looks at runs of lines
// without an empty one between, which no paragraph goes beyond: their length
// times what begins or ends links in them, and as a table their lines times its
// width; and at each line: its length times the containers it opens. A text of
// more than 1 MiB is not read.
func Tangled(source string) (line, why string) {
	if len(source) > maxText {
		return "", fmt.Sprintf("the text has %d bytes, more than %d, and is not read", len(source), maxText)
	}
	work := 0
	var lines run
	at := 0
	for one := range strings.Lines(source) {
		if strings.TrimSpace(one) == "" {
			work += lines.work()
			lines = run{}
		}
		work += 4 * len(one) * opened(one)
		lines.take(one)
		at += len(one)
		if work+lines.work() > maxTangle {
			return fmt.Sprintf("line %d", strings.Count(source[:at-len(one)], "\n")+1), "the links, quotes, lists or tables nest too deeply here to be read"
		}
	}
	return "", ""
}

// A run is lines without an empty one between.
type run struct{ length, links, lines, width int }

func (r *run) take(line string) {
	r.length += len(line)
	r.links += strings.Count(line, "](") + strings.Count(line, "]:") + 2*strings.Count(line, "[[")
	r.lines++
	if strings.Trim(line, " \t\r\n|:->") == "" {
		r.width = max(r.width, strings.Count(line, "|")+1)
	}
}

func (r run) work() int {
	table := 0
	if r.width > 1 {
		table = r.width * r.lines * cellWork
	}
	return r.length*r.links + table
}

// opened is how many block quotes and list items a line may open.
func opened(line string) int {
	n := 0
	for i := 0; i < len(line) && strings.IndexByte(" \t>*+-.)0123456789", line[i]) >= 0; i++ {
		quote := line[i] == '>'
		item := i > 0 && (line[i] == ' ' || line[i] == '\t') && strings.IndexByte("*+-.)", line[i-1]) >= 0
		if quote || item {
			n++
		}
	}
	return n
}
