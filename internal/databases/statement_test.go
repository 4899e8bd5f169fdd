package databases

import (
	"strings"
	"testing"
)

func TestSingle(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1": "SELECT 1", "SELECT 1;": "SELECT 1", "SELECT ';' ; -- x\n;": "SELECT ';' ", "SELECT [;] /* ; */": "SELECT [;] /* ; */",
		"": "", ";": "", "-- x": "", "SELECT 1; SELECT 2": "", "SELECT 1\x00": "", "SELECT '''; DELETE FROM x; --'; DELETE FROM x": "",
	} {
		if got, err := single(sql); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", sql, got, err)
		}
	}
}

func FuzzSingle(f *testing.F) {
	for _, seed := range []string{"SELECT 1;", "--\n;", "/*", "'';'", "[;];", "\"\";", "`", ";;", "-", "/", "[]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if got, err := single(sql); err == nil && (!strings.HasPrefix(sql, got) || got == "") {
			t.Errorf("got %q", got)
		}
	})
}
