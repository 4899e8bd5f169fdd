package query

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/seed61713e19/capstan/runner/journal/postgres"
	"github.com/seed61713e19/capstan/runner/journal/statements"
)

// onServer runs a statement on a database of PostgreSQL.
func onServer(ctx context.Context, o open, s statements.Statement) (int64, error) {
	at, err := postgres.ParseForeign(o.address)
	if err != nil {
		return 0, err
	}
	changed, err := postgres.Query(ctx, at, s)
	if postgres.Away(err) || postgres.Code(err) == "28P01" || postgres.Code(err) == "3D000" {
		words, why := postgres.Words(err)
		if err = errors.New(words); why != nil {
			err = errors.New(words + ": " + why.Error())
		}
	}
	return changed, err
}

// secrets are the passwords of an address, as it has them and as they are meant.
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
