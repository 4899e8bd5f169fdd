package stores_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/internal/postgrestest"
)

// A file of SQLite passes the suite of stores.
func TestSQLite(t *testing.T) {
	checkStore(t, func(t testing.TB) string { return filepath.Join(t.TempDir(), "runs.db") })
}

// A PostgreSQL database passes the suite of stores. Each test has a schema of its own.
func TestPostgres(t *testing.T) {
	c, err := postgrestest.Start()
	if err != nil {
		t.Skip(err)
	}
	defer c.Stop()
	schemas := 0
	checkStore(t, func(testing.TB) string {
		schemas++
		return fmt.Sprintf("%s&search_path=s%d", c.Address("postgres"), schemas)
	})
}
