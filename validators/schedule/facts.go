package schedule

import (
	"cmp"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
)

// facts is the data about a creator. The zero value is an unknown creator.
type facts struct {
	id, pageName, pageType string
	active                 bool
	vault                  []vaultEntry
	analysisDate           string
	rankings               []ranking

	inVault, avoided map[string]bool
}

type vaultEntry struct {
	ContentTypeID any    `json:"content_type_id"`
	TypeName      string `json:"type_name"`
	Quantity      *int64 `json:"quantity_available"`
}

type ranking struct {
	ContentType string   `json:"content_type"`
	Rank        *int64   `json:"rank"`
	Tier        string   `json:"performance_tier"`
	Earnings    *float64 `json:"total_earnings"`
}

func (f facts) known() bool { return f.id != "" }

func (f facts) vaultTypes() []string {
	names := make([]string, len(f.vault))
	for i, v := range f.vault {
		names[i] = v.TypeName
	}
	return names
}

// tier returns the content types of a tier at the latest analysis date, sorted.
func (f facts) tier(tier string) []string {
	names := []string{}
	for _, r := range f.rankings {
		if r.Tier == tier {
			names = append(names, r.ContentType)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (f facts) avoid() []string { return f.tier("AVOID") }

const (
	selectCreator = "SELECT creator_id, page_name, page_type, is_active FROM creators WHERE creator_id = $1 OR page_name = $2 LIMIT 100"
	selectVault   = `SELECT v.content_type_id, t.type_name, v.quantity_available
		FROM vault_matrix v JOIN content_types t ON t.content_type_id = v.content_type_id
		WHERE v.creator_id = $1 AND v.has_content = 1`
	selectRankings = `SELECT content_type, rank, performance_tier, total_earnings, analysis_date FROM top_content_types
		WHERE creator_id = $1 AND analysis_date = (SELECT MAX(analysis_date) FROM top_content_types WHERE creator_id = $2)`
	selectContentTypes = "SELECT type_name FROM content_types"
)

// facts reads the data about a creator.
func (t tx) facts(creator string) (facts, error) {
	f, err := t.creator(creator)
	if err != nil || !f.known() {
		return f, err
	}
	if err := t.vault(&f); err != nil {
		return f, err
	}
	err = t.rankings(&f)
	return f, err
}

// creator finds a creator by id, or by page name if no id matches.
func (t tx) creator(name string) (facts, error) {
	var found []facts
	err := t.each("creator", selectCreator, []any{name, name}, func(scan func(...any) error) error {
		var f facts
		var page sql.NullString
		var active sql.NullInt64
		err := scan(&f.id, &page, &f.pageType, &active)
		f.pageName, f.active = page.String, active.Int64 == 1
		found = append(found, f)
		return err
	})
	if err != nil {
		return facts{}, err
	}
	if i := slices.IndexFunc(found, func(f facts) bool { return f.id == name }); i >= 0 {
		return found[i], nil
	}
	switch len(found) {
	case 0:
		return facts{}, nil
	case 1:
		return found[0], nil
	}
	return facts{}, errors.New("creator: several pages have the name " + clip(name) + "; give the creator_id")
}

func (t tx) vault(f *facts) error {
	f.vault, f.inVault = []vaultEntry{}, map[string]bool{}
	err := t.each("vault of "+f.id, selectVault, []any{f.id}, func(scan func(...any) error) error {
		var v vaultEntry
		err := scan(&v.ContentTypeID, &v.TypeName, &v.Quantity)
		f.vault = append(f.vault, v)
		f.inVault[v.TypeName] = true
		return err
	})
	slices.SortFunc(f.vault, func(a, b vaultEntry) int { return strings.Compare(a.TypeName, b.TypeName) })
	return err
}

func (t tx) rankings(f *facts) error {
	f.rankings, f.avoided = []ranking{}, map[string]bool{}
	err := t.each("rankings of "+f.id, selectRankings, []any{f.id, f.id}, func(scan func(...any) error) error {
		var r ranking
		err := scan(&r.ContentType, &r.Rank, &r.Tier, &r.Earnings, &f.analysisDate)
		f.rankings = append(f.rankings, r)
		if r.Tier == "AVOID" {
			f.avoided[r.ContentType] = true
		}
		return err
	})
	slices.SortFunc(f.rankings, compareRankings)
	return err
}

// compareRankings orders rankings; those without a rank come last. The
// databases order nulls and names differently, so they do not sort.
func compareRankings(a, b ranking) int {
	rank := func(r ranking) int64 {
		if r.Rank == nil {
			return math.MaxInt64
		}
		return *r.Rank
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.ContentType, b.ContentType), strings.Compare(a.Tier, b.Tier))
}

// contentTypes returns the names of all content types.
func (t tx) contentTypes() (map[string]bool, error) {
	names := map[string]bool{}
	err := t.each("content types", selectContentTypes, nil, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		names[name] = true
		return err
	})
	return names, err
}
