package capy

import "strings"

// StageOf finds the stage that a file's name says: BASE_T1.pass.md,
// DAVE_BASE_T1_output.md, 02-base-refine.md. Letter case and the separators do
// not matter; of several stages the longest counts, and of these the first.
func StageOf(filename string) (string, bool) {
	if i := strings.LastIndexAny(filename, `/\`); i >= 0 {
		filename = filename[i+1:]
	}
	name := "_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, filename) + "_"
	best, at := "", -1
	for _, s := range Stages() {
		i := strings.Index(name, "_"+s+"_")
		if i >= 0 && (len(s) > len(best) || len(s) == len(best) && i < at) {
			best, at = s, i
		}
	}
	return best, best != ""
}
