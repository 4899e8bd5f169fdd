package query

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/tool"
)

// shopAt creates a small database and returns its folder.
func shopAt(t testing.TB, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append([]string{
		"CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, day DATE, at TIMESTAMP, total REAL, pic BLOB)",
		"INSERT INTO orders VALUES (1, 'Ada', '2024-01-05', '2024-01-05 10:00:00', 12.5, x'00ff'), (2, 'Bob', NULL, 'soon', 9e999, NULL), (9007199254740993, 'Ça', 5, 1704448800, 7, x'')",
	}, more...) {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(text, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func shop(dir string) tool.Database {
	return tool.Database{Name: "shop", URL: "shop.db", Dir: dir, MaxRows: 100, MaxBytes: 1 << 20, Timeout: 10 * time.Second}
}

// asked returns the tool's answer as JSON, or the text of its failure.
func asked(t testing.TB, d tool.Database, arguments map[string]any) (string, string) {
	t.Helper()
	r, err := bound([]tool.Database{d}).Run(t.Context(), tool.Call{Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed {
		return "", r.Text()
	}
	return r.Text(), ""
}

func query(text string, values ...any) map[string]any {
	q := map[string]any{"query": text}
	if len(values) > 0 {
		q["values"] = values
	}
	return q
}

func TestRowsOfAFile(t *testing.T) {
	d := shop(shopAt(t))
	for text, want := range map[string]string{
		"SELECT id, customer FROM orders ORDER BY id DESC":                             `[{"customer":"Ça","id":9007199254740993},{"customer":"Bob","id":2},{"customer":"Ada","id":1}]`,
		"SELECT day, at FROM orders ORDER BY id":                                       `[{"at":"2024-01-05 10:00:00","day":"2024-01-05"},{"at":"soon","day":null},{"at":1704448800,"day":5}]`,
		"SELECT * FROM (SELECT day FROM orders) WHERE day = '2024-01-05' -- the first": `[{"day":"2024-01-05"}]`,
		"SELECT 1 AS x, 2 AS x, 3 AS x_2":                                              `[{"x":1,"x_2":2,"x_2_2":3}]`,
		"SELECT total FROM orders WHERE id = 2":                                        `[{"total":"+Inf"}]`,
		"SELECT 0.1 + 0.2 AS f, 9223372036854775807 AS i":                              `[{"f":0.30000000000000004,"i":9223372036854775807}]`,
		"SELECT customer FROM orders WHERE id = ?":                                     `[{"customer":"Bob"}]`,
		"SELECT 9223372036854775808 AS r, 1.5e300 AS s":                                `[{"r":9.223372036854776e+18,"s":1.5e+300}]`,
		"VALUES (1), (2);":                                    `[{"column1":1},{"column1":2}]`,
		"SELECT pic FROM orders WHERE id = 1":                 `[{"pic":"[2 bytes: hex(…) or encode(…, 'hex') gives them]"}]`,
		"SELECT name FROM sqlite_schema WHERE type = 'table'": `[{"name":"orders"}]`,
		"SELECT id FROM orders WHERE id < 0":                  `[]`,
		"WITH a AS (SELECT 1 AS n) SELECT n FROM a":           `[{"n":1}]`,
	} {
		q := query(text)
		if strings.Contains(text, "?") {
			q = query(text, 2)
		}
		got, wrong := asked(t, d, q)
		var a struct{ Rows json.RawMessage }
		_ = json.Unmarshal([]byte(got), &a)
		if string(a.Rows) != want {
			t.Errorf("%s: got %s %s, want %s", text, got, wrong, want)
		}
	}
}

// A statement must not write to a read-only database. The failure has the
// reason.
func TestHostileStatementsOnAFile(t *testing.T) {
	dir := shopAt(t)
	d := shop(dir)
	d.Timeout = 300 * time.Millisecond
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
	before := files(t, dir)
	for text, want := range map[string]string{
		"DELETE FROM orders": "the statement is not allowed", "INSERT INTO orders(id) VALUES (4)": "the statement is not allowed", "UPDATE orders SET id = 4": "the statement is not allowed", "REPLACE INTO orders(id) VALUES (1)": "the statement is not allowed",
		"WITH x AS (SELECT 1) DELETE FROM orders": "the statement is not allowed", "DELETE FROM orders RETURNING id": "the statement is not allowed",
		"CREATE TABLE x(y)": "the statement is not allowed", "CREATE TEMP TABLE x(y)": "the statement is not allowed", "DROP TABLE orders": "the statement is not allowed", "ALTER TABLE orders RENAME TO x": "the statement is not allowed", "CREATE VIEW x AS SELECT 1": "the statement is not allowed",
		"ATTACH 'other.db' AS other": "the statement is not allowed", "ATTACH ':memory:' AS other": "the statement is not allowed", "DETACH main": "the statement is not allowed", "VACUUM": "", "VACUUM INTO 'copy.db'": "", "ANALYZE": "",
		"PRAGMA query_only = 0": "the statement is not allowed", "PRAGMA journal_mode = DELETE": "the statement is not allowed", "PRAGMA writable_schema = 1": "the statement is not allowed", "PRAGMA user_version": "the statement is not allowed", "SELECT * FROM pragma_user_version": "",
		"BEGIN": "the statement is not allowed", "SAVEPOINT x": "the statement is not allowed", "COMMIT": "the statement is not allowed",
		"SELECT load_extension('x')": "", "SELECT readfile('/etc/passwd')": "no such function", "SELECT writefile('x', 'y')": "no such function", "SELECT fts3_tokenizer('a', x'00')": "",
		"SELECT 1; SELECT 2": "want one statement", "SELECT 1; DROP TABLE orders": "want one statement", "": "query", "-- x": "no statement", ";": "no statement", "SELECT 1\x00; DROP TABLE orders": "NUL",
		"SELEC 1": `near "SELEC"`, "SELECT missing FROM orders": "no such column", "SELECT ?": "missing",
		endless + "SELECT i FROM n WHERE i < 0": "longer than 300ms", endless + "SELECT count(*) FROM n": "longer than", endless + "SELECT i FROM n ORDER BY i DESC": "",
		"SELECT zeroblob(1000000000)": "more than 1048576 bytes", "SELECT randomblob(2000000)": "more than", "SELECT hex(zeroblob(1000000))": "more than", "SELECT printf('%.*c', 100000000, 'x')": "more than",
		"SELECT replace(hex(zeroblob(500000)), '0', 'xxxx')": "more than", endless + "SELECT group_concat(i) FROM n": "",
		// one function that takes minutes and cannot be interrupted
		"SELECT instr(replace(hex(zeroblob(500000)), '0', 'a'), substr(replace(hex(zeroblob(500000)), '0', 'a'), 1, 100000) || 'b')": "longer than",
	} {
		got, wrong := asked(t, d, query(text))
		if got != "" || wrong == "" || !strings.Contains(wrong, want) {
			t.Errorf("%.80q: got %.200s%.200s, want %q", text, got, wrong, want)
		}
	}
	if after := files(t, dir); !slices.Equal(before, after) {
		t.Errorf("the folder had %v, and has %v", before, after)
	}
}

// files returns the files of a folder with their contents.
func files(t testing.TB, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %x", e.Name(), text))
	}
	return list
}

func TestAnswersAreBounded(t *testing.T) {
	d := shop(shopAt(t, "CREATE TABLE long (text)", "INSERT INTO long VALUES (hex(zeroblob(50000))), ('short')"))
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
	answer := func(d tool.Database, q map[string]any) (a result) {
		t.Helper()
		got, wrong := asked(t, d, q)
		if err := json.Unmarshal([]byte(got), &a); err != nil {
			t.Fatal(err, wrong)
		}
		return a
	}
	for name, c := range map[string]struct {
		change func(*tool.Database)
		asked  any
		rows   int
		most   int
	}{
		"of the file": {func(d *tool.Database) { d.MaxRows = 7 }, nil, 7, 7}, "of the call": {func(*tool.Database) {}, 3, 3, 3},
		"the call may not have more": {func(d *tool.Database) { d.MaxRows = 7 }, 70, 7, 7}, "of bytes": {func(d *tool.Database) { d.MaxBytes = 50 }, nil, 6, 100},
	} {
		own := d
		c.change(&own)
		q := query(endless)
		if c.asked != nil {
			q["max_rows"] = c.asked
		}
		if a := answer(own, q); len(a.Rows) != c.rows || a.RowCount != c.rows || !a.Truncated || a.MaxRows != c.most {
			t.Errorf("%s: got %d rows of %d, %t", name, len(a.Rows), a.MaxRows, a.Truncated)
		}
	}
	if a := answer(d, query("SELECT id FROM orders LIMIT 2")); a.Truncated || a.RowCount != 2 {
		t.Errorf("got %+v", a)
	}
	whole := d
	whole.MaxRows = 3
	if a := answer(whole, query("SELECT id FROM orders")); a.Truncated || a.RowCount != 3 {
		t.Errorf("got %+v", a)
	}
	if a := answer(d, query("SELECT text FROM long")); a.CutValues != 1 || a.RowCount != 2 || !strings.HasSuffix(a.Rows[0]["text"].(string), "… (100000 bytes)") {
		t.Errorf("got %+v", a)
	}
}

// A file in WAL mode is read together with its log, and no new file remains.
func TestWAL(t *testing.T) {
	dir := shopAt(t, "PRAGMA journal_mode=WAL", "INSERT INTO orders(id) VALUES (4)")
	before := files(t, dir)
	if got, wrong := asked(t, shop(dir), query("SELECT count(*) AS n FROM orders")); !strings.Contains(got, `"n":4`) {
		t.Error(got, wrong)
	}
	if after := files(t, dir); !slices.Equal(before, after) {
		t.Errorf("there are %d files", len(after))
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "shop.db"))
	if err == nil {
		_, err = db.Exec("INSERT INTO orders(id) VALUES (5)")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got, wrong := asked(t, shop(dir), query("SELECT count(*) AS n FROM orders")); !strings.Contains(got, `"n":5`) {
		t.Error(got, wrong)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	dir := shopAt(t)
	if err := os.WriteFile(filepath.Join(dir, "text.db"), []byte(strings.Repeat("no database", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHOP_URL", "mysql://me:hunter2hunter2@host/shop")
	for url, want := range map[string]string{
		"none.db": "there is no file", "sqlite:none.db": "there is no file", "sqlite:///none.db": "there is no file /none.db", ".": "not a file", "text.db": "not a database",
		"shop.db?mode=rwc": "there is no file", "{{ env.SHOP_URL }}": "no database that can be asked", "{{ env.NOT_THERE_AT_ALL }}": "the environment has no NOT_THERE_AT_ALL", ":memory:": "is a file",
	} {
		d := shop(dir)
		d.URL = url
		got, wrong := asked(t, d, query("SELECT 1"))
		if got != "" || !strings.Contains(wrong, want) || strings.Contains(wrong, "hunter2") {
			t.Errorf("%s: got %s%s", url, got, wrong)
		}
		if err := Reach(t.Context(), d); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s can be reached: %v", url, err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("got %v, %v", list, err)
	}
	for _, url := range []string{"shop.db", "sqlite:shop.db", "sqlite://shop.db", filepath.Join(dir, "shop.db"), "sqlite://" + filepath.Join(dir, "shop.db"), "SQLite:shop.db", "./shop.db"} {
		d := shop(dir)
		d.URL = url
		if err := Reach(t.Context(), d); err != nil {
			t.Error(err)
		}
	}
}

func TestWritesToAFile(t *testing.T) {
	d := shop(shopAt(t))
	d.Writes = true
	for _, c := range []struct{ text, rows, want string }{
		{"INSERT INTO orders(id, customer) VALUES (?, 'Dee'), (11, 'Eve')", `[]`, `"rows_affected":2`},
		{"UPDATE orders SET customer = 'X' WHERE id IN (10, 11) RETURNING id, customer", `[{"customer":"X","id":10},{"customer":"X","id":11}]`, `"rows_affected":2`},
		{"SELECT count(*) AS n FROM orders", `[{"n":5}]`, `"rows_affected":0`},
		{"WITH old AS (SELECT 10 AS id) DELETE FROM orders WHERE id IN (SELECT id FROM old) RETURNING id", `[{"id":10}]`, `"rows_affected":1`},
		{"DELETE FROM orders", `[]`, `"rows_affected":4`},
	} {
		q := query(c.text)
		if strings.Contains(c.text, "?") {
			q = query(c.text, 10)
		}
		if got, wrong := asked(t, d, q); !strings.Contains(got, `"rows":`+c.rows) || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s%s", c.text, got, wrong)
		}
	}
	for _, text := range []string{
		"DROP TABLE orders", "CREATE TABLE x(y)", "PRAGMA user_version = 3", "ATTACH 'x.db' AS x", "VACUUM INTO 'x.db'", "DELETE FROM sqlite_schema", "UPDATE sqlite_schema SET sql = ''",
		"INSERT INTO sqlite_sequence VALUES ('x', 1)", "BEGIN", "DELETE FROM orders; DELETE FROM orders", "ALTER TABLE orders ADD COLUMN x",
	} {
		if got, wrong := asked(t, d, query(text)); got != "" {
			t.Errorf("%s: got %s%s", text, got, wrong)
		}
	}
}

// A statement with an endless sort does not exceed the memory limit.
func TestMemoryIsBounded(t *testing.T) {
	if _, known := resident(); !known {
		t.Skip("the system does not tell")
	}
	d := shop(shopAt(t))
	d.Timeout = time.Minute
	_, wrong := asked(t, d, query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n ORDER BY zeroblob(1000000) || i"))
	if !strings.Contains(wrong, "MiB of memory") {
		t.Error(wrong)
	}
}
