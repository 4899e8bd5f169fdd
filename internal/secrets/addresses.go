package secrets

import "strings"

// inAddress returns the password of the URL scheme://user:password@host whose
// "://" ends at an offset.
func inAddress(text string, at int) (Secret, bool) {
	rest := window(text, at, valueReach)
	rest = rest[:len(rest)-len(strings.TrimLeftFunc(rest, inAuthority))]
	user, password, ok := strings.Cut(rest, ":")
	j := strings.IndexByte(password, '@')
	if !ok || j < 6 || !passwordLike(password[:j]) {
		return Secret{}, false
	}
	start := at + len(user) + 1
	return Secret{"a password in an address", start, start + j, 0}, true
}

func inAuthority(r rune) bool { return r > ' ' && !strings.ContainsRune(`/?#"'<>`+"`", r) }

// passwords are words that examples use instead of a password.
var passwords = set("password passwd secret pass changeme changeit example username token")

// passwordLike reports whether a text may be a password. Words of examples are
// not.
func passwordLike(s string) bool {
	bare := standIns.Replace(strings.ToLower(s))
	return !passwords[strings.ToLower(s)] && bare != "" && !passwords[bare] && !refers(s) && !within("[{%$", s[0])
}

// commandReach is the maximum length of a command, including continued lines.
const commandReach = 1000

// An option passes a credential to a program.
type option struct {
	text  string
	user  bool // the user comes before the password, separated by a colon
	glued bool // the password follows without a space; with a space the program asks for it
}

// commands are programs with such options, and the SQL statements that set a
// password.
var commands = map[string][]option{
	"curl":         {{" -u", true, false}, {" --user", true, false}},
	"redis-cli":    {{" -a", false, false}},
	"sshpass":      {{" -p", false, false}},
	"docker login": {{" -p", false, false}},
	"mysql":        {{" -p", false, true}},
	"sqlcmd":       {{" -P", false, false}},
	"identified":   {{" BY", false, false}},
	"requirepass":  {{" ", false, false}},
	"masterauth":   {{" ", false, false}},
}

// inCommand returns the password in the command at an offset.
func (r *reader) inCommand(at int, program string) (Secret, bool) {
	if at < r.command {
		return Secret{}, false
	}
	rest := command(window(r.text, at, commandReach))
	r.command = at + len(rest)
	for _, o := range commands[program] {
		i := strings.Index(rest, o.text)
		if i < 0 {
			continue
		}
		i += len(o.text)
		gap := run(rest[i:], "= \t")
		if i += gap; gap == 0 && len(o.text) > len(" -u") || gap > 0 && o.glued {
			continue
		}
		n := argument(rest[i:])
		if o.holds(rest[i : i+n]) {
			return Secret{"a password in a command", at + i, at + i + n, 0}, true
		}
	}
	return Secret{}, false
}

// holds reports whether the argument of an option is a credential.
func (o option) holds(argument string) bool {
	user, password, two := "", argument, true
	if o.user {
		user, password, two = strings.Cut(argument, ":")
	}
	return two && credentials(strings.Trim(user, `"'`), strings.Trim(password, `"'`))
}

// command returns the lines of a command. All lines before the last end with a
// backslash.
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

// argument returns the length of the first shell word.
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

// credentials reports whether a user and a password are long and mixed. A key
// may stand in the place of the password. Credentials of examples are short or
// simple.
func credentials(user, password string) bool {
	if password == "" {
		user, password = "", user
	}
	mixed := strings.ContainsAny(password, digits) || len(password) >= 12 && strings.ContainsAny(password, capital)
	return len(password) >= 6 && passwordLike(password) && !strings.ContainsAny(password, "[<(") && mixed && strings.ContainsAny(password, small+capital)
}
