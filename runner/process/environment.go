package process

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// plain are the variables that every program sees: those by which it finds its
// way and its language. Whatever else the caller has, its keys above all, is for
// programs that are given it by name.
var plain = []string{"PATH", "HOME", "LANG", "TMPDIR", "TZ"}

// windowsPlain are those without which hardly a program starts there.
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

// Environment is the environment of a program: PATH, HOME, LANG, LC_*, TMPDIR
// and TZ of the caller's (on Windows also what nothing runs without), and own
// over them. In own, "NAME" passes a variable of the caller's on and
// "NAME=value" sets one; in value, {{ env.NAME }} stands for one of the
// caller's. What the caller does not have is an error that names all of it.
func Environment(own []string) ([]string, error) {
	if missing := Missing(own); len(missing) > 0 {
		return nil, lacking(missing)
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

// variable is where a text holds a variable of the caller's.
var variable = patterns.Lazy(`\{\{-?\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*-?\}\}`)

// Expand is a text with {{ env.NAME }} replaced by the caller's variables; what
// comes from them is not read again. One that the caller does not have is an
// error.
func Expand(text string) (string, error) {
	if missing := Missing([]string{"=" + text}); len(missing) > 0 {
		return "", lacking(missing)
	}
	return expand(text), nil
}

func expand(text string) string {
	return variable().ReplaceAllStringFunc(text, func(found string) string {
		return os.Getenv(variable().FindStringSubmatch(found)[1])
	})
}

// Rest is what is left of a text without its {{ env.NAME }}.
func Rest(text string) string { return variable().ReplaceAllLiteralString(text, "") }

// Needed are the variables of the caller's that a program's own variables, as
// [Environment] has them, are made of; each once, in their order.
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

// Missing are those of the needed variables that the caller does not have.
func Missing(own []string) []string {
	return slices.DeleteFunc(Needed(own), func(name string) bool {
		_, there := os.LookupEnv(name)
		return there
	})
}

// minSecret is how long a value must be, in bytes, to be taken out of a text: a
// short one would take ordinary words with it.
const minSecret = 8

// Conceal takes out of a text, such as a program's complaint, the values of the
// variables that own gave it of the caller's; their names stand in their place.
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

func lacking(names []string) error {
	return fmt.Errorf("the environment has no %s", strings.Join(names, " and no "))
}
