package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// A user's statement can read only the journal, even with the rights of a superuser.
func TestQueryOnServerReadsTheJournalAlone(t *testing.T) {
	c := serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	saidRun(t, j, "run", "a text", engine.Result{Status: engine.Succeeded}, runner.Start{})
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := c.Do("postgres", "CREATE TABLE IF NOT EXISTS public.theirs (secret text); CREATE SEQUENCE IF NOT EXISTS public.numbers"); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		// files
		"SELECT pg_read_file('/etc/passwd')", "SELECT * FROM pg_read_file('/etc/passwd')", "SELECT pg_catalog.pg_read_binary_file('/etc/passwd')",
		"SELECT * FROM pg_ls_dir('/')", "SELECT pg_stat_file('/etc/passwd')", "SELECT lo_export(lo_import('/etc/passwd'), '" + dir + "/out')", "SELECT lo_from_bytea(0, 'x')",
		"COPY run TO '" + dir + "/out'", "COPY run TO PROGRAM 'touch " + dir + "/out'", "EXPLAIN ANALYZE SELECT pg_read_file('/etc/passwd')",
		"EXPLAIN (ANALYZE) SELECT lo_export(1, '" + dir + "/out')", "WITH x AS (SELECT pg_read_file('/etc/passwd') AS y) SELECT y FROM x",
		"SELECT (SELECT count(*) FROM runs WHERE pg_read_file('/etc/passwd') <> '')", "VALUES (pg_read_file('/etc/passwd'))", "SELECT 1 ORDER BY pg_read_file('/etc/passwd')",
		"SELECT count(*) FILTER (WHERE pg_read_file('/etc/passwd') <> '') FROM runs", "SELECT 1 LIMIT length(pg_read_file('/etc/passwd'))",
		"SELECT query_to_xml('SELECT pg_read_file(''/etc/passwd'')', true, true, '')", "SELECT table_to_xml('pg_hba_file_rules'::regclass, true, true, '')",
		"SELECT * FROM pg_hba_file_rules", "SELECT * FROM pg_file_settings", "TABLE pg_authid", "SELECT * FROM pg_catalog.pg_shadow", "SELECT rolpassword FROM pg_authid",
		// other tables, settings and activity
		"SELECT * FROM public.theirs", "TABLE public.theirs", "SELECT * FROM pg_settings", "SELECT current_setting('data_directory')", "SELECT set_config('transaction_read_only', 'off', false)",
		"SELECT query FROM pg_stat_activity", "SELECT pg_terminate_backend(pg_backend_pid())", "SELECT pg_cancel_backend(1)", "SELECT pg_reload_conf()", "SELECT pg_notify('capstan', 'x')",
		"SELECT pg_advisory_lock(1)", "SELECT nextval('public.numbers')", "SELECT pg_logical_emit_message(false, 'a', 'b')", "SELECT pg_sleep(0)", "SELECT pg_switch_wal()",
		// writes, and several statements
		"WITH x AS (DELETE FROM run RETURNING 1) SELECT * FROM x", "WITH x AS (INSERT INTO public.theirs VALUES ('x') RETURNING 1) SELECT * FROM x", "SELECT * INTO TEMP y FROM runs",
		"SELECT * FROM runs FOR UPDATE", "EXPLAIN ANALYZE DELETE FROM run", "EXPLAIN DELETE FROM run", "SELECT 1; END; DROP TABLE run; SELECT 1", "SELECT $1::text", "EXECUTE s0", "SELECT 1 -- \n; END",
		"TABLE run; DELETE FROM run", "DO $$ BEGIN DELETE FROM run; END $$", "CALL x()", "SET ROLE tester", "SHOW data_directory", "LISTEN x", "DECLARE c CURSOR FOR SELECT 1", "FETCH c", "LOCK run",
		"SELECT E'\\'; DROP TABLE run; --'; DELETE FROM run", "SELECT $a$ ; $a$; DELETE FROM run", "/* /* */ SELECT 1; */ DELETE FROM run", "SELECT 1 END; DELETE FROM run WHERE 1 = 1",
	} {
		if got, err := j.Query(t.Context(), sql, 0); err == nil {
			t.Errorf("%q gave %.200v", sql, got)
		} else if !strings.Contains(err.Error(), "sql: ") {
			t.Errorf("%q: %v", sql, err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("files were written: %v, %v", list, err)
	}
	for sql, want := range map[string]string{
		"SELECT run_id FROM runs": "run", "TABLE runs LIMIT 0": "", "VALUES ('a')": "a", "WITH x AS (SELECT 'b' AS y) SELECT y FROM x": "b",
		"SELECT 'a', 'a'": "a", "SELECT row('a', 1)": "(a,1)", "SELECT upper(run_id) || ';' FROM runs -- it is one": "RUN;", "select string_agg(run_id, ',') from runs": "run",
		"SELECT run_id FROM runs r WHERE EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.run_id)": "run", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY 1.0)": "1",
		"SELECT column_name FROM information_schema.columns WHERE table_name = 'runs' AND column_name = 'run_id' LIMIT 1": "run_id", "EXPLAIN SELECT 1": "Result  (cost=0.00..0.01 rows=1 width=4)",
		"explain (costs off) values (1)": "Result", "SELECT to_char(now(), 'YYYY') IS NOT NULL AND random() < 2 AND clock_timestamp() IS NOT NULL": "1", "SELECT 'E' || $$;$$": "E;",
		"SELECT row_number() OVER (ORDER BY run_id) FROM runs": "1", "SELECT json_build_object('a', 1) ->> 'a'": "1", "SELECT 'pg_read_file(1)'": "pg_read_file(1)", "SELECT sum(i) FROM generate_series(1, 4) i": "10",
		"SELECT pg_typeof(1)::text": "integer", "SELECT jsonb_path_query_first('{\"a\": 1}', '$.a')::text": "1", "(SELECT 'x') UNION ALL (SELECT 'x')": "x",
	} {
		got, err := j.Query(t.Context(), sql, 1)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		words := ""
		if len(got.Rows) > 0 {
			words = strings.TrimSpace(strings.Trim(strings.ReplaceAll(asJSON(t, got.Rows[0][0]), `"`, ""), "\n"))
		}
		if words != want {
			t.Errorf("%s: got %s, want %s", sql, words, want)
		}
	}
	if list, err := j.Runs(t.Context(), Filter{}); err != nil || len(list) != 1 || list[0].Status != engine.Succeeded {
		t.Errorf("got %v, %v", list, err)
	}
}
