package given

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
)

// Models is what --model says, each time that it is written: a [cascades.Chosen], and
// a flag's value.
type Models string

// String gives the lines.
func (m *Models) String() string { return string(*m) }

// Type is what stands behind the flag in help.
func (m *Models) Type() string { return "model" }

// Set takes one more: the last default is the one.
func (m *Models) Set(text string) error {
	old, to, renames := strings.Cut(text, "=")
	scripted := strings.HasPrefix(text, "scripted:") || strings.HasPrefix(text, "replay:")
	switch {
	case strings.ContainsAny(text, "\r\n"):
		return errors.New("a model's name is one line")
	case renames && !scripted && (strings.TrimSpace(old) == "" || strings.TrimSpace(to) == ""):
		return errors.New("want NAME, OLD=NEW or '*=NEW'")
	}
	*m = Models(strings.Trim(text+"\n"+string(*m), "\n"))
	return nil
}

// Chosen gives what is asked in place of what the cascade in a file says, a
// [cascades.Chosen]: the flag's default, else the environment's, and what the flag, and
// then the environment, renames. "scripted" alone is the script beside the cascade:
// post.scripted.yaml for post.yaml. Of other names whole gives what stands for them.
func (m Models) Chosen(environment, cascade string, whole func(name string) string) string {
	stands := func(name string) string {
		if name == "scripted" || name == "scripted:" {
			return "scripted:" + strings.TrimSuffix(cascade, filepath.Ext(cascade)) + ".scripted.yaml"
		}
		return whole(name)
	}
	fallback := cascades.Chosen(environment)
	var lines []string
	if name := cmp.Or(cascades.Chosen(m).Default(), fallback.Default()); name != "" {
		lines = append(lines, stands(name))
	}
	for line := range strings.SplitSeq(string(m)+"\n"+string(fallback), "\n") {
		old, to, renames := strings.Cut(line, "=")
		if renames && cascades.Chosen(line).Default() == "" {
			lines = append(lines, old+"="+stands(to))
		}
	}
	return strings.Join(slices.Compact(lines), "\n")
}
