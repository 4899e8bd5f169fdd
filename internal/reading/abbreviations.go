package reading

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/tables"
)

//go:embed tables/abbreviations.tsv
var abbreviationTable string

// abbreviations are the words of the table, in lower case without the full stop.
var abbreviations = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, row := range tables.Rows(abbreviationTable) {
		words[strings.ToLower(strings.TrimSuffix(row["word"], "."))] = true
	}
	return words
})
