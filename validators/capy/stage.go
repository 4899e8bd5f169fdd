package capy

import (
	"regexp"
	"strings"
	"sync"
)

// StageOf returns the stage that the name of a file names, as in BASE_T1.pass.md,
// DAVE_SCEN_T1_20251220.md, 02-base-refine.md or DAVE_A10_SCENARIO.json. If the name alone
// names none, its folder counts too: 05_ENRICH/T1_output.md. The files of policy 1.0.0
// have the names.
func StageOf(filename string) (stage string, ok bool) {
	parts := strings.FieldsFunc(filename, func(r rune) bool { return r == '/' || r == '\\' })
	if len(parts) == 0 {
		return "", false
	}
	name := nameWords(parts[len(parts)-1])
	tries := []string{name}
	if len(parts) > 1 {
		folder := nameWords(parts[len(parts)-2])
		tries = append(tries, folder+name, name+folder)
	}
	for _, words := range tries {
		for _, f := range stageFiles() {
			if f.name.MatchString(words) {
				return f.stage, true
			}
		}
	}
	return "", false
}

type stageFile struct {
	name  *regexp.Regexp
	stage string
}

var stageFiles = sync.OnceValue(func() []stageFile {
	p, err := loadPolicy("", nil)
	if err != nil {
		return nil // New returns the error
	}
	list := make([]stageFile, len(p.Files))
	for i, f := range p.Files {
		list[i] = stageFile{regexp.MustCompile(f.Name), f.Stage}
	}
	return list
})

// nameWords returns the words of a name in capitals, with a line before and after each.
func nameWords(name string) string {
	words := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	return "_" + strings.Join(words, "_") + "_"
}
