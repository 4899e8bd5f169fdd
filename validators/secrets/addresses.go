package secrets

import "strings"

// inAddress is the password of an address whose part behind :// begins at a
// place: scheme://user:password@host.
func inAddress(text string, at int) (Secret, bool) {
	rest := window(text, at, valueReach)
	rest = rest[:len(rest)-len(strings.TrimLeftFunc(rest, inAuthority))]
	user, password, ok := strings.Cut(rest, ":")
	j := strings.IndexByte(password, '@')
	if !ok || j < 6 || user == "" || !passwordLike(password[:j]) {
		return Secret{}, false
	}
	start := at + len(user) + 1
	return Secret{"a password in an address", start, start + j, 0}, true
}

func inAuthority(r rune) bool { return r > ' ' && !strings.ContainsRune(`/?#"'<>`+"`", r) }

// passwords are what examples have in place of one.
var passwords = set("password passwd secret pass changeme changeit example username token")

// passwordLike leaves out what examples have.
func passwordLike(s string) bool {
	return !passwords[strings.ToLower(s)] && !refers(s) && !within("[{%$", s[0])
}

// commandReach is how much of a command is read, over lines that go on.
const commandReach = 1000

// inCommand is the user and password of curl's -u in the command at a place.
func (r *reader) inCommand(at int) (Secret, bool) {
	if at < r.command {
		return Secret{}, false
	}
	rest := command(window(r.text, at, commandReach))
	r.command = at + len(rest)
	for _, option := range []string{" -u", " --user"} {
		i := strings.Index(rest, option)
		if i < 0 {
			continue
		}
		i += len(option)
		gap := run(rest[i:], "= \t")
		if i += gap; gap == 0 && option != " -u" {
			continue
		}
		n := argument(rest[i:])
		user, password, ok := strings.Cut(rest[i:i+n], ":")
		user, password = strings.Trim(user, `"'`), strings.Trim(password, `"'`)
		if !ok || !credentials(user, password) {
			continue
		}
		return Secret{"a password in a command", at + i, at + i + n, 0}, true
	}
	return Secret{}, false
}

// command is a command's lines: each but the last ends with a backslash.
func command(text string) string {
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			return text
		}
		if line := strings.TrimRight(text[i:i+n], " \t\r"); !strings.HasSuffix(line, `\`) {
			return text[:i+n]
		}
		i += n + 1
	}
}

// argument is how long the word of a shell's command at the beginning is.
func argument(text string) int {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c <= ' ':
			return i
		}
	}
	return len(text)
}

// credentials tells a user and a password, or a key alone in the place of one,
// from what examples have: it is long and mixed.
func credentials(user, password string) bool {
	if password == "" {
		user, password = "", user
	}
	mixed := strings.ContainsAny(password, digits) || len(password) >= 12 && strings.ContainsAny(password, capital)
	return len(password) >= 6 && passwordLike(password) && !strings.ContainsAny(password, "[<(") && mixed && strings.ContainsAny(password, small+capital)
}
