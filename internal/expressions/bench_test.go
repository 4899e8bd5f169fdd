package expressions

import (
	"strings"
	"testing"
)

// BenchmarkExpressionsOfText evaluates single conditions that read a text of
// 100 KB to its end.
func BenchmarkExpressionsOfText(b *testing.B) {
	s := sample()
	s.Content = strings.Repeat("word and other words of a line\n", 100<<10/31)
	s.Input = map[string]any{"most": 80, "banned": []any{"zebra", "gnu"}}
	for _, source := range []string{
		`not (content matches "TODO|FIXME")`, `not (content matches "(?i)as an ai language model")`, `not (content matches "[0-9]{3}-[0-9]{4}")`,
		`not (content matches "\\bzebra\\b")`, `not (content matches "(?m)^#+ ")`,
		`all(split(content, "\n"), len(#) < 80)`, `all(split(content, " "), # != "zebra")`, `none(split(content, "\n"), # startsWith "#")`, `len(filter(split(content, "\n"), # contains "and")) > 9`,
		`all(split(content, "\n"), len(#) < input.most)`, `all(split(content, " "), # not in input.banned)`, `none(split(content, " "), lower(#) in ["zebra", "gnu"])`,
	} {
		check, err := checkOf(source, "")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(source, func(b *testing.B) {
			for b.Loop() {
				if v, err := check(b.Context(), s); err != nil || !v.Valid {
					b.Fatal(v, err)
				}
			}
		})
	}
}
