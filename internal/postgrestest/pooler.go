package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Pool starts a PgBouncer in front of the cluster. The mode is session or
// transaction. PgBouncer ends with the cluster. Pool returns the address of a
// database behind it.
func (c *Cluster) Pool(mode, database string) (address string, err error) {
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		return "", errors.New("PgBouncer is not installed (apt-get install pgbouncer)")
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	settings := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%s user=tester\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=%s\nunix_socket_dir=\nauth_type=any\npool_mode=%s\nlogfile=%s\npidfile=\n",
		c.port, port, mode, filepath.Join(c.dir, "pooler.log"))
	file := filepath.Join(c.dir, mode+".ini")
	if err := os.WriteFile(file, []byte(settings), 0o644); err != nil {
		return "", err
	}
	p := c.program("postgres", "-q", file)
	p.Path, p.Args[0] = bin, bin
	if err := p.Start(); err != nil {
		return "", err
	}
	c.beside = append(c.beside, p)
	address = strings.Replace(c.Address(database), ":"+c.port+"/", ":"+port+"/", 1)
	return address, answers(address)
}

// answers waits until a server does.
func answers(address string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var err error
	for range 500 {
		var pg *pgconn.PgConn
		if pg, err = pgconn.Connect(context.Background(), address); err == nil {
			return pg.Close(context.Background())
		}
		<-tick.C
	}
	return fmt.Errorf("no answer: %w", err)
}
