package inspectors

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// What a sentence demands is read by its form. The forms here are those in which
// hardly anything else can be meant; what has another is left to judgement, for
// there is no end to the words by which a sentence can come to the contrary.

// negation is what makes prose unread: that a file is named need not mean that
// it is to be there.
var negation = patterns.Lazy(`(?i)\b(?:no|not|never|without|remov(?:ed?|es|ing)|delet(?:ed?|es|ing)|absent|missing|none|nothing|neither|nor|unchanged|gone|dropp(?:ed|ing)|drops?|lacks?|lacking|free (?:of|from)|zero|` +
	`renam(?:ed?|es|ing)|replac(?:ed?|es|ing)|moved?|moves|retired?|superseded|obsolete|instead|kein\w*|nicht|ohne|entfernt|umbenannt|ersetzt|sans|pas|supprimée?s?|sin|eliminad[oa]s?)\b|n['’]t\b|\bgelöscht`)

// denies reports whether a prose has a negation, be it not in what it quotes or
// in the name of a file. One that is longer than is read may have one anywhere.
func denies(text string) bool {
	if len(text) > maxHint {
		return true
	}
	text = quotation().ReplaceAllString(text, " ")
	words := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return isPath(strings.TrimRight(strings.TrimLeft(w, wrapping), wrapping+".")) })
	return negation().MatchString(strings.Join(words, " "))
}

// A subject is what a sentence demands to be there, and no more than that;
// without words there is no such sentence.
type subject []string

var existence = patterns.Lazy(`(?i)^(.+?)(?: (?:must|should|shall|do|does|now|also|still|all|both))*(?: (?:exists?|(?:is|are|be) (?:present|there|in place|available|reachable|up|running|listening|visible|shown|displayed)|answers?|responds?|listens?|loads?|opens?))` +
	`(?: in (?:the |this )?(?:repository|repo|worktree|project))?$`)

// existing reads the subject of a description.
func existing(description string) subject {
	if len(description) > maxHint {
		return nil
	}
	m := existence().FindStringSubmatch(squeezed(strings.TrimRight(description, ". \t\r\n")))
	if m == nil {
		return nil
	}
	words := strings.Fields(strings.ToLower(m[1]))
	for i, w := range words {
		words[i] = strings.Trim(w, "`\"'“”,")
	}
	return slices.DeleteFunc(words, func(w string) bool {
		return slices.Contains([]string{"the", "a", "an", "this", "these", "its", "both", "all"}, w)
	})
}

// What a subject may call a thing of a kind by.
var (
	files     = strings.Fields("file files document documents page pages script scripts")
	endpoints = strings.Fields("endpoint endpoints route url address resource page site website service server app application api")
	elements  = strings.Fields("element field button link form input box menu banner dialog heading image icon panel list table header footer")
	listeners = strings.Fields("port service server app application api daemon database")
)

// of reports whether the subject is a thing of a kind itself: by the kind's
// nouns, by one of its names, or by both.
func (s subject) of(nouns []string, names ...string) bool {
	if i := slices.Index(s, "and"); i > 0 { // each of several
		return s[:i].of(nouns, names...) && s[i+1:].of(nouns, names...)
	}
	isNoun := func(w string) bool { return slices.Contains(nouns, w) }
	left := slices.Clone(s)
	for len(left) > 0 && isNoun(left[len(left)-1]) {
		left = left[:len(left)-1]
	}
	for len(left) > 0 && isNoun(left[0]) {
		left = left[1:]
	}
	if len(left) == 0 {
		return len(s) > 0
	}
	whole, rest := strings.Join(s, " "), strings.Join(left, " ")
	return slices.ContainsFunc(names, func(name string) bool {
		// A word that may be any other's, such as the login of login.md, is a name beside a noun alone.
		own := len(left) < len(s) || strings.ContainsAny(name, "/.#[") || name == strings.ToUpper(name)
		return own && (strings.EqualFold(whole, name) || strings.EqualFold(rest, name))
	})
}

var apart = strings.NewReplacer("-", " ", "_", " ")

// named are the names of a file, an endpoint or an element by its path, its
// address or its selector.
func named(ref string) []string {
	base := path.Base(strings.TrimSuffix(ref, "/"))
	word := strings.Trim(strings.TrimSuffix(base, path.Ext(base)), "#[]/.")
	return []string{ref, base, word, apart.Replace(word)}
}

// Where a sentence has a file and where it has a quotation.
const (
	fileMark  = "\x01"
	quoteMark = "\x02"
)

const (
	look  = `(?:(?:please )?(?:check|see|open|verify|inspect|read|confirm|ensure|make sure|look(?: at| in| into)?|search|grep)(?: that| whether| if)? )?`
	where = `(?:(?:the|in) )*(?:file |document )?(?:\./)?` + fileMark
	noun  = `(?:section|heading|headline|title|chapter|paragraph|word|text|phrase|term|line|string|sentence|name|function|method|class|type|field|key|value|flag|option|setting|constant|variable|command|entry|link|label|tag|step|example|note|marker)s?`
	what  = `(?:(?:an?|the|its|both|at least one|one) )?(?:` + noun + ` )?(?:(?:on|about|called|named|titled|saying) )?` + quoteMark + `(?: ` + noun + `)?`
	whats = what + `(?:(?:,| and|, and| as well as) ` + what + `)*`
	says  = `(?:(?:should|must|shall|will|does|now|also|still|is to) )*(?:contains?|mentions?|has|have|includes?|says?|lists?|names?|shows?|reads?|states?|quotes?|uses?)`
	stand = `(?:(?:should|must|shall|will|now|also|still) )*(?:(?:is|are|be) (?:mentioned|listed|named|found|present|contained|included|shown|there)|stands?|appears?|occurs?)`
)

var (
	quotation = patterns.Lazy("`([^`]+)`|\"([^\"]+)\"|“([^”]+)”")

	// The verb says that it is there …
	saying = patterns.Lazy(`(?i)^(?:` + look + where + `[,:.]?(?: and)?(?: (?:it|that|which|whether|if))* ` + says + `:? ` + whats + `|` + look + whats + ` ` + stand + ` ` + where + `)[.!]?$`)
	// … or that it is to be looked for.
	seeking = patterns.Lazy(`(?i)^(?:` + look + where + ` for ` + whats + `|` + look + `(?:for )?` + whats + ` ` + where + `)[.!]?$`)
)

// contained are the quotations that stand in a file by what a prose says. That
// they are to be looked for says so only where the description does not speak of
// what is gone.
func contained(text, file, description string) (said []string) {
	plain := quotation().ReplaceAllStringFunc(text, func(quoted string) string {
		m := quotation().FindStringSubmatch(quoted)
		inner := m[1] + m[2] + m[3]
		if strings.TrimPrefix(inner, "./") == file {
			return fileMark
		}
		said = append(said, inner)
		return quoteMark
	})
	plain = strings.ReplaceAll(plain, file, fileMark)
	if saying().MatchString(plain) || seeking().MatchString(plain) && !denies(description) {
		return said
	}
	return nil
}

// An ending is the status that a program is to end with, and whether more is
// demanded than that.
type ending struct {
	status int
	more   bool
}

var (
	exitStatus = patterns.Lazy(`(?i)\b(?:exit(?:s|ed)?(?: with)?(?: an?| the)?(?: exit)?(?:[ _-]?(?:status|code))?(?: of| is| (?:must |should )?be)?|(?:ends?|terminates?|finishes|returns?) with(?: the)?(?: exit)? (?:status|code))(?:[:=]? |[:=])(\d{1,3})\b(,? (?:or|and|to) \d|/\d)?`)
	passing    = patterns.Lazy(`(?i)^(.+?)(?: (?:must|should|shall|do|does|now|still|all))*(?: (?:pass(?:es)?|succeeds?|compiles?|builds?|runs?|works?|(?:is|are|be) (?:green|clean)))` +
		`(?: again| cleanly| successfully| without (?:any )?(?:errors?|failures?|warnings?|problems?))?$`)
	joined = patterns.Lazy(`(?i)\b(?:and|or|but|that|which|after|before)\b|[,;]`)
	// counting is what makes a subject so many of the tests: that they pass is not
	// how many there are.
	counting = patterns.Lazy(`(?i)\b\d|\b(?:least|most|fewer|less|more|only|just|exactly|few|half|some|several|many|majority|almost|nearly|hardly|barely|single|one|two|three|four|five|six|seven|eight|nine|ten|dozens?|hundreds?)\b`)
	beside   = patterns.Lazy(`(?i)^(.+?) (?:of|for|in|on|under|from|at) .+$`)
)

// runs is what passes, builds or runs when a program ends well.
var runs = strings.Fields(`it test tests suite suites spec specs check checks build builds lint linter linting vet ci pipeline command commands script scripts program programs compilation typecheck
	code project package packages module modules benchmark benchmarks example examples`)

// ending reads what a hint's tail, or else the description, demands of the
// program's end; known tells whether they do.
func (c commandCheck) ending(tail, description string) (e ending, known bool) {
	if tail != "" {
		e.status, _ = exits(tail)
		return e, true
	}
	if len(description) > maxHint {
		return e, false
	}
	description = squeezed(strings.TrimRight(description, ". \t\r\n"))
	if m := passing().FindStringSubmatch(description); m != nil && !denies(m[1]) && !counting().MatchString(m[1]) && !joined().MatchString(description) {
		return e, c.runs(m[1])
	}
	if denies(description) {
		return e, false
	}
	e.status, known = exits(description)
	e.more = joined().MatchString(description)
	return e, known
}

// exits is the one status of a program that a text names.
func exits(text string) (status int, known bool) {
	all := exitStatus().FindAllStringSubmatch(text, 2)
	if len(all) != 1 || all[0][2] != "" {
		return 0, false
	}
	status, _ = strconv.Atoi(all[0][1])
	return status, status < 256
}

// runs reports whether the subject of a sentence is the program, or what it is
// run for.
func (c commandCheck) runs(subject string) bool {
	if m := beside().FindStringSubmatch(subject); m != nil {
		subject = m[1]
	}
	subject = strings.Trim(subject, "`\"'“”")
	words := strings.Fields(subject)
	last := strings.Trim(words[len(words)-1], "`\"'“”")
	return subject == c.text || slices.Contains(runs, strings.ToLower(last)) || slices.Contains(c.argv, last)
}
