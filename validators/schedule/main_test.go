package schedule

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed61713e19/capstan/internal/postgrestest"
)

func TestMain(m *testing.M) {
	if os.Getenv("SCHEDULE_TEST_KILL") != "" {
		saveAndDie() // a child of TestKilledSave
		os.Exit(0)
	}
	code := m.Run()
	if cluster.server != nil {
		cluster.server.Stop()
	}
	os.Exit(code)
}

// onEachDatabase runs a test on SQLite and, if it is installed, on PostgreSQL. Each run
// has a new database with the demo data. Both run in parallel, because one waits while
// the other computes.
func onEachDatabase(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	for name, made := range map[string]func(testing.TB) string{"sqlite": sqliteDSN, "postgres": postgresDSN} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, made(t))
		})
	}
}

// demoFile returns a SQLite database with the demo data, created once.
var demoFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "schedule-demo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	dsn := filepath.Join(dir, "demo.db")
	if err := Init(context.Background(), dsn, true); err != nil {
		return nil, err
	}
	return os.ReadFile(dsn)
})

// DemoDSN returns a new copy of the demo database, for tests that run whole cascades.
func DemoDSN(t testing.TB) string { return sqliteDSN(t) }

func sqliteDSN(t testing.TB) string {
	t.Helper()
	text, err := demoFile()
	if err != nil {
		t.Fatal(err)
	}
	dsn := filepath.Join(t.TempDir(), "schedule.db")
	if err := os.WriteFile(dsn, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dsn
}

var copies atomic.Int64

// postgresDSN returns a new database in the tests' cluster.
func postgresDSN(t testing.TB) string {
	t.Helper()
	cluster.once.Do(func() {
		if cluster.server, cluster.err = postgrestest.Start(); cluster.err == nil {
			onCluster(t, "CREATE DATABASE demo")
			if err := Init(t.Context(), databaseDSN("demo"), true); err != nil {
				t.Fatal(err)
			}
			if err := cluster.server.Do("demo", "ANALYZE"); err != nil { // a server does this itself after a while
				t.Fatal(err)
			}
		}
	})
	if cluster.err != nil {
		t.Skip(cluster.err)
	}
	name := fmt.Sprintf("test_%d", copies.Add(1))
	copied := "CREATE DATABASE " + name + " TEMPLATE demo"
	if cluster.server.Do("postgres", copied+" STRATEGY FILE_COPY") != nil { // ten times as fast; PostgreSQL before 15 does not know the option
		onCluster(t, copied)
	}
	return databaseDSN(name)
}

func databaseDSN(name string) string { return cluster.server.Address(name) }

func onCluster(t testing.TB, statement string) {
	t.Helper()
	if err := cluster.server.Do("postgres", statement); err != nil {
		t.Fatal(err)
	}
}

var cluster struct {
	once   sync.Once
	server *postgrestest.Cluster
	err    error // the reason if there is no server
}

// DemoWeek is the week after the demo data.
const DemoWeek = demoWeek
