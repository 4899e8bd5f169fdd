// Package postgrestest starts a separate PostgreSQL server for tests if
// PostgreSQL is installed. The server listens on a loopback port. Its directory
// is deleted after the tests.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// A Cluster is a separate PostgreSQL server.
type Cluster struct {
	dir, bin, port string
	as             *account // nil for who runs the tests
	server         *exec.Cmd
	beside         []*exec.Cmd // poolers
}

// errNone means that PostgreSQL is not installed.
var errNone = errors.New("PostgreSQL is not installed (apt-get install postgresql)")

// accessRules require a password only for the user guarded.
const accessRules = "host all guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\nlocal all all trust\n"

// Installed reports whether PostgreSQL is installed.
func Installed() bool {
	_, err := programs()
	return err == nil
}

// Start creates and starts a cluster. Its user tester is the superuser, and its
// user guarded needs a password. PostgreSQL refuses to run as root. In that
// case it runs as the system's user postgres.
func Start() (*Cluster, error) {
	c := &Cluster{}
	var err error
	if c.bin, err = programs(); err != nil {
		return nil, err
	}
	if c.as, err = systemUser(); err != nil {
		return nil, err
	}
	if c.dir, err = os.MkdirTemp(shortTemp(), "capstan-postgres-"); err != nil {
		return nil, err
	}
	if c.as != nil {
		err = os.Chown(c.dir, c.as.user, c.as.group)
	}
	if err == nil {
		var out []byte
		out, err = c.program("initdb", "-D", c.data(), "-U", "tester", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("initdb: %w: %s", err, out)
		}
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(c.data(), "pg_hba.conf"), []byte(accessRules), 0o600)
	}
	if err == nil {
		err = c.begin()
	}
	if err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) program(name string, args ...string) *exec.Cmd {
	p := exec.Command(filepath.Join(c.bin, name), args...)
	p.Dir, p.SysProcAttr = c.dir, attributes(c.as)
	return p
}

// Go starts the server and waits until it answers.
func (c *Cluster) Go() error {
	c.server = c.program("postgres", "-D", c.data(), "-h", "127.0.0.1", "-p", c.port, "-k", c.dir, "-c", "fsync=off",
		"-c", "full_page_writes=off", "-c", "jit=off", "-c", "autovacuum=off", "-c", "max_connections=200", "-c", "shared_buffers=64MB")
	if err := c.server.Start(); err != nil {
		return err
	}
	return answers(c.Address("postgres"))
}

// manyPorts limits how often begin starts the server.
const manyPorts = 5

// begin starts the server on a free port. PostgreSQL cannot take over an open
// listener. If another process takes the port first, begin tries the next port.
func (c *Cluster) begin() (err error) {
	for range manyPorts {
		if c.port, err = freePort(); err != nil {
			return err
		}
		if err = c.Go(); err == nil {
			return nil
		}
		c.end(os.Interrupt)
	}
	return err
}

// Halt stops the server and closes all connections.
func (c *Cluster) Halt() { c.end(os.Interrupt) }

// Crash stops the server as in a crash. The next [Cluster.Go] recovers from the
// write-ahead log.
func (c *Cluster) Crash() { c.end(crash) }

func (c *Cluster) end(how os.Signal) {
	if c.server != nil && c.server.Process != nil {
		if c.server.Process.Signal(how) != nil {
			_ = c.server.Process.Kill()
		}
		_ = c.server.Wait()
		c.server = nil
	}
}

// Stop stops the server and takes its directory away.
func (c *Cluster) Stop() {
	for _, p := range c.beside {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
	c.Halt()
	_ = os.RemoveAll(c.dir)
}

// Address returns the address of a database of the cluster.
func (c *Cluster) Address(database string) string {
	return "postgres://tester@127.0.0.1:" + c.port + "/" + database + "?sslmode=disable"
}

// PID is the number of the server's process, whose children serve the connections.
func (c *Cluster) PID() int { return c.server.Process.Pid }

// Do runs statements.
func (c *Cluster) Do(database, statements string) error {
	pg, err := pgconn.Connect(context.Background(), c.Address(database))
	if err != nil {
		return err
	}
	err = pg.Exec(context.Background(), statements).Close()
	return errors.Join(err, pg.Close(context.Background()))
}

func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	for _, place := range []string{"/usr/lib/postgresql/*/bin/initdb", "/opt/homebrew/opt/postgresql*/bin/initdb", "/usr/local/opt/postgresql*/bin/initdb", `C:\Program Files\PostgreSQL\*\bin\initdb.exe`} {
		if found, _ := filepath.Glob(place); len(found) > 0 {
			return filepath.Dir(found[len(found)-1]), nil
		}
	}
	return "", errNone
}

// shortTemp is where a socket may lie: its name has a hundred bytes at most, and
// macOS has directories for each user that are longer.
func shortTemp() string {
	if runtime.GOOS == "windows" {
		return ""
	}
	return "/tmp"
}

// An account is a user of the system.
type account struct{ user, group int }

// systemUser is nil where the tests do not run as root.
func systemUser() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, errors.New("root cannot run PostgreSQL, and there is no user postgres")
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	return &account{uid, gid}, err
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
