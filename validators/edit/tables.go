package edit

import (
	_ "embed"
	"regexp"
	"sync"

	"github.com/seed61713e19/capstan/internal/tables"
	"github.com/seed61713e19/capstan/internal/textdiff"
)

//go:embed tables/labels.tsv
var labelTable string

// labelWords are the words of the labels. They do not decide whether a change exists.
var labelWords = sync.OnceValue(func() *textdiff.Table { return textdiff.NewTable(labelTable) })

//go:embed tables/gaps.tsv
var gapTable string

// gapPatterns are the marks of a gap that need no mark_format.
var gapPatterns = sync.OnceValue(func() []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, row := range tables.Rows(gapTable) {
		out = append(out, regexp.MustCompile(row["pattern"]))
	}
	return out
})
