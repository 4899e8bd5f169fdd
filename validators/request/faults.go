package request

import (
	_ "embed"
	"reflect"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/tables"
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
	for _, row := range tables.Rows(faultsTable) {
		if !slices.Contains(groups, row["group"]) {
			continue
		}
		if pattern, found := strings.CutPrefix(row["field"], "/"); found {
			list = append(list, faults.Rewriting(row["name"], row["description"], pattern, row["value"]))
			continue
		}
		value, was := faults.Removed, any(nil)
		if row["value"] != "gone" {
			value = decoded(row["value"])
		}
		if row["was"] != "" {
			was = decoded(row["was"])
		}
		list = append(list, faults.Revaluing(row["name"], row["description"], func(_, name string, v any) (any, bool) {
			return value, name == row["field"] && (was == nil || reflect.DeepEqual(v, was)) && !reflect.DeepEqual(v, value)
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
