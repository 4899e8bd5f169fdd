package builtins

import (
	"strings"

	"github.com/seed61713e19/capstan/runner/reports"
)

// Of a presentable text: what Markdown begins and does not end.

// broken finds what Markdown begins and does not end.
func (d *draft) broken() {
	at, fence, mark := 0, -1, ""
	cells, ruled := 0, false
	for line := range strings.SplitAfterSeq(d.source, "\n") {
		text := strings.TrimSpace(line)
		switch signs := len(text) - len(strings.TrimLeft(text, "`")); {
		case fence >= 0:
			if strings.HasPrefix(text, mark) && strings.Trim(text, "`") == "" {
				fence = -1
			}
		case signs >= 3 && !strings.Contains(text[signs:], "`"):
			fence, mark = at, text[:signs]
		case !strings.HasPrefix(text, "|") || !strings.HasSuffix(text, "|") || strings.Contains(text, `\|`) || strings.Contains(text, "`"):
			cells, ruled = 0, false
		case strings.Trim(text, "|-: ") == "":
			ruled = true
		case cells == 0:
			cells = strings.Count(text, "|")
		case ruled && strings.Count(text, "|") < cells:
			d.tell(at, "the row has %s, and the table %d", reports.Count(strings.Count(text, "|")-1, "cell"), cells-1)
		}
		at += len(line)
	}
	switch whole := strings.TrimSpace(d.source); {
	case fence >= 0:
		d.tell(fence, "the block of code is never closed")
	case (strings.HasPrefix(whole, "```markdown\n") || strings.HasPrefix(whole, "```md\n")) && strings.Index(whole, "\n```") == len(whole)-len("\n```"):
		d.tell(0, "all of the text stands in a block of Markdown")
	}
	d.links()
}

// links finds links without an end or a target.
func (d *draft) links() {
	for _, p := range d.prose {
		text := d.spokenIn(p.Span)
		for at := 0; ; {
			i := strings.Index(text[at:], "](")
			if i < 0 {
				break
			}
			at += i + 2
			end := strings.IndexAny(text[at:], ") \n")
			if end <= 0 || text[at+end] == '\n' || text[at+end] == ' ' && !strings.HasPrefix(text[at+end:], ` _`) {
				d.tell(p.From+at, "a link has no target, or no end")
				break
			}
		}
	}
}
