package request

import (
	_ "embed"
	"reflect"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/faults"
	"github.com/seed61713e19/capstan/validators/schema"
)

// The table has a row for each fault that the gates must find. Its columns are
//
//	group        protocol: no response; judged; strict; promise; verdict
//	name, description
//	field        the field that changes, or "/" and a pattern of the text
//	value        its JSON, or gone; with a pattern the replacement
//	was          the JSON that it replaces; "-" for any
//
//go:embed tables/faults.tsv
var faultsTable string

// planted returns the faults of some groups.
func planted(groups ...string) (list []faults.Operator) {
	for line := range strings.Lines(faultsTable) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if !slices.Contains(groups, c[0]) {
			continue
		}
		if pattern, found := strings.CutPrefix(c[3], "/"); found {
			list = append(list, faults.Rewriting(c[1], c[2], pattern, c[4]))
			continue
		}
		value, was := faults.Gone, any(nil)
		if c[4] != "gone" {
			value = decoded(c[4])
		}
		if c[5] != "-" {
			was = decoded(c[5])
		}
		list = append(list, faults.Revaluing(c[1], c[2], func(_, name string, v any) (any, bool) {
			return value, name == c[3] && (was == nil || reflect.DeepEqual(v, was)) && !reflect.DeepEqual(v, value)
		}))
	}
	return list
}

func decoded(text string) any {
	value, err := schema.Parse([]byte(text))
	if err != nil {
		panic("tables/faults.tsv: " + err.Error())
	}
	return value
}

// responsePlanted returns the faults of a response that the parameters let the gate find.
func responsePlanted(with map[string]any) []faults.Operator {
	switch {
	case with["check"] == checkRequest:
		return nil
	case with["check"] == checkProtocol:
		return planted("protocol")
	case with["strict"] == true:
		return planted("protocol", "judged", "strict")
	}
	return planted("protocol", "judged")
}
