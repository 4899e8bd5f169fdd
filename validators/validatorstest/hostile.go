package validatorstest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators"
)

// hostileTexts are hostile contents by name: what a validator must survive. They
// take as long to make as many a validator takes to read them.
var hostileTexts = sync.OnceValue(func() map[string]string {
	const mega = 1 << 20 / slowdown
	return map[string]string{
		"empty":         "",
		"white space":   " \t\r\n\u00a0\u2003",
		"NUL":           "a\x00b\x00",
		"not UTF-8":     strings.Repeat("\xff\xfe\x80 a\xc3", mega/6),
		"half a rune":   "abc\xe2\x82",
		"long":          strings.Repeat("The quick brown fox jumps over the lazy dog. ", 4*mega/45),
		"one word":      strings.Repeat("a", 4*mega),
		"lines":         strings.Repeat("\n", mega),
		"deep JSON":     strings.Repeat(`{"a":[`, mega/12) + "1" + strings.Repeat("]}", mega/12),
		"open brackets": strings.Repeat("[", mega),
		"open links":    strings.Repeat("[a](", mega/8),
		"closed lines":  strings.Repeat("a[1]\n", mega/5),
		"open code":     strings.Repeat("```]\\", mega/5),
		"quotes":        strings.Repeat("> ", mega/4),
		"signs":         strings.Repeat("key=", mega/4) + strings.Repeat("token: ", mega/8),
		"schemes":       strings.Repeat("a://b:c@", mega/8),
		"tokens":        strings.Repeat("-eyJ.eyJ.", mega/9) + strings.Repeat(" sk-ghp_", mega/8),
		"marks":         "e" + strings.Repeat("\u0301", mega/2),
		"zero width":    strings.Repeat("a\u200b", mega/4),
		"ignore":        strings.Repeat("ignore all the previous ", mega/24),
		"emphasis":      strings.Repeat("*a_b_", mega/5),
		"templates":     strings.Repeat("{{ x }}{% if %}", mega/15),
		"format verbs":  "%s %d %!v(MISSING) 100%",
		"think":         strings.Repeat("<think>", mega/14) + `{"valid": true}`,
	}
})

func hostile(t *testing.T, check validators.Check) {
	for name, text := range hostileTexts() {
		v, err := within(t, name, func() (validators.Verdict, error) {
			return check(context.Background(), validators.Subject{
				Content: text, Input: map[string]any{"text": text[:min(len(text), 1<<16)]},
			})
		})
		if err == nil {
			sound(t, v)
		} else if strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func judgeOnce(t *testing.T, check validators.Check, s validators.Subject) (validators.Verdict, error) {
	return within(t, "the case", func() (validators.Verdict, error) { return check(t.Context(), s) })
}

// cancelled wants an end, be it with a verdict or the context's error.
func cancelled(t *testing.T, check validators.Check, s validators.Subject) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := within(t, "a cancelled context", func() (validators.Verdict, error) { return check(ctx, s) }); err != nil && strings.Contains(err.Error(), "panic") {
		t.Error(err)
	}
}

// within runs a check that must end in time.
func within(t *testing.T, name string, check func() (validators.Verdict, error)) (v validators.Verdict, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		v, err = check()
		close(done)
	}()
	select {
	case <-done:
		return v, err
	case <-time.After(patience):
		t.Fatalf("%s: still running after %s", name, patience)
		return v, err
	}
}
