package runner_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
	"github.com/seed61713e19/capstan/validators/capy"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/validators/request"
)

// gateReaders read the texts that phases release: each computed built-in validator, and
// the gates.
func gateReaders() []reader {
	source := strings.Repeat("The crew turned 12 times. See [the log](https://example.org/log).\n", 20)
	with := map[string]map[string]any{
		"cites": {"source": source}, "contains": {"text": "crew"}, "excludes": {"text": "crow"}, "keyword_validator": {"required": []any{"crew"}},
		"keywords": {"any": []any{"crew"}}, "language": {"in": []any{"en"}}, "length_check": {"min": 1}, "links_kept": {"source": source},
		"json_schema": {"schema": map[string]any{"type": "object"}}, "max_length": {"max": 5}, "min_length": {"min": 5}, "numbers_kept": {"source": source},
		"same_structure": {"source": source}, "regexp": {"pattern": "(?i)c[re]+w$"}, "word_count": {"min": 1},
		"capy": {"stage": "BASE_T1"}, "edit_verifier": {"active_part": "text", "check": "computed", "source": "source.md", "source_text": editFile("source.md"), "status_text": editFile("status.yaml"), "direction_text": editFile("direction.yaml"), "metadata_text": editFile("metadata.yaml")},
	}
	all := append(builtins.All(), capy.Validator, edit.Validator, request.PromiseValidator)
	gates := []string{capy.Validator.Name, edit.Validator.Name, request.PromiseValidator.Name}
	limits := map[string]int{ // of those that read Markdown
		"cites": mib, "edit_verifier": mib, "links_kept": mib, "markdown": mib, "numbers_kept": mib, "same_structure": mib,
	}
	exempt := map[string]string{"language": "it keeps all blocks of a text: 50 bytes of memory for each byte of tables"}
	var list []reader
	for _, v := range all {
		if v.Criteria != "" {
			continue
		}
		params, row := with[v.Name], "text of a phase, built-in validators"
		if i := slices.Index(gates, v.Name); i >= 0 {
			row = "text of a phase, " + v.Name
		}
		list = append(list, reader{name: v.Name, row: row, limit: limits[v.Name], exempt: exempt[v.Name], inputs: hostileTexts(v.Name), read: func(t testing.TB, text string) error {
			check, err := v.Bind(params)
			if err != nil {
				return fmt.Errorf("parameters: %w", err)
			}
			_, err = check(t.Context(), validators.Subject{Content: text, Input: map[string]any{"text": source}})
			return err
		}})
	}
	return list
}

// editFile returns a file of the edit verifier's tests.
func editFile(name string) string {
	text, err := os.ReadFile("../validators/edit/testdata/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// hostileTexts are the texts that cost a gate the most: for each, those that took it
// the longest of fifteen kinds, else prose.
func hostileTexts(gate string) inputs {
	all := inputs{
		"prose":     filled("", "It went round and round 12 times, said the crew (all of them) on 1 May 2026.\n", ""),
		"digits":    filled("", "1", ""),
		"backticks": filled("", "`` ` ", ""),
		"lists":     filled("", "- a\n  - b\n", ""),
		"tables":    filled("", "| a | b |\n|---|---|\n", ""),
		"mails":     filled("", "a.b@c.d.", ""),
		"tags":      filled("", "<a <!-- ", ""),
	}
	most := map[string]string{
		"markdown": "lists", "presentable": "digits", "pii": "digits", "cites": "backticks", "language": "tables", "numbers_kept": "lists",
		"links_kept": "tags", "same_structure": "lists", "edit_verifier": "backticks", "no_secrets": "mails",
	}
	kind := cmp.Or(most[gate], "prose")
	return inputs{kind: all[kind]}
}
