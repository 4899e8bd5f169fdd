package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Code returns the SQLSTATE code of an error, or "" if the error is not from the server.
func Code(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}

// Own reports whether an error comes from the server or the connection to it.
func Own(err error) bool { return Code(err) != "" || Away(err) }

// Away reports whether the server was unreachable or stopped answering. A retry may succeed. A
// cancelled context does not count.
func Away(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	switch code := Code(err); {
	case err == nil || errors.Is(err, context.Canceled):
		return false
	case code != "":
		// Class 08 means a connection error. With the other codes, the server stops, has crashed,
		// starts, has ended an idle connection, or accepts no more connections.
		return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P") || code == "25P03" || code == "53300"
	case errors.As(err, &connect), errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return true
	}
	return pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "conn busy")
}

// Full reports whether the server lacks a resource: disk space, memory or connections.
func Full(err error) bool { return strings.HasPrefix(Code(err), "53") }

// Words returns a description of an error, and the error to print after it, which may
// be nil. Neither contains a password.
func Words(err error) (words string, cause error) {
	var connect *pgconn.ConnectError
	if Code(err) == "" && (errors.As(err, &connect) || Away(err)) {
		return "the server cannot be reached", reason(err)
	}
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return "", err
	}
	cause = errors.New(pgErr.Message)
	switch pgErr.Code {
	case "28P01", "28000":
		return "the server does not let this user in (the password goes in PGPASSWORD or ~/.pgpass)", cause
	case "3D000":
		return "there is no such database (createdb makes one)", cause
	case "42501":
		return "this user has no right to do that", cause
	case "53100":
		return "the server's disk is full", cause
	case "53300":
		return "the server takes no more connections", cause
	case "57P01", "57P02", "57P03":
		return "the server is stopping or starting", cause
	case "57P04", "57P05", "25P03":
		return "the server has ended the connection", cause
	case "25006":
		return "the server is read-only", cause
	case "26000", "42P05": // prepared statements are missing, or belong to another session
		return pooled, cause
	case "55P03":
		return "another process holds the schema and does not continue: end that process, or wait for it", cause
	case "57014":
		return "statement_timeout has ended a statement: raise it for this user (ALTER ROLE NAME SET statement_timeout = 0)", cause
	case "54000", "22001":
		return "a text is too long to store", cause
	}
	return "the journal", cause
}

const pooled = "between here and the server is a pooler of transactions, and a journal needs sessions (pool_mode = session)"

// reason returns the innermost error, because the outer ones repeat the address.
func reason(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("no answer in time")
	}
	for {
		next := errors.Unwrap(err)
		if several, ok := err.(interface{ Unwrap() []error }); ok && len(several.Unwrap()) > 0 {
			next = several.Unwrap()[0]
		}
		if next == nil {
			return err
		}
		if op, ok := next.(*net.OpError); ok {
			return op.Err
		}
		err = next
	}
}

// Wrong reports whether the statement caused the error, not the server.
func Wrong(err error) bool {
	code := Code(err)
	return code != "" && (strings.HasPrefix(code, "42") || strings.HasPrefix(code, "22") || strings.HasPrefix(code, "0A") || strings.HasPrefix(code, "25") || strings.HasPrefix(code, "21") || strings.HasPrefix(code, "2F"))
}

// Refused reports whether a statement by [Unless] found no row.
func Refused(err error) bool { return Code(err) == "22012" }

// Unless returns a statement that fails if the query has no row. The statements sent together
// with it are then rolled back.
func Unless(query string) string {
	return "SELECT 1 / count(*) FROM (" + query + ") AS stands"
}
