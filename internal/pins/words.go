package pins

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Words returns the words of a program that can name files: the program, each argument that
// is not a flag, the value of --flag=value, and the words within an argument, such as after
// sh -c. It leaves out words that match the subject.
func Words(argv, subject []string) (list []Word) {
	for i, arg := range argv {
		if arg == "" || i > 0 && MatchAny(subject, arg) {
			continue
		}
		flag, value, _ := strings.Cut(arg, "=")
		switch dashed := i > 0 && strings.HasPrefix(flag, "-"); {
		case !dashed:
			list = append(list, Word{arg, true})
		case value != "" && !MatchAny(subject, value):
			list = append(list, Word{value, true})
		}
		words := strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"`=,;:&|()<>{}@", r) })
		for _, word := range words {
			if i > 0 && word != arg && word != value && !MatchAny(subject, word) {
				list = append(list, Word{word, false})
			}
		}
	}
	return list
}

// MatchAny reports whether one of the patterns matches a word of arguments.
func MatchAny(patterns []string, word string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return doublestar.MatchUnvalidated(path.Clean(pattern), path.Clean(word))
	})
}
