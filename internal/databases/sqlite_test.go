package databases_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/seed61713e19/capstan/internal/databases"
)

// A name with signs of a URL is the name of a file, and each option reaches SQLite.
func TestFileName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c=d#e%41.db")
	file := databases.File{Path: path, Mode: "rwc", Wait: 1500 * time.Millisecond, Options: []string{"_pragma=foreign_keys(1)"}}
	db, err := sql.Open("sqlite", file.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for pragma, want := range map[string]int{"busy_timeout": 1500, "trusted_schema": 0, "cell_size_check": 1, "foreign_keys": 1} {
		got := -1
		if err := db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %d, %v, want %d", pragma, got, err, want)
		}
	}
	if _, err := db.Exec("CREATE TABLE t (x)"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	file.Mode = "ro"
	read, err := sql.Open("sqlite", file.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if _, err := read.Exec("INSERT INTO t VALUES (1)"); err == nil {
		t.Error("a file opened to read was written")
	}
}
