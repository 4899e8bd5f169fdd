// Package modelflag reads the flag --model of capstan and capstan-temporal.
package modelflag

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
)

// Models are the values of the flag --model in the form of [cascades.Chosen].
// It implements the interface of flag values.
type Models string

// String returns the values, one in each line.
func (m *Models) String() string { return string(*m) }

// Type returns the name of the value in the help text.
func (m *Models) Type() string { return "model" }

// Set adds one value of the flag. The last default wins.
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

// Chosen returns the models that replace those of a cascade's file, as a
// [cascades.Chosen]. The flag wins over the environment. The name "scripted" alone means
// the script beside the cascade: post.scripted.yaml for post.yaml. The function expand
// returns the full form of other names.
func (m Models) Chosen(environment, cascade string, expand func(name string) string) string {
	resolve := func(name string) string {
		if name == "scripted" || name == "scripted:" {
			return "scripted:" + strings.TrimSuffix(cascade, filepath.Ext(cascade)) + ".scripted.yaml"
		}
		return expand(name)
	}
	fallback := cascades.Chosen(environment)
	var lines []string
	if name := cmp.Or(cascades.Chosen(m).Default(), fallback.Default()); name != "" {
		lines = append(lines, resolve(name))
	}
	for line := range strings.SplitSeq(string(m)+"\n"+string(fallback), "\n") {
		old, to, renames := strings.Cut(line, "=")
		if renames && cascades.Chosen(line).Default() == "" {
			lines = append(lines, old+"="+resolve(to))
		}
	}
	return strings.Join(slices.Compact(lines), "\n")
}
