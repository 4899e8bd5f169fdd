package query

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/postgrestest"
	"github.com/seed61713e19/capstan/runner/tool"
)

// cluster starts a server for one test. The user of the server has all rights.
// It skips the test if PostgreSQL is not installed.
func cluster(t *testing.T) *postgrestest.Cluster {
	t.Helper()
	if !postgrestest.Installed() {
		t.Skip("PostgreSQL is not installed")
	}
	c, err := postgrestest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	err = c.Do("postgres", `
		CREATE TABLE orders (id bigint PRIMARY KEY, customer text, day date, total numeric, data jsonb, pic bytea, at timestamptz, ok bool);
		INSERT INTO orders VALUES (1, 'Ada', '2024-01-05', 12.50, '{"a": [1, 2]}', '\x00ff', '2024-01-05 10:00+00', true), (2, 'Bob', NULL, 123456789012345678901234567890.5, 'null', NULL, NULL, false);
		CREATE SEQUENCE numbers; CREATE SCHEMA deep; CREATE TABLE deep.things (x int);
		CREATE FUNCTION deep.writes() RETURNS int LANGUAGE sql AS 'SELECT 1';
		CREATE ROLE guarded LOGIN PASSWORD 'hunter2hunter2'; GRANT SELECT ON orders TO guarded`)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func onCluster(c *postgrestest.Cluster) tool.Database {
	return tool.Database{Name: "shop", URL: c.Address("postgres"), MaxRows: 100, MaxBytes: 1 << 20, Timeout: 20 * time.Second}
}

func TestServer(t *testing.T) {
	c := cluster(t)
	t.Run("rows", func(t *testing.T) { rowsOfAServer(t, onCluster(c)) })
	t.Run("hostile", func(t *testing.T) { hostileOnAServer(t, c) })
	t.Run("writes", func(t *testing.T) { writesToAServer(t, onCluster(c)) })
	t.Run("secrets", func(t *testing.T) { secretsOfAServer(t, onCluster(c)) })
	t.Run("time", func(t *testing.T) {
		d := onCluster(c)
		d.Timeout = 200 * time.Millisecond
		if got, wrong := asked(t, d, query("SELECT count(*) FROM generate_series(1, 100000000000) AS i")); !strings.Contains(wrong, "longer than 200ms") {
			t.Error(got, wrong)
		}
		d = onCluster(c)
		if got, wrong := asked(t, d, query("SELECT a FROM generate_series(1, 10000) AS a, generate_series(1, 10000) AS b, generate_series(1, 10000) AS c")); !strings.Contains(got, `"truncated":true`) {
			t.Error(got, wrong)
		}
		if got, wrong := asked(t, d, query("SELECT repeat('x', 50000000)")); got != "" || wrong == "" {
			t.Errorf("got %.200s%s", got, wrong)
		}
	})
}

func rowsOfAServer(t *testing.T, d tool.Database) {
	for text, want := range map[string]string{
		"SELECT id, customer, day, total, data, pic, ok FROM orders ORDER BY id":                          `[{"customer":"Ada","data":{"a":[1,2]},"day":"2024-01-05","id":1,"ok":true,"pic":"[2 bytes: hex(…) or encode(…, 'hex') gives them]","total":12.50},{"customer":"Bob","data":null,"day":null,"id":2,"ok":false,"pic":null,"total":123456789012345678901234567890.5}]`,
		"SELECT 'NaN'::float8 AS f, 0.1::float8 AS g, 1e20::numeric AS n":                                 `[{"f":"NaN","g":0.1,"n":100000000000000000000}]`,
		"SELECT customer FROM orders WHERE id = $1":                                                       `[{"customer":"Bob"}]`,
		"SELECT x FROM deep.things":                                                                       `[]`,
		"SELECT column_name FROM information_schema.columns WHERE table_name = 'things'":                  `[{"column_name":"x"}]`,
		"SELECT count(*) AS n, sum(total) FILTER (WHERE total < 100) AS s FROM orders":                    `[{"n":2,"s":12.50}]`,
		"EXPLAIN (COSTS OFF) SELECT 1":                                                                    `[{"QUERY PLAN":"Result"}]`,
		"WITH a AS (SELECT id FROM orders) SELECT max(id) AS m FROM a -- the last":                        `[{"m":2}]`,
		"SELECT customer FROM orders WHERE customer LIKE 'A%' AND data @> '{\"a\": [1]}' AND day < now()": `[{"customer":"Ada"}]`,
	} {
		q := query(text)
		if strings.Contains(text, "$1") {
			q = query(text, 2)
		}
		got, wrong := asked(t, d, q)
		var a struct{ Rows json.RawMessage }
		_ = json.Unmarshal([]byte(got), &a)
		if string(a.Rows) != want {
			t.Errorf("%s: got %s %s, want %s", text, a.Rows, wrong, want)
		}
	}
	for text, want := range map[string]string{"SELECT nothing FROM orders": "nothing", "SELEC 1": "syntax error", "SELECT 1; SELECT 2": "multiple commands", "SELECT $1::int": "no $1", "": "query", "SELECT 1\x00": "NUL"} {
		if got, wrong := asked(t, d, query(text)); got != "" || !strings.Contains(wrong, want) {
			t.Errorf("%q: got %s%s", text, got, wrong)
		}
	}
}

// Even a user with all rights reaches only tables.
func hostileOnAServer(t *testing.T, c *postgrestest.Cluster) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	reads, writes := onCluster(c), onCluster(c)
	writes.Writes = true
	either := []string{
		"SELECT pg_read_file('/etc/passwd')", "SELECT lo_import('/etc/passwd')", "SELECT lo_export(1, '" + dir + "/out')", "COPY orders TO '" + dir + "/out'", "COPY orders TO PROGRAM 'touch " + dir + "/out'", "COPY (SELECT 1) TO STDOUT",
		"SELECT pg_sleep(1)", "SELECT set_config('role', 'x', false)", "SET ROLE guarded", "RESET ALL", "SET statement_timeout = 0", "DO $$ BEGIN END $$", "CALL x()", "SELECT pg_advisory_lock(1)", "SELECT nextval('numbers')", "SELECT setval('numbers', 7)",
		"SELECT pg_terminate_backend(1)", "SELECT query_to_xml('SELECT 1', true, true, '')", "SELECT current_setting('data_directory')", "SELECT * FROM pg_authid", "TABLE pg_shadow", "SELECT * FROM pg_stat_activity", "SELECT deep.writes()", "SELECT dblink('x', 'y')",
		"CREATE TABLE x()", "DROP TABLE orders", "TRUNCATE orders", "CREATE TEMP TABLE x()", "SELECT * INTO x FROM orders", "SELECT 1; DELETE FROM orders", "SELECT 1; END; DELETE FROM orders; SELECT 1", "LOCK orders", "LISTEN x", "NOTIFY x", "VACUUM",
		"GRANT ALL ON orders TO guarded", "ALTER ROLE guarded SUPERUSER", "PREPARE x AS SELECT 1", "EXECUTE x", "DECLARE c CURSOR FOR SELECT 1", "BEGIN", "COMMIT", "EXPLAIN ANALYZE SELECT pg_read_file('/etc/passwd')", "SELECT 1 END; DELETE FROM orders WHERE 1 = 1",
		"WITH x AS (SELECT pg_ls_dir('/')) SELECT * FROM x", "SELECT pg_notify('a', 'b')", "CREATE EXTENSION dblink", "IMPORT FOREIGN SCHEMA x FROM SERVER y INTO z", "SECURITY LABEL ON TABLE orders IS 'x'",
	}
	for _, text := range either {
		for _, d := range []tool.Database{reads, writes} {
			if got, wrong := asked(t, d, query(text)); got != "" || wrong == "" {
				t.Errorf("%s: got %.200s (writes %t)", text, got, d.Writes)
			}
		}
	}
	for _, text := range []string{
		"DELETE FROM orders", "INSERT INTO orders(id) VALUES (9)", "UPDATE orders SET id = 9", "WITH x AS (DELETE FROM orders RETURNING 1) SELECT * FROM x", "SELECT * FROM orders FOR UPDATE", "EXPLAIN ANALYZE DELETE FROM orders",
		"MERGE INTO orders USING orders o ON false WHEN NOT MATCHED THEN INSERT (id) VALUES (9)",
	} {
		if got, wrong := asked(t, reads, query(text)); got != "" || wrong == "" {
			t.Errorf("%s: got %.200s", text, got)
		}
	}
	for _, text := range []string{"INSERT INTO orders(id, customer) VALUES (9, pg_read_file('/etc/passwd'))", "UPDATE pg_authid SET rolsuper = true", "DELETE FROM pg_catalog.pg_class", "INSERT INTO orders(id) SELECT nextval('numbers')"} {
		if got, wrong := asked(t, writes, query(text)); got != "" || wrong == "" {
			t.Errorf("%s: got %.200s", text, got)
		}
	}
	if got, _ := asked(t, reads, query("SELECT count(*) AS n FROM orders")); !strings.Contains(got, `"n":2`) {
		t.Error(got)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("files were written: %v, %v", list, err)
	}
}

func writesToAServer(t *testing.T, d tool.Database) {
	d.Writes = true
	for _, c := range []struct{ text, rows, want string }{
		{"INSERT INTO orders(id, customer) VALUES ($1, 'Dee'), (11, 'Eve')", `[]`, `"rows_affected":2`},
		{"UPDATE orders SET customer = 'X' WHERE id >= 10 RETURNING id", `[{"id":10},{"id":11}]`, `"rows_affected":2`},
		{"SELECT count(*) AS n FROM orders", `[{"n":4}]`, `"rows_affected":0`},
		{"DELETE FROM orders WHERE id >= 10", `[]`, `"rows_affected":2`},
	} {
		q := query(c.text)
		if strings.Contains(c.text, "$1") {
			q = query(c.text, 10)
		}
		if got, wrong := asked(t, d, q); !strings.Contains(got, `"rows":`+c.rows) || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s%s", c.text, got, wrong)
		}
	}
	d.MaxRows = 1 // a write without RETURNING is made in any case
	if got, wrong := asked(t, d, query("INSERT INTO deep.things SELECT i FROM generate_series(1, 5) i RETURNING x")); !strings.Contains(got, `"rows_affected":5`) || !strings.Contains(got, `"truncated":true`) {
		t.Error(got, wrong)
	}
}

// No message about a database contains its password, in any form of the
// address.
func secretsOfAServer(t *testing.T, d tool.Database) {
	host := d.URL[strings.Index(d.URL, "@")+1:]
	t.Setenv("SHOP_PASSWORD", "hunter2hunter2")
	t.Setenv("SHOP_URL", "postgres://guarded:hunter2hunter2@"+host)
	for _, url := range []string{"postgres://guarded:{{ env.SHOP_PASSWORD }}@" + host, "{{ env.SHOP_URL }}", "postgres://guarded:hunter2hunter2@" + host} {
		own := d
		own.URL = url
		if got, wrong := asked(t, own, query("SELECT count(*) AS n FROM orders")); !strings.Contains(got, `"n":2`) {
			t.Error(got, wrong)
		}
		for _, text := range []string{"SELECT nothing", "DELETE FROM orders", "SELECT 'hunter2hunter2'::int"} {
			if got, wrong := asked(t, own, query(text)); got != "" || strings.Contains(wrong, "hunter2") {
				t.Error(got, wrong)
			}
		}
	}
	for _, url := range []string{
		"postgres://guarded:hunter2hunter2x@" + host, "postgres://tester:hunter2hunter2@127.0.0.1:1/postgres", "postgres://me:hunter2hunter2@:bad:/x", "postgres://me:hunter2hunter2@h/x?sslmode=wrong",
		"postgres://guarded:wrong@" + host + "&password=hunter2hunter2x", "postgres://tester:hunter2hunter2@" + strings.Replace(host, "/postgres", "/none", 1),
	} {
		own := d
		own.URL = url
		got, wrong := asked(t, own, query("SELECT 1"))
		if described := wrong + bound([]tool.Database{own}).Description; got != "" || strings.Contains(described, "hunter2") {
			t.Errorf("%s: %s%s", url, got, described)
		}
		if err := Reach(t.Context(), own); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if secret := secrets("postgres://u:p%40ss@h/d?password=q"); !slices.Equal(secret, []string{"p@ss", "p%40ss", "q"}) {
		t.Error(secret)
	}
}
