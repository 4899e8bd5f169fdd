// Package databases opens files of SQLite and runs one statement of an untrusted author: a
// person at a prompt, or a model in a call. The package postgres connects to PostgreSQL.
//
// The statement is checked before it runs, by the database that runs it. SQLite reports
// each action of a statement while it compiles the statement, see [OnFile]. PostgreSQL
// returns the tree of the statement. This package reads SQL only to see that it is one
// statement. A statement is limited by its context and by its caller, which takes one
// row after the other and may stop.
package databases

import (
	"database/sql/driver"
	"errors"
	"strings"
	"time"
)

// A Statement is one statement, and where what it gives goes.
type Statement struct {
	Text    string
	Values  []any                            // for its ? or $1: nil, bool, string, int64 or float64
	Writes  bool                             // it may insert, update and delete, not only read
	Exact   bool                             // a server's numbers come as json.Number, its JSON as json.RawMessage
	Timeout time.Duration                    // that a server gives it by itself; 0 for none
	Columns func(names []string)             // is called before the first row
	Row     func(values []driver.Value) bool // false is enough of them; the values must not be kept
}

// single gives the one statement that a text holds, without what ends it. What it
// takes for quoted is quoted for SQLite, or ends the text.
func single(sql string) (string, error) {
	if strings.ContainsRune(sql, 0) {
		return "", errors.New("a statement has no NUL in it")
	}
	found, end := false, -1 // of the statement
	for i := 0; i < len(sql); {
		n := lexeme(sql[i:])
		blank := strings.TrimSpace(sql[i:i+n]) == "" || strings.HasPrefix(sql[i:], "--") || strings.HasPrefix(sql[i:], "/*")
		switch {
		case blank:
		case sql[i] == ';' && end < 0:
			end = i
		case end >= 0 && sql[i] != ';':
			return "", errors.New("want one statement, not several")
		case sql[i] != ';':
			found = true
		}
		i += n
	}
	if end >= 0 {
		sql = sql[:end]
	}
	if !found {
		return "", errors.New("there is no statement")
	}
	return sql, nil
}

// lexeme is how many bytes the quoted name, string or comment takes that s
// begins with, or 1.
func lexeme(s string) int {
	until := ""
	switch {
	case strings.HasPrefix(s, "--"):
		until = "\n"
	case strings.HasPrefix(s, "/*"):
		until = "*/"
	case s[0] == '[':
		until = "]"
	case s[0] == '\'' || s[0] == '"' || s[0] == '`':
		until = s[:1]
	default:
		return 1
	}
	skip := len(until)
	if skip > 1 || until == "\n" || until == "]" {
		skip = min(2, len(s))
		if until == "]" {
			skip = 1
		}
	}
	if n := strings.Index(s[skip:], until); n >= 0 {
		return skip + n + len(until)
	}
	return len(s)
}
