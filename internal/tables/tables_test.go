package tables_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/tables"
)

func TestRows(t *testing.T) {
	got := tables.Rows("kind\twords\nmark\tend of\nend\t-\n")
	if want := "[map[kind:mark words:end of] map[kind:end]]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestRowsMissingCell(t *testing.T) {
	defer func() {
		if err := fmt.Sprint(recover()); !strings.Contains(err, "line 3") || !strings.Contains(err, "1 cells, want 2") {
			t.Errorf("got %s, want the line and the number of cells", err)
		}
	}()
	tables.Rows("kind\twords\nmark\tend of\nend\n")
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct{ row, want string }{
		"right":        {`end	RFC 1	the end	begin`, "<nil>"},
		"line breaks":  {`end	RFC 1	the\nend	the\nbegin`, "<nil>"},
		"no source":    {"end\t-\tthe end\tbegin", `line 2: the column "source" is empty`},
		"no match":     {"end\tRFC 1\tbegin\tbegin", `line 2: match: wrong result for "begin"`},
		"both match":   {"end\tRFC 1\tend\tends", `line 2: no: wrong result for "ends"`},
		"no other one": {"end\tRFC 1\tend\t", `line 2: the column "no" is empty`},
	} {
		err := tables.Check("words\tsource\tmatch\tno\n"+c.row+"\n", func(row tables.Row, line string) bool {
			return strings.Contains(line, row["words"]) && !strings.Contains(line, `\n`)
		})
		if fmt.Sprint(err) != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}
