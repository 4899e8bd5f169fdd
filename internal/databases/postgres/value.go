package postgres

import (
	"bytes"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// The numbers that PostgreSQL has for types.
const (
	oidBool, oidBytes                      = 16, 17
	oidInt8, oidInt2, oidInt4              = 20, 21, 23
	oidFloat4, oidFloat8, oidNumeric       = 700, 701, 1700
	formatText, formatBinary         int16 = 0, 1
)

// PostgreSQL has no NUL in its texts. A NUL is written as the two characters
// that nothing else gives: the last of Unicode, which is none, and a 0.
const (
	escape  = "\U0010FFFF"
	nul     = escape + "0"
	literal = escape + "1"
)

// wire is a value as it goes to the server: bytes as they are, all else as text.
func wire(v any) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(nil, v, 10)
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64)
	case []byte:
		return append([]byte{}, v...)
	case string:
		if !utf8.ValidString(v) {
			v = strings.ToValidUTF8(v, "\uFFFD")
		}
		if strings.Contains(v, escape) {
			v = strings.ReplaceAll(v, escape, literal)
		}
		if strings.IndexByte(v, 0) >= 0 {
			v = strings.ReplaceAll(v, "\x00", nul)
		}
		return append([]byte{}, v...)
	}
	return nil
}

// formats are those of a statement's values.
func formats(as *pgconn.StatementDescription) []int16 {
	if !slices.Contains(as.ParamOIDs, oidBytes) {
		return nil
	}
	list := make([]int16, len(as.ParamOIDs))
	for i, oid := range as.ParamOIDs {
		if oid == oidBytes {
			list[i] = formatBinary
		}
	}
	return list
}

// value is a value as the server gives it, in text: int64, float64, string,
// []byte, bool or nil.
func value(oid uint32, raw []byte) driver.Value {
	if raw == nil {
		return nil
	}
	text := string(raw)
	switch oid {
	case oidInt2, oidInt4, oidInt8:
		n, _ := strconv.ParseInt(text, 10, 64)
		return n
	case oidNumeric:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		fallthrough
	case oidFloat4, oidFloat8:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case oidBool:
		return text == "t"
	case oidBytes:
		if b, err := hex.DecodeString(strings.TrimPrefix(text, `\x`)); err == nil {
			return b
		}
	}
	if strings.Contains(text, escape) {
		text = strings.NewReplacer(nul, "\x00", literal, escape).Replace(text)
	}
	return text
}

// The numbers that it has for JSON.
const oidJSON, oidJSONB = 114, 3802

// exact is a value with every digit of a number, and JSON as it is.
func exact(oid uint32, raw []byte) driver.Value {
	if raw == nil {
		return nil
	}
	switch oid {
	case oidFloat4, oidFloat8, oidNumeric, oidJSON, oidJSONB:
		if !json.Valid(raw) { // NaN and Infinity are none
			return string(raw)
		}
		if oid == oidJSON || oid == oidJSONB {
			return json.RawMessage(bytes.Clone(raw))
		}
		return json.Number(raw)
	case oidInt2, oidInt4, oidInt8, oidBool, oidBytes:
		return value(oid, raw)
	}
	return string(raw)
}

// spelt is a value of a stranger's as the server reads it.
func spelt(v any) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		return strconv.AppendBool(nil, v)
	case string:
		return []byte(v)
	}
	return wire(v)
}
