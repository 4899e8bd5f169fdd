// Package postgrestest starts a PostgreSQL of its own for tests, where its
// programs are installed: on a loopback port, in a directory that goes with it.
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
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A Cluster is a server of its own.
type Cluster struct {
	dir, bin, port string
	as             *syscall.Credential
	server         *exec.Cmd
}

// ErrNone says that PostgreSQL is not installed here.
var ErrNone = errors.New("PostgreSQL is not installed (apt-get install postgresql)")

// Start makes a cluster, whose user tester may do everything, and starts it.
// PostgreSQL refuses to run as root; then it runs as the system's user postgres.
func Start() (*Cluster, error) {
	c := &Cluster{}
	var err error
	if c.bin, err = programs(); err != nil {
		return nil, err
	}
	if c.as, err = systemUser(); err != nil {
		return nil, err
	}
	if c.dir, err = os.MkdirTemp("/tmp", "capstan-postgres-"); err != nil {
		return nil, err
	}
	if c.as != nil {
		err = os.Chown(c.dir, int(c.as.Uid), int(c.as.Gid))
	}
	if err == nil {
		var out []byte
		out, err = c.program("initdb", "-D", c.data(), "-U", "tester", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("initdb: %w: %s", err, out)
		}
	}
	if err == nil {
		c.port, err = freePort()
	}
	if err == nil {
		err = c.Go()
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
	p.Dir, p.SysProcAttr = c.dir, &syscall.SysProcAttr{Credential: c.as, Pdeathsig: syscall.SIGKILL}
	return p
}

// Go starts the server and waits until it answers.
func (c *Cluster) Go() error {
	c.server = c.program("postgres", "-D", c.data(), "-h", "127.0.0.1", "-p", c.port, "-k", c.dir, "-c", "fsync=off",
		"-c", "full_page_writes=off", "-c", "max_connections=200", "-c", "shared_buffers=64MB")
	if err := c.server.Start(); err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var err error
	for range 500 {
		var pg *pgconn.PgConn
		if pg, err = pgconn.Connect(context.Background(), c.Address("postgres")); err == nil {
			return pg.Close(context.Background())
		}
		<-tick.C
	}
	return fmt.Errorf("no answer: %w", err)
}

// Halt stops the server: the connections that there are are cut.
func (c *Cluster) Halt() {
	if c.server != nil && c.server.Process != nil {
		_ = c.server.Process.Signal(syscall.SIGINT)
		_ = c.server.Wait()
		c.server = nil
	}
}

// Stop stops the server and takes its directory away.
func (c *Cluster) Stop() {
	c.Halt()
	_ = os.RemoveAll(c.dir)
}

// Address is that of one of the cluster's databases.
func (c *Cluster) Address(database string) string {
	return "postgres://tester@127.0.0.1:" + c.port + "/" + database + "?sslmode=disable"
}

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
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", ErrNone
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// systemUser is nil where the tests do not run as root.
func systemUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, errors.New("root cannot run PostgreSQL, and there is no user postgres")
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
