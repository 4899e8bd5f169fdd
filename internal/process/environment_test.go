//go:build unix

package process

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// cleared empties the environment of this process for a test.
func cleared(t *testing.T, pairs ...string) {
	t.Helper()
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value) // restores it after the test
		os.Unsetenv(name)
	}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
}

// TestEnvironment checks that a program sees only the plain variables and those passed by name.
func TestEnvironment(t *testing.T) {
	cleared(t, "PATH=/bin:/usr/bin", "HOME=/home/owl", "LANG=de_DE.UTF-8", "LC_ALL=C", "TMPDIR=/tmp", "TZ=UTC",
		"OPENAI_API_KEY=sk-secret", "MY_KEY=k={{ env.OPENAI_API_KEY }}", "EMPTY=", "path=/lower", "lc_x=y", "USER=owl", "LD_PRELOAD=x.so")
	plain := []string{"HOME=/home/owl", "LANG=de_DE.UTF-8", "LC_ALL=C", "PATH=/bin:/usr/bin", "TMPDIR=/tmp", "TZ=UTC"}
	for _, c := range []struct {
		name string
		own  []string
		want []string
	}{
		{"nothing is named", nil, plain},
		{"an empty list is no other than none", []string{}, plain},
		{"passed on, and not read as a template", []string{"MY_KEY"}, append([]string{"MY_KEY=k={{ env.OPENAI_API_KEY }}"}, plain...)},
		{"passed on though empty", []string{"EMPTY"}, append([]string{"EMPTY="}, plain...)},
		{"set", []string{"A=b=c"}, append([]string{"A=b=c"}, plain...)},
		{"set to nothing", []string{"A="}, append([]string{"A="}, plain...)},
		{"set from another", []string{"KEY=<{{ env.EMPTY }}{{env.TZ}}>"}, append([]string{"KEY=<UTC>"}, plain...)},
		{"in place of a plain one", []string{"HOME=/elsewhere"}, slices.Replace(slices.Clone(plain), 0, 1, "HOME=/elsewhere")},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := Run(t.Context(), Command{Argv: []string{"env"}, Env: c.own})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSpace(string(out.Stdout)), "\n")
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestEnvironmentMissing checks that a missing variable is an error, not an empty value.
func TestEnvironmentMissing(t *testing.T) {
	cleared(t, "PATH=/bin:/usr/bin")
	_, err := Run(t.Context(), Command{Argv: []string{"env"}, Env: []string{"MY_KEY", "A={{ env.OTHER }}", "B=b", "MY_KEY"}})
	if !errors.Is(err, ErrNotStarted) || !strings.Contains(err.Error(), "the environment has no MY_KEY and no OTHER") {
		t.Errorf("got %v", err)
	}
	if got := Missing([]string{"MY_KEY", "PATH", "A={{ env.OTHER }}"}); !slices.Equal(got, []string{"MY_KEY", "OTHER"}) {
		t.Errorf("got %q", got)
	}
}

func TestExpand(t *testing.T) {
	cleared(t, "TEAM=owls", "EVIL={{ env.TEAM }}")
	for text, want := range map[string]string{
		"": "", "plain": "plain", "{{ env.TEAM }}": "owls", "Bearer {{env.TEAM}}, {{- env.TEAM -}}": "Bearer owls, owls",
		"{{ env.EVIL }}": "{{ env.TEAM }}", "{{ input.TEAM }}": "{{ input.TEAM }}",
	} {
		if got, err := Expand(text); got != want || err != nil {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
	if _, err := Expand("{{ env.TEAN }}"); err == nil || !strings.Contains(err.Error(), "the environment has no TEAN") {
		t.Errorf("got %v", err)
	}
}

// TestConceal checks that a program's error output does not contain its secrets, even if a secret
// contains another one.
func TestConceal(t *testing.T) {
	cleared(t, "LONG=12345678", "LONGER=12345678-90", "SHORT=1234567", "PATH=/usr/bin:/bin", "OTHER=not-given-to-it", "LINE=with-line-end\n")
	own := []string{"LONG", "A={{ env.LONGER }}", "SHORT", "PATH", "LINE"}
	got := Conceal(own, "12345678-90 12345678 1234567 /usr/bin:/bin not-given-to-it with-line-end")
	if want := "[redacted LONGER] [redacted LONG] 1234567 /usr/bin:/bin not-given-to-it [redacted LINE]"; got != want {
		t.Errorf("got %s", got)
	}
}
