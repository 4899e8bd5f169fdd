package secrets

import (
	"slices"
	"strings"
)

// The limits of the search around a name, in bytes.
const (
	nameReach  = 64
	typeReach  = 40
	valueReach = 256
)

// assignment returns the value that is assigned to the name around a root, if
// it looks random.
func (r *reader) assignment(at, length int) (Secret, bool) {
	if at < r.name {
		return Secret{}, false
	}
	start, end := at, at+length
	for start > 0 && at-start < nameReach && within(wordy+"-.", r.text[start-1]) {
		start--
	}
	end += run(window(r.text, end, nameReach), wordy+"-.")
	r.name = end
	name := strings.Trim(r.text[start:end], "-.")
	if strings.EqualFold(name, "key") && start > 1 && r.text[start-1] == ' ' { // API key
		kind := start - 1
		for kind > 0 && start-kind < nameReach && within(wordy, r.text[kind-1]) {
			kind--
		}
		start, name = kind, r.text[kind:end]
	}
	if !namesSecret(name) {
		return Secret{}, false
	}
	element := start > 0 && r.text[start-1] == '<'
	rest := window(r.text, end, nameReach+valueReach)
	from, to, ok := value(rest, element)
	if !ok {
		from, to, ok = findSpaced(r.text[max(0, start-nameReach):end], end-start, rest)
	}
	if !ok && named(r.text[max(0, start-nameReach):start]) {
		from, to, ok = paired(rest)
	}
	if !ok {
		return Secret{}, false
	}
	from, to = end+from, end+to
	for _, w := range words().at(r.text[from:]) {
		if w.kind == aToken && words().has(r.text[from:], w.text) {
			if found, ok := r.token(w.token, from); ok {
				return found, true
			}
		}
	}
	return Secret{"a credential in " + name, from, to, 0}, true
}

// value finds a random value after a name and an assignment sign, or after a
// type and such a sign:
//
//	password = "…"    password: …    <password>…    apiKey *string = "…"    ("password", "…")
//
// A bare name, and a comma after an unquoted name, assign nothing.
func value(rest string, element bool) (from, to int, ok bool) {
	i := run(rest, " \t\\\"'`])")
	quoted := strings.ContainsAny(rest[:i], "\"'")
	signs := run(window(rest, i, 4), ":=?.|+>~")
	sign := rest[i : i+signs]
	switch {
	case sign == ">" && element:
		return randomAt(rest, i+1+run(rest[i+1:], " \t\r\n"), true)
	case strings.HasPrefix(rest[i:], "："):
		i += len("：")
		return randomAt(rest, i+run(rest[i:], " \t"), true)
	case sign == "" && quoted && i < len(rest) && rest[i] == ',':
		i++
		return randomAt(rest, i+run(rest[i:], " \t"), false)
	case strings.ContainsAny(sign, "=:"):
		i += signs
		if from, to, ok = randomAt(rest, i+run(rest[i:], " \t*"), true); ok || strings.Contains(sign, "=") {
			return from, to, ok
		}
	}
	typed := run(window(rest, i, typeReach), wordy+" \t.*&<>[]?|:")
	if i += typed; typed == 0 || i >= len(rest) || rest[i] != '=' {
		return 0, 0, false
	}
	i++
	return randomAt(rest, i+run(rest[i:], "= \t"), true)
}

// findSpaced finds a random value after a space, where a space separates name
// and value: an option, a variable of a container, a login, a table cell, a
// sentence.
//
//	--api-key …    ENV API_KEY …    login ann password …    | api_key | … |    the password is …
func findSpaced(before string, length int, rest string) (from, to int, ok bool) {
	i := run(rest, " \t`*")
	if i == 0 {
		return 0, 0, false
	}
	name, fields := before[len(before)-length:], strings.Fields(before[:len(before)-length])
	last := func(n int, words ...string) bool {
		return len(fields) >= n && slices.Contains(words, fields[len(fields)-n])
	}
	switch {
	case strings.HasPrefix(rest[i:], "is "), strings.HasPrefix(rest[i:], "is:"):
		i += len("is ")
	case strings.HasPrefix(rest[i:], "| "):
		i += len("| ")
	case strings.EqualFold(name, "password") && rest[i:] != "" && rest[i] == '\'': // of SQL
	case !strings.HasPrefix(name, "--") && !last(1, "ENV", "ARG", "setenv") && !last(2, "login"):
		return 0, 0, false
	}
	from, to, ok = randomAt(rest, i+run(rest[i:], " \t"), true)
	return from, to, ok && (hasRandomPart(rest[from:to]) || isHumanPassword(rest[from:to]))
}

// named reports whether the text before a value names it as the value of a key:
// - name: API_KEY, variable "api_key".
func named(before string) bool {
	before = strings.TrimRight(before, " \t\"'")
	return slices.ContainsFunc([]string{"name:", `name":`, "key:", `key":`, "variable"}, func(s string) bool { return strings.HasSuffix(before, s) })
}

// maxBetween is the maximum number of fields between a name and its value.
const maxBetween = 3

// paired finds a random value in the object whose name precedes it.
func paired(rest string) (from, to int, ok bool) {
	i := run(rest, "\"'")
	for range maxBetween {
		i += run(rest[i:], " \t\r\n,{\"'")
		n := run(rest[i:], wordy)
		if key := rest[i : i+n]; key == "value" || key == "default" {
			from, to, ok = value(rest[i+n:], false)
			return i + n + from, i + n + to, ok
		}
		next := strings.IndexAny(rest[i:], "\n,}")
		if n == 0 || next < 0 || rest[i+next] == '}' {
			break
		}
		i += next
	}
	return 0, 0, false
}

// schemes are the HTTP authentication schemes before a credential.
var schemes = []string{"bearer ", "basic ", "token ", "api-token ", "flyv1 "}

// randomAt returns the value at an offset if it looks random. The value is in
// quotes, or bare where that is allowed.
func randomAt(rest string, i int, bare bool) (from, to int, ok bool) {
	i += scheme(rest[i:])
	escaped := i < len(rest) && rest[i] == '\\'
	if escaped {
		i++
	}
	if i < len(rest) && within("\"'`", rest[i]) {
		quote := rest[i]
		i++
		i += scheme(rest[i:])
		n := strings.IndexAny(rest[i:], string(quote)+"\n\\")
		if n < 0 {
			n = len(rest) - i
		}
		return i, i + n, n >= 8 && looksRandom(rest[i:i+n])
	}
	n := run(rest[i:], wordy+"-+/=~!@#$%^*.:")
	if !bare || n < 12 && !isHumanPassword(rest[i:i+n]) || i+n < len(rest) && within("([{", rest[i+n]) {
		return 0, 0, false
	}
	value := strings.TrimRight(rest[i:i+n], ".:")
	return i, i + len(value), looksRandom(value) && (!strings.ContainsAny(value, ".:") || within(digits, value[0]) || hasRandomPart(value))
}

// isHumanPassword reports whether a value is a password that a person chose: at
// least eight characters of all usual classes. A value that begins with $ or %
// is a reference.
func isHumanPassword(value string) bool {
	for _, asked := range []string{small, capital, digits, "!@#$%^*"} {
		if !strings.ContainsAny(value, asked) {
			return false
		}
	}
	return len(value) >= 8 && !within("$%", value[0])
}

func scheme(rest string) int {
	for _, s := range schemes {
		if len(rest) > len(s) && strings.EqualFold(rest[:len(s)], s) {
			return len(s) + run(rest[len(s):], " \t")
		}
	}
	return 0
}
