package builtins

import _ "embed"

// The tables list the special cases of the validators, see package tables.
// TestTables checks their rows.
var (
	//go:embed tables/cards.tsv
	cardsTable string
	//go:embed tables/empty.tsv
	emptyTable string
	//go:embed tables/hours.tsv
	hoursTable string
	//go:embed tables/ibans.tsv
	ibansTable string
	//go:embed tables/injections.tsv
	injectionsTable string
	//go:embed tables/lookalikes.tsv
	lookalikesTable string
	//go:embed tables/pii.tsv
	piiTable string
	//go:embed tables/placeholders.tsv
	placeholdersTable string
	//go:embed tables/presentable.tsv
	presentableTable string
)
