package inspectors

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/request"
)

// A prose is a hint, or a part of one, that is not written as a check. What it
// plainly names is looked at. That settles the criterion only where the prose,
// or the criterion's description, says what is to be found there.
type prose string

func (prose) in() request.Type { return request.Both }

// A reading is what can be computed of a prose.
type reading struct {
	checks  []check
	settles bool   // nothing remains to be judged
	note    string // what was named, and could not be looked at
}

const (
	verb    = `(?:(?:check|see|open|verify|visit|get|look at|look in|inspect|read|confirm)(?: that)? )?`
	answers = `(?: (?:returns|gives|answers|responds|status|is|->|→)(?: with)?(?: status)?(?: http)? (\d{3})(?: ok)?)?`
)

var (
	endpoint = patterns.Lazy(`^(?i:` + verb + `)(?:(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) )?((?:https?:/)?/[^\s"'` + "`" + `]*)(?i:` + answers + `)\.?$`)
	port     = patterns.Lazy(`^(?i:` + verb + `port (\d{1,5})((?: is)?(?: listening| listens| open))?)\.?$`)
	command  = patterns.Lazy("^(?i:run|execute):? `([^`]+)`(?i:,?(?: and)?(?: it)? (passes|succeeds|exits (?:with )?(?:status |code )?\\d{1,3}))?\\.?$")
	suite    = patterns.Lazy(`^(?:(?i:run|execute) )?((?:go (?:test|build|vet)|npm (?:test|run)|yarn (?:test|run)|cargo (?:test|build|check)|make (?:test|check|build|lint)|(?:python3? -m )?pytest)(?: [-./][^\s;|&<>]*| [^\s;|&<>]*[/=][^\s;|&<>]*)*)$`)
	script   = patterns.Lazy(`^(?i:run |execute )?(npm run|yarn run) ([a-z][\w:-]*)$`)
	element  = patterns.Lazy(`^(?i:` + verb + `)(#[A-Za-z_][\w-]*|\[[A-Za-z-]+(?:="[^"\]]*")?\])(?i: (?:is |element )?(?:visible|shown|displayed|exists|present))?\.?$`)

	hostname = patterns.Lazy(`^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[a-z]{2,6}$`)
)

func (p prose) inspect(ctx context.Context, n *inspection) finding {
	text, own := string(p), false
	if text == "" {
		text, own = n.at.Description, true
	}
	r := n.read(text, own)
	if len(r.checks) == 0 {
		if r.note != "" {
			return open("%s", r.note)
		}
		return open("nothing of %q can be computed", clip(text, 300))
	}
	var all []finding
	for _, c := range r.checks {
		if n.excludes(c.in()) {
			return open("%q names what %s validation does not look at", clip(text, 300), n.request.ValidationType)
		}
		all = append(all, c.inspect(ctx, n))
	}
	if !r.settles {
		all = append(all, open("whether %q holds there cannot be computed", clip(n.at.Description, 300)))
	}
	return sum(all)
}

// read reads a hint's prose, or a description's where there is no hint.
func (n *inspection) read(text string, description bool) reading {
	if len(text) > maxHint {
		return reading{}
	}
	words := strings.Fields(text)
	for i, w := range words {
		path := strings.TrimLeft(w, wrapping)
		words[i] = strings.TrimSuffix(w, path) + n.tree.relative(path)
	}
	text = strings.Join(words, " ")
	exists := existing(n.at.Description)
	if m := endpoint().FindStringSubmatch(text); m != nil && !description {
		return n.readEndpoint(m[1], m[2], m[3], exists)
	}
	if m := port().FindStringSubmatch(text); m != nil {
		if number, err := strconv.Atoi(m[1]); err == nil && number > 0 && number < 65536 {
			return reading{checks: []check{portCheck(number)}, settles: description || m[2] != "" || exists.of(listeners, "port "+m[1])}
		}
	}
	if m := command().FindStringSubmatch(text); m != nil && !description {
		return n.readCommand(m[1], m[2])
	}
	for _, form := range []*regexp.Regexp{suite(), script()} {
		if m := form.FindStringSubmatch(text); m != nil && !description {
			return n.readCommand(strings.Join(m[1:], " "), "")
		}
	}
	if m := element().FindStringSubmatch(text); m != nil && !description && n.request.ValidationType != request.Code {
		return reading{checks: []check{pageCheck{ref: "/", clauses: []clause{{word: "element", selector: m[1]}}}}, settles: exists.of(elements, named(m[1])...)}
	}
	return n.readPaths(text, exists)
}

// readEndpoint reads a path or URL that stands alone as an endpoint of the
// services, or as a page where pages are what is asked for.
func (n *inspection) readEndpoint(method, ref, status string, exists subject) reading {
	if n.services.app == nil && n.services.api == nil {
		if n.services.problem != nil {
			return reading{checks: []check{badHint{n.services.problem.Error()}}}
		}
		return reading{checks: []check{badHint{fmt.Sprintf("%q is outside the worktree, and the request names no service", ref)}}}
	}
	code, _ := strconv.Atoi(status)
	settles := code > 0 || exists.of(endpoints, append(named(ref), method+" "+ref)...)
	var c check = urlCheck{ref: ref, method: cmp.Or(method, http.MethodGet), status: code}
	if n.request.ValidationType == request.Browser && method == "" {
		c = pageCheck{ref: ref, status: code}
	}
	if !settles && (denies(n.at.Description) || request.Refuses(n.at)) {
		c = told{c} // that it answers with an error may be what is demanded
	}
	return reading{checks: []check{c}, settles: settles}
}

// alternative is what makes one of several files enough, or none.
var alternative = patterns.Lazy(`(?i)\b(?:or|either|unless|if|optional(?:ly)?|oder|ou)\b`)

// readCommand reads a program to run. How it ends settles what demands that.
func (n *inspection) readCommand(text, tail string) reading {
	c, err := parseRun(&lexer{text: text})
	if err != nil {
		return reading{checks: []check{badHint{err.Error()}}, settles: true}
	}
	run := c.(commandCheck)
	end, known := run.ending(tail, n.at.Description)
	if !known {
		return reading{checks: []check{told{run}}}
	}
	run.status = end.status
	return reading{checks: []check{run}, settles: !end.more}
}

// readPaths reads the paths of files that a prose names, and the quotations
// that are to be in them. Prose with a negation is not read: it may mean that
// they are not to be.
func (n *inspection) readPaths(text string, exists subject) reading {
	if n.tree.root == nil && len(pathsIn(text)) > 0 {
		return reading{note: n.tree.problem}
	}
	if n.tree.root == nil || denies(text) || n.request.ValidationType == request.Browser {
		return reading{}
	}
	var r reading
	var paths, names []string
	for _, name := range pathsIn(text) {
		if outside(name) {
			r.checks = append(r.checks, fileCheck{path: name}) // which is blocked
			continue
		}
		found := n.tree.locate(strings.TrimSuffix(name, "/"))
		switch {
		case len(found) == 1:
			r.checks = append(r.checks, fileCheck{path: found[0]})
		case len(found) > 1:
			r.note = fmt.Sprintf("%q may be any of %d files", name, len(found))
			continue
		case strings.Contains(name, "/"):
			r.checks = append(r.checks, fileCheck{path: name})
		default:
			continue
		}
		paths = append(paths, name)
		names = append(names, named(name)...)
	}
	r.settles = r.note == "" && exists.of(files, names...)
	r = r.quoting(text, paths, n.at.Description)
	if !r.settles && (denies(n.at.Description) || alternative().MatchString(text+" "+n.at.Description)) {
		for i, c := range r.checks {
			r.checks[i] = told{c}
		}
	}
	return r
}

// quoting adds the quotations to the one file that there is, where the prose
// says that they stand in it.
func (r reading) quoting(text string, paths []string, description string) reading {
	if len(r.checks) != 1 || len(paths) != 1 {
		return r
	}
	file := r.checks[0].(fileCheck)
	for _, said := range contained(text, paths[0], description) {
		file.expect = append(file.expect, expectation{word: "contains", text: said})
	}
	r.checks[0] = file
	r.settles = r.settles || len(file.expect) > 0 && r.note == ""
	return r
}

// pathsIn are the words that can be paths of files: with a slash and an
// extension, or a name with an extension. Each is told once, and no more than
// ten are.
func pathsIn(text string) (found []string) {
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		word = strings.TrimLeft(word, wrapping)
		word = strings.TrimPrefix(strings.TrimRight(word, wrapping+"."), "./")
		if len(found) < maxPaths && !seen[word] && isPath(word) {
			seen[word] = true
			found = append(found, word)
		}
	}
	return found
}

// wrapping is what may stand around a path in prose.
const wrapping = "`\"'“”‘’()<>,;:!?*"

// maxPaths is how many paths of a prose are looked for.
const maxPaths = 10

var extension = patterns.Lazy(`^\.[A-Za-z][A-Za-z0-9]{0,7}$`)

func isPath(word string) bool {
	name := path.Clean(word)
	if strings.Contains(word, "://") || strings.Contains(word, "…") {
		return false
	}
	base := path.Base(name)
	first, _, deep := strings.Cut(name, "/")
	if !extension().MatchString(path.Ext(base)) || !deep && len(base) < 4 { // not "e.g"
		return false
	}
	return !deep || !hostname().MatchString(first)
}

// outside reports whether a path leaves the worktree.
func outside(name string) bool {
	_, err := local(name)
	return err != nil
}
