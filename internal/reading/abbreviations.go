package reading

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed tables/abbreviations.tsv
var abbreviationRows string

// abbreviations are the words of the table, in lower case without the full stop.
var abbreviations = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(abbreviationRows) {
		if word, _, ok := strings.Cut(line, "\t"); ok && line[0] != '#' {
			words[strings.ToLower(strings.TrimSuffix(word, "."))] = true
		}
	}
	return words
})
