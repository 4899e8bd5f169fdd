package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Code is the server's own code of an error, "" where it is none of the
// server's.
func Code(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}

// Own tells an error of the server or the way to it.
func Own(err error) bool { return Code(err) != "" || Away(err) }

// Away tells that the server could not be reached, or did not answer to the end:
// it may later. A cancelled context is not that.
func Away(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	switch code := Code(err); {
	case err == nil || errors.Is(err, context.Canceled):
		return false
	case code != "":
		// Class 08 is of connections; the server stops, has crashed, or starts, or ended
		// one that was idle for too long.
		return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P") || code == "25P03" || code == "53300"
	case errors.As(err, &connect), errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return true
	}
	return pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "conn busy")
}

// Full tells that the server lacks room, on its disk or in its memory.
func Full(err error) bool { return strings.HasPrefix(Code(err), "53") }

// Words returns what is wrong, and the cause to report with it, which may
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
	case "26000", "42P05": // statements that were prepared are not there, or are somebody else's
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

// reason is the last of what went wrong: all before it names the address once
// more.
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

// Wrong tells of a statement that is wrong, not the server.
func Wrong(err error) bool {
	code := Code(err)
	return code != "" && (strings.HasPrefix(code, "42") || strings.HasPrefix(code, "22") || strings.HasPrefix(code, "0A") || strings.HasPrefix(code, "25") || strings.HasPrefix(code, "21") || strings.HasPrefix(code, "2F"))
}

// Refused tells of a condition that a statement of the journal had and that did
// not hold: [Unless] makes one.
func Refused(err error) bool { return Code(err) == "22012" }

// Unless is a statement that fails, with all that is sent with it, unless the
// query has a row.
func Unless(query string) string {
	return "SELECT 1 / count(*) FROM (" + query + ") AS stands"
}
