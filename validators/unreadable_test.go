package validators

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode"
)

func TestUnreadable(t *testing.T) {
	cause := errors.New("verdict: no")
	if err := Unreadable(nil, "x"); err != nil {
		t.Error(err)
	}
	key := "sk-proj-" + "abC9dEf3Ghi7Jkl1Mno5Pqr8Stu2Vwx4Yz6A" // in two parts, so that the source contains no key
	for text, want := range map[string]string{
		"":                                   "verdict: no; it gave nothing",
		" \n\x00 ":                           "verdict: no; it gave nothing",
		"I think it\nis \x1b[31mfine":        "verdict: no; it gave: I think it is [31mfine",
		"a\u202eb\u2028c\u009bd":             "verdict: no; it gave: a b c d",
		"\xff\xfe":                           "verdict: no; it gave: \uFFFD",
		"the key is " + key:                  "verdict: no; it gave: the key is [secret]",
		strings.Repeat("a", 295) + " " + key: "[s",
		strings.Repeat("é", 1000):            "éé…",
	} {
		err := Unreadable(cause, text)
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), key[:20]) {
			t.Errorf("%q: %v", text, err)
		}
		if i := strings.IndexFunc(err.Error(), unicode.IsControl); i >= 0 || len([]rune(err.Error())) > 340 {
			t.Errorf("%q: %q", text, err)
		}
	}
}

// The error shows a program's unreadable output without its secrets, even if a
// secret crosses the cut.
func TestUnreadableProgram(t *testing.T) {
	const confided = "hunter2-of-the-operator"
	t.Setenv("CONFIDED", confided)
	for _, script := range []string{`echo "All is well"; echo $CONFIDED`, `printf '%0298d' 7; echo $CONFIDED`} {
		_, err := Exec{Argv: []string{"sh", "-c", script}, Env: []string{"CONFIDED"}}.Check(nil)(context.Background(), Subject{})
		if err == nil || strings.Contains(err.Error(), "hu") || !strings.Contains(err.Error(), "it gave: ") {
			t.Errorf("%s: %v", script, err)
		}
	}
}
