package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5/pgconn"
)

// Listen calls ready when it hears what is told on a channel, and heard with
// each of it, until ctx ends or the connection does. The connection is its own.
func Listen(ctx context.Context, a *Address, channel string, ready func(), heard func(payload string)) error {
	config := a.config.Copy()
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { heard(n.Payload) }
	pg, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	c := &Conn{pg: pg}
	defer c.Close()
	if err := c.Script("LISTEN " + Quoted(channel)); err != nil {
		return err
	}
	ready()
	for {
		if err := pg.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}

// Query runs one statement of a person, in a transaction that only reads, and
// calls row with each row until it is full. When ctx ends
// the server is told to stop.
func Query(ctx context.Context, a *Address, text string, columns func([]string), full func() bool, row func([]driver.Value)) error {
	own := &Address{config: a.config.Copy()}
	own.config.RuntimeParams["default_transaction_read_only"] = "on"
	c, err := Dial(ctx, own, 0)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.Background(), own.config.ConnectTimeout)
		defer cancel()
		_ = c.pg.CancelRequest(last)
	})
	defer stop()
	as, err := c.pg.Prepare(context.Background(), "", text, nil)
	if err != nil {
		return err
	}
	if len(as.ParamOIDs) > 0 {
		return errors.New("a statement has no $1 or the like in it")
	}
	var names []string
	for _, f := range as.Fields {
		names = append(names, f.Name)
	}
	columns(names)
	r := c.pg.ExecStatement(context.Background(), as, nil, nil, nil)
	fields := as.Fields
	for !full() && r.NextRow() {
		values := make([]driver.Value, len(fields))
		for i, raw := range r.Values() {
			values[i] = value(fields[i].DataTypeOID, raw)
		}
		row(values)
	}
	if full() {
		return nil // the rest is not read: the connection goes
	}
	_, err = r.Close()
	return err
}

// Reads tells of a statement that begins as one that reads does.
func Reads(text string) bool {
	for {
		text = strings.TrimSpace(strings.TrimLeft(text, "( \n\t\r"))
		switch {
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
			continue
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
			continue
		}
		break
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(text)
	}
	switch strings.ToLower(text[:end]) {
	case "select", "with", "values", "table", "explain":
		return true
	}
	return false
}
