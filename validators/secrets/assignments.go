package secrets

import (
	"slices"
	"strings"
)

// Only so far around a name is looked at.
const (
	nameReach  = 64
	typeReach  = 40
	valueReach = 256
)

// assignment is what is assigned to the name that a root of one stands in, if
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
		from, to, ok = told(r.text[max(0, start-nameReach):end], end-start, rest)
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

// value finds what looks random behind a name: behind a sign that assigns, or
// behind a type with such a sign.
//
//	password = "…"    password: …    <password>…    apiKey *string = "…"    ("password", "…")
//
// Behind the name alone, or a comma where the name is in no quotes, there is none.
func value(rest string, element bool) (from, to int, ok bool) {
	i := run(rest, " \t\\\"'`])")
	quoted := strings.ContainsAny(rest[:i], "\"'")
	signs := run(window(rest, i, 4), ":=?.|+>~")
	sign := rest[i : i+signs]
	switch {
	case sign == ">" && element:
		return random(rest, i+1+run(rest[i+1:], " \t\r\n"), true)
	case strings.HasPrefix(rest[i:], "："):
		i += len("：")
		return random(rest, i+run(rest[i:], " \t"), true)
	case sign == "" && quoted && i < len(rest) && rest[i] == ',':
		i++
		return random(rest, i+run(rest[i:], " \t"), false)
	case strings.ContainsAny(sign, "=:"):
		i += signs
		if from, to, ok = random(rest, i+run(rest[i:], " \t*"), true); ok || strings.Contains(sign, "=") {
			return from, to, ok
		}
	}
	typed := run(window(rest, i, typeReach), wordy+" \t.*&<>[]?|:")
	if i += typed; typed == 0 || i >= len(rest) || rest[i] != '=' {
		return 0, 0, false
	}
	i++
	return random(rest, i+run(rest[i:], "= \t"), true)
}

// told finds what looks random behind a blank, where that is how a value is given: to
// an option, to a variable of a container or a login, in the cell beside, in a sentence.
//
//	--api-key …    ENV API_KEY …    login ann password …    | api_key | … |    the password is …
func told(before string, length int, rest string) (from, to int, ok bool) {
	i := run(rest, " \t`*")
	if i == 0 {
		return 0, 0, false
	}
	name, said := before[len(before)-length:], strings.Fields(before[:len(before)-length])
	last := func(n int, words ...string) bool {
		return len(said) >= n && slices.Contains(words, said[len(said)-n])
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
	from, to, ok = random(rest, i+run(rest[i:], " \t"), true)
	return from, to, ok && (hasRandomPart(rest[from:to]) || chosen(rest[from:to]))
}

// named tells whether a name is what stands before it gives: - name: API_KEY, variable "api_key".
func named(before string) bool {
	before = strings.TrimRight(before, " \t\"'")
	return slices.ContainsFunc([]string{"name:", `name":`, "key:", `key":`, "variable"}, func(s string) bool { return strings.HasSuffix(before, s) })
}

// maxBetween is how many other things may stand between a name and its value.
const maxBetween = 3

// paired finds what looks random as the value of the thing whose name is before it.
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

// schemes are what HTTP writes before a credential.
var schemes = []string{"bearer ", "basic ", "token ", "api-token ", "flyv1 "}

// random is the value that begins at a place if it looks random: in quotes, or
// bare where that may be.
func random(rest string, i int, bare bool) (from, to int, ok bool) {
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
	if !bare || n < 12 && !chosen(rest[i:i+n]) || i+n < len(rest) && within("([{", rest[i+n]) {
		return 0, 0, false
	}
	value := strings.TrimRight(rest[i:i+n], ".:")
	return i, i + len(value), looksRandom(value) && (!strings.ContainsAny(value, ".:") || within(digits, value[0]) || hasRandomPart(value))
}

// chosen tells a password that somebody thought of: one of eight and more, with
// everything that is asked of one. What begins with $ or % names another.
func chosen(value string) bool {
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
