package query

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/internal/databases/postgres"
)

// runServer runs a statement on a PostgreSQL database.
func runServer(ctx context.Context, o openDatabase, s databases.Statement) (int64, error) {
	at, err := postgres.ParseForeign(o.address)
	if err != nil {
		return 0, err
	}
	changed, err := postgres.Query(ctx, at, s)
	if postgres.Away(err) || postgres.Code(err) == "28P01" || postgres.Code(err) == "3D000" {
		words, reason := postgres.Words(err)
		if err = errors.New(words); reason != nil {
			err = errors.New(words + ": " + reason.Error())
		}
	}
	return changed, err
}

// secrets returns the passwords in an address, encoded and decoded.
func secrets(address string) (list []string) {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	add := func(secret string) {
		if secret != "" {
			list = append(list, secret)
		}
	}
	if password, ok := u.User.Password(); ok {
		_, written, _ := strings.Cut(u.User.String(), ":")
		add(password)
		add(written)
	}
	for _, key := range []string{"password", "sslpassword"} {
		add(u.Query().Get(key))
	}
	return list
}
