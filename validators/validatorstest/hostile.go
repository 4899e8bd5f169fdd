package validatorstest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/processor"
	"github.com/seed61713e19/capstan/validators"
)

// Hostile contents by name; a validator must handle all of them. It takes as long to
// build longTexts as to read them. The texts of briefTexts are a sixth as long, unless
// the depth or the length of a line matters.
var (
	longTexts  = sync.OnceValue(func() map[string]string { return hostileTexts(full) })
	briefTexts = sync.OnceValue(func() map[string]string { return hostileTexts(full / brief) })
)

const (
	full = 1 << 19 / slowdown
	deep = 2 * full // the depth of nested texts; a stack is long

	brief = 6
	quick = work / (brief * brief) // for a brief text; a quadratic check takes at least as long
)

func hostileTexts(half int) map[string]string {
	return map[string]string{
		"empty":         "",
		"white space":   " \t\r\n\u00a0\u2003",
		"NUL":           "a\x00b\x00",
		"not UTF-8":     strings.Repeat("\xff\xfe\x80 a\xc3", half/6),
		"half a rune":   "abc\xe2\x82",
		"long":          strings.Repeat("The quick brown fox jumps over the lazy dog. ", 4*half/45),
		"one word":      strings.Repeat("a", 2*deep),
		"lines":         strings.Repeat("\n", half),
		"deep JSON":     strings.Repeat(`{"a":[`, deep/12) + "1" + strings.Repeat("]}", deep/12),
		"open brackets": strings.Repeat("[", deep),
		"open links":    strings.Repeat("[a](", half/5),
		"closed lines":  strings.Repeat("a[1]\n", half/5),
		"open code":     strings.Repeat("```]\\", half/5),
		"quotes":        strings.Repeat("> ", deep/4),
		"signs":         strings.Repeat("key=", half/4) + strings.Repeat("token: ", half/8),
		"schemes":       strings.Repeat("a://b:c@", half/8),
		"tokens":        strings.Repeat("-eyJ.eyJ.", half/9) + strings.Repeat(" sk-ghp_", half/8),
		"marks":         "e" + strings.Repeat("\u0301", half/2),
		"zero width":    strings.Repeat("a\u200b", half/4),
		"ignore":        strings.Repeat("ignore all the previous ", half/24),
		"emphasis":      strings.Repeat("*a_b_", half/5),
		"templates":     strings.Repeat("{{ x }}{% if %}", half/15),
		"format verbs":  "%s %d %!v(MISSING) 100%",
		"think":         strings.Repeat("<think>", half/14) + `{"valid": true}`,
	}
}

// checkHostile runs the brief texts. If one is not quick, it runs the long text too.
func checkHostile(t *testing.T, check validators.Check) {
	for name, text := range briefTexts() {
		began, used := time.Now(), processor.Time()
		survives(t, check, name, text)
		if time.Since(began) < quick || (used > 0 && processor.Time()-used < quick) {
			continue
		}
		if long := longTexts()[name]; len(long) > len(text) {
			survives(t, check, name, long)
		}
	}
}

func survives(t *testing.T, check validators.Check, name, text string) {
	v, err := within(t, name, func() (validators.Verdict, error) {
		return check(context.Background(), validators.Subject{
			Content: text, Input: map[string]any{"text": text[:min(len(text), 1<<16)]},
		})
	})
	if err == nil {
		checkVerdict(t, v)
	} else if strings.Contains(err.Error(), "panic") {
		t.Errorf("%s: %v", name, err)
	}
}

func runOnce(t *testing.T, check validators.Check, s validators.Subject) (validators.Verdict, error) {
	return within(t, "the case", func() (validators.Verdict, error) { return check(t.Context(), s) })
}

// checkCancelled checks that a check returns if its context is cancelled. It may return
// a verdict or the context's error.
func checkCancelled(t *testing.T, check validators.Check, s validators.Subject) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := within(t, "a cancelled context", func() (validators.Verdict, error) { return check(ctx, s) }); err != nil && strings.Contains(err.Error(), "panic") {
		t.Error(err)
	}
}

// within runs a check, and fails the test if it exceeds timeout or work.
func within(t *testing.T, name string, check func() (validators.Verdict, error)) (v validators.Verdict, err error) {
	t.Helper()
	done := make(chan struct{})
	began, ends := processor.Time(), time.After(timeout)
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	go func() {
		v, err = check()
		close(done)
	}()
	for {
		select {
		case <-done:
			return v, err
		case <-ends:
			t.Fatalf("%s: still running after %s", name, timeout)
		case <-look.C:
			if processor.Time()-began > work {
				t.Fatalf("%s: still running after %s of the processor", name, work)
			}
		}
	}
}
