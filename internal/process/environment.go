package process

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// plain are the environment variables that every program sees: paths and
// locale. All other variables, above all keys, must be passed by name.
var plain = []string{"PATH", "HOME", "LANG", "TMPDIR", "TZ"}

// windowsPlain are the variables that most programs need on Windows.
var windowsPlain = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS",
}

// Plain reports whether every program sees the environment variable.
func Plain(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
		if slices.Contains(windowsPlain, name) {
			return true
		}
	}
	return slices.Contains(plain, name) || strings.HasPrefix(name, "LC_")
}

// Environment returns the environment of a program: PATH, HOME, LANG, LC_*,
// TMPDIR and TZ of the caller (on Windows also the variables that most programs
// need), overwritten by own. In own, "NAME" passes a variable of the caller and
// "NAME=value" sets one. In value, {{ env.NAME }} stands for a variable of the
// caller. If variables are missing, the error names all of them.
func Environment(own []string) ([]string, error) {
	if missing := Missing(own); len(missing) > 0 {
		return nil, missingError(missing)
	}
	env := []string{}
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); Plain(name) {
			env = append(env, pair)
		}
	}
	for _, entry := range own {
		name, value, set := strings.Cut(entry, "=")
		if set {
			value = expand(value)
		} else {
			value = os.Getenv(name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// variable matches a reference to a variable of the caller.
var variable = patterns.Lazy(`\{\{-?\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*-?\}\}`)

// Expand replaces {{ env.NAME }} in a text by the caller's variables. The
// values are not expanded again. A missing variable is an error.
func Expand(text string) (string, error) {
	if missing := Missing([]string{"=" + text}); len(missing) > 0 {
		return "", missingError(missing)
	}
	return expand(text), nil
}

func expand(text string) string {
	return variable().ReplaceAllStringFunc(text, func(found string) string {
		return os.Getenv(variable().FindStringSubmatch(found)[1])
	})
}

// WithoutVariables returns a text without its references to variables.
func WithoutVariables(text string) string { return variable().ReplaceAllLiteralString(text, "") }

// Needed returns the variables of the caller that own refers to, each once, in order.
// See [Environment] for the form of own.
func Needed(own []string) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, entry := range own {
		name, value, set := strings.Cut(entry, "=")
		if !set {
			add(name)
		}
		for _, found := range variable().FindAllStringSubmatch(value, -1) {
			add(found[1])
		}
	}
	return names
}

// Missing returns the needed variables that the caller does not have.
func Missing(own []string) []string {
	return slices.DeleteFunc(Needed(own), func(name string) bool {
		_, there := os.LookupEnv(name)
		return there
	})
}

// minSecret is the minimum length of a redacted value, in bytes. A shorter
// value could also be an ordinary word.
const minSecret = 8

// Conceal redacts a text, such as an error output of a program. It replaces each value of a
// needed variable by the variable's name, see [Needed].
func Conceal(own []string, text string) string {
	names := Needed(own)
	slices.SortStableFunc(names, func(a, b string) int { return len(os.Getenv(b)) - len(os.Getenv(a)) })
	for _, name := range names {
		if value := strings.TrimSpace(os.Getenv(name)); len(value) >= minSecret && !Plain(name) {
			text = strings.ReplaceAll(text, value, "[redacted "+name+"]")
		}
	}
	return text
}

func missingError(names []string) error {
	return fmt.Errorf("the environment has no %s", strings.Join(names, " and no "))
}
