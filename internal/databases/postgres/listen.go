package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
)

// Listen subscribes to a channel on its own connection until ctx or the connection ends. It calls
// ready once it is subscribed, and receive with the payload of each notification.
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
