package schedule

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv("SCHEDULE_TEST_KILL") != "" {
		saveAndDie() // a child of TestKilledSave
		os.Exit(0)
	}
	code := m.Run()
	if cluster.stop != nil {
		cluster.stop()
	}
	os.Exit(code)
}

// databases runs a test on SQLite and, where it is installed, on PostgreSQL:
// each time on a new database, filled with the demo data, and both at once: the
// one waits while the other computes.
func databases(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	for name, made := range map[string]func(testing.TB) string{"sqlite": sqliteDSN, "postgres": postgresDSN} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, made(t))
		})
	}
}

// demoFile is a SQLite database with the demo data, made once.
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

// postgresDSN gives a database of its own in the tests' cluster.
func postgresDSN(t testing.TB) string {
	t.Helper()
	cluster.once.Do(func() {
		if cluster.dsn, cluster.stop, cluster.why = startPostgres(); cluster.why == nil {
			onCluster(t, "CREATE DATABASE demo")
			if err := Init(t.Context(), databaseDSN("demo"), true); err != nil {
				t.Fatal(err)
			}
		}
	})
	if cluster.why != nil {
		t.Skipf("PostgreSQL: %v", cluster.why)
	}
	name := fmt.Sprintf("test_%d", copies.Add(1))
	onCluster(t, "CREATE DATABASE "+name+" TEMPLATE demo")
	return databaseDSN(name)
}

func databaseDSN(name string) string {
	return strings.Replace(cluster.dsn, "/postgres?", "/"+name+"?", 1)
}

func onCluster(t testing.TB, statement string) {
	t.Helper()
	db, err := connect(cluster.dsn, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.write.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

var cluster struct {
	once sync.Once
	dsn  string
	stop func()
	why  error // there is none
}

// startPostgres starts a cluster of its own on a loopback port. PostgreSQL
// refuses to run as root; then it runs as the system user postgres.
func startPostgres() (dsn string, stop func(), err error) {
	bin, err := postgresPrograms()
	if err != nil {
		return "", nil, err
	}
	as, err := postgresUser()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("/tmp", "schedule-postgres-")
	if err != nil {
		return "", nil, err
	}
	remove := func() { os.RemoveAll(dir) }
	if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			remove()
			return "", nil, err
		}
	}
	program := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir, c.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGKILL}
		return c
	}
	data := filepath.Join(dir, "data")
	if out, err := program("initdb", "-D", data, "-U", "tester", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C").CombinedOutput(); err != nil {
		remove()
		return "", nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort()
	if err != nil {
		remove()
		return "", nil, err
	}
	server := program("postgres", "-D", data, "-h", "127.0.0.1", "-p", port, "-k", dir, "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200")
	if err := server.Start(); err != nil {
		remove()
		return "", nil, err
	}
	stop = func() {
		_ = server.Process.Signal(syscall.SIGINT)
		_ = server.Wait()
		remove()
	}
	dsn = "postgres://tester@127.0.0.1:" + port + "/postgres?sslmode=disable"
	if err := answers(dsn); err != nil {
		stop()
		return "", nil, err
	}
	return dsn, stop, nil
}

func postgresPrograms() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errors.New("not installed")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// postgresUser is nil where the tests do not run as root.
func postgresUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, errors.New("root cannot run it, and there is no user postgres")
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// answers waits until a server takes connections.
func answers(dsn string) error {
	db, err := connect(dsn, true)
	if err != nil {
		return err
	}
	defer db.Close()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		if err = db.read.Ping(); err == nil {
			return nil
		}
		<-tick.C
	}
	return fmt.Errorf("no answer: %s", strings.TrimSpace(err.Error()))
}
