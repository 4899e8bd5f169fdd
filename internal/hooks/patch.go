package hooks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The marks of a patch of apply_patch.
const (
	patchBegin  = "*** Begin Patch"
	patchEnd    = "*** End Patch"
	patchAdd    = "*** Add File: "
	patchDelete = "*** Delete File: "
	patchUpdate = "*** Update File: "
	patchMove   = "*** Move to: "
	patchEOF    = "*** End of File"
)

// A hunk is a part of a file that a patch changes.
type hunk struct {
	anchors       []string // lines after @@, which come before the part
	before, after []string
}

// patch applies a patch to its files.
func (w *writer) patch(source string) error {
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(source), "\r\n", "\n"), "\n")
	for i := 1; i < len(lines); {
		line := lines[i]
		i++
		var err error
		switch {
		case strings.TrimSpace(line) == patchEnd:
			return nil
		case strings.HasPrefix(line, patchAdd):
			i, err = w.added(strings.TrimPrefix(line, patchAdd), lines, i)
		case strings.HasPrefix(line, patchDelete): // what is gone has no text
			w.touch(strings.TrimPrefix(line, patchDelete))
		case strings.HasPrefix(line, patchUpdate):
			i, err = w.updated(strings.TrimPrefix(line, patchUpdate), lines, i)
		case strings.TrimSpace(line) == "":
		default:
			err = fmt.Errorf("line %d of the patch is %.80q", i, line)
		}
		if err != nil {
			return err
		}
	}
	return errors.New("the patch has no end")
}

func (w *writer) added(file string, lines []string, i int) (int, error) {
	var content strings.Builder
	for ; i < len(lines) && strings.HasPrefix(lines[i], "+"); i++ {
		content.WriteString(lines[i][1:] + "\n")
	}
	w.put(file, content.String(), nil)
	return i, nil
}

func (w *writer) updated(file string, lines []string, i int) (int, error) {
	target := file
	if i < len(lines) && strings.HasPrefix(lines[i], patchMove) {
		target = strings.TrimPrefix(lines[i], patchMove)
		i++
	}
	w.touch(file)
	hunks, i, err := readHunks(lines, i)
	if err != nil {
		return i, err
	}
	content, broken := w.read(file)
	if _, name := w.place(file); w.files[name] != "" { // an earlier part of the patch made it
		content, broken = w.files[name], nil
	}
	if broken == nil {
		content, broken = applied(content, hunks)
	}
	w.put(target, content, broken)
	return i, nil
}

func readHunks(lines []string, i int) (hunks []hunk, end int, err error) {
	h := hunk{}
	flush := func() {
		if len(h.before)+len(h.after) > 0 {
			hunks = append(hunks, h)
			h = hunk{}
		}
	}
	for ; i < len(lines); i++ {
		switch line := lines[i]; {
		case strings.HasPrefix(line, "@@"):
			flush()
			if anchor := strings.TrimSpace(strings.TrimPrefix(line, "@@")); anchor != "" {
				h.anchors = append(h.anchors, anchor)
			}
		case line == patchEOF:
		case strings.HasPrefix(line, "*** "):
			flush()
			return hunks, i, nil
		case line == "":
			h.before, h.after = append(h.before, ""), append(h.after, "")
		case line[0] == ' ':
			h.before, h.after = append(h.before, line[1:]), append(h.after, line[1:])
		case line[0] == '-':
			h.before = append(h.before, line[1:])
		case line[0] == '+':
			h.after = append(h.after, line[1:])
		default:
			return nil, i, fmt.Errorf("line %d of the patch is %.80q", i+1, line)
		}
	}
	return nil, i, errors.New("the patch has no end")
}

// applied returns a content with the hunks applied, in order.
func applied(content string, hunks []hunk) (string, error) {
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(content, "\r\n", "\n"), "\n"), "\n")
	from := 0
	for n, h := range hunks {
		for _, anchor := range h.anchors {
			if at := indexLines(lines, []string{anchor}, from); at >= 0 {
				from = at + 1
			}
		}
		at := len(lines)
		if len(h.before) > 0 {
			if at = indexLines(lines, h.before, from); at < 0 {
				return content, fmt.Errorf("the file does not contain part %d of the patch", n+1)
			}
		}
		lines = slices.Concat(lines[:at], h.after, lines[at+len(h.before):])
		from = at + len(h.after)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// indexLines returns the index of some lines within others, after an index; -1 if they are missing. Like apply_patch, it
// first compares whole lines, then lines without white space at their ends.
func indexLines(lines, part []string, from int) int {
	same := []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) },
	}
	for _, equal := range same {
		for at := from; at+len(part) <= len(lines); at++ {
			if slices.EqualFunc(lines[at:at+len(part)], part, equal) {
				return at
			}
		}
	}
	return -1
}
