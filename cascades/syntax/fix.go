package syntax

import (
	"cmp"
	"slices"
	"strings"
)

// Fixed applies every sure fix to the text of a file. It returns the new text and the number
// of applied fixes.
func (d Diagnostics) Fixed(file string, text []byte) ([]byte, int) {
	var fixes []Fix
	for _, one := range d {
		if one.Fix != nil && one.Fix.Sure && one.Fix.File == file {
			fixes = append(fixes, *one.Fix)
		}
	}
	slices.SortFunc(fixes, func(a, b Fix) int {
		return -cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	mark := text[:len(text)-len(Unmarked(text))]
	lines := strings.Split(string(text[len(mark):]), "\n")
	made, last := 0, Fix{}
	for _, f := range fixes {
		if f.Line > len(lines) || f.Line == last.Line && f.EndColumn > last.Column {
			continue // it overlaps the previous fix, because two diagnostics are about one value
		}
		line := []rune(lines[f.Line-1])
		if f.EndColumn-1 > len(line) {
			continue
		}
		lines[f.Line-1] = string(line[:f.Column-1]) + f.Text + string(line[f.EndColumn-1:])
		made, last = made+1, f
	}
	return append(slices.Clone(mark), strings.Join(lines, "\n")...), made
}
