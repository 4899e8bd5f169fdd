package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
)

// Listen calls ready when it listens on a channel, and receive with each notification,
// until ctx or the connection ends. It opens its own connection.
func Listen(ctx context.Context, a *Address, channel string, ready func(), receive func(payload string)) error {
	config := a.config.Copy()
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { receive(n.Payload) }
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
