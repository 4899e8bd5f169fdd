package reading

import "strings"

// A Figure is a number in figures, as it may be read: 1.000 is a thousand in one
// language and one in another.
type Figure struct {
	Text  string // as it stands
	Line  int
	Forms []string // the values that it may have; the same value is always the same form
}

// Figures lists the numbers of a text that stand in figures, those of dates,
// headings and tables as well, without their units; what is glued to letters,
// and what stands in code or in an address, is none. With spelt those in
// (English) words come along.
func (t Text) Figures(spelt bool) []Figure {
	var out []Figure
	for _, b := range t.Blocks {
		_, words := addresses.take(b.Words)
		_, words = placeholders.take(words)
		found, _ := inFigures.take(words)
		if spelt {
			more, _ := spelledOut.take(words)
			found = append(found, more...)
		}
		for _, s := range found {
			figure := strings.TrimLeft(strings.Fields(s)[0], "<>≤≥≈~±=+")
			out = append(out, Figure{figure, b.Line, forms(figure)})
		}
	}
	return out
}

// forms are the values of a figure by the ways to group and to part it.
func forms(figure string) []string {
	marks := strings.Map(func(r rune) rune {
		if strings.ContainsRune(".,'’", r) {
			return r
		}
		return -1
	}, figure)
	bare := strings.NewReplacer("'", "", "’", "").Replace(figure)
	last := strings.LastIndexAny(bare, ".,")
	if last < 0 {
		return []string{bare}
	}
	whole := strings.NewReplacer(".", "", ",", "")
	parted := whole.Replace(bare[:last]) + "." + bare[last+1:]
	joined := whole.Replace(bare)
	switch thousands := len(bare)-last-1 == 3; {
	case strings.Count(marks, string(bare[last])) > 1: // 1.000.000
		return []string{joined}
	case thousands && len(marks) == 1:
		return []string{parted, joined}
	default:
		return []string{parted}
	}
}
