// Package hints reads the validation_hint of a criterion: a list of checks, parted by
// semicolons or line ends. Package inspectors lists the checks and their clauses.
package hints

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reports"
)

// Limits of a hint and of its patterns.
const (
	MaxHint         = 16 << 10 // bytes
	maxChecks       = 50
	maxPattern      = 500 // bytes
	maxInstructions = 1000
)

// A form describes the checks of a keyword.
type form struct {
	subject string            // the argument of the keyword
	clauses map[string]string // the operands of each clause; nil: all words are arguments
}

// forms has the form of each keyword. The operands are TEXT, VALUE (a text that
// may be empty), CSS, RE, SIZE and STATUS. An operand in lower case is a
// literal.
var forms = map[string]form{
	"file": {"path", map[string]string{"exists": "", "absent": "", "size": "SIZE", "contains": "TEXT", "lacks": "TEXT", "matches": "RE"}},
	"run":  {"program", nil},
	"port": {"port", map[string]string{}},
	"url": {"URL", map[string]string{
		http.MethodGet: "", http.MethodHead: "", http.MethodPost: "", http.MethodPut: "", http.MethodPatch: "",
		http.MethodDelete: "", http.MethodOptions: "", "status": "STATUS", "contains": "TEXT", "lacks": "TEXT", "matches": "RE",
	}},
	"page": {"URL", map[string]string{
		"element": "CSS", "absent": "CSS", "text": "TEXT", "title": "TEXT", "click": "CSS", "fill": "CSS VALUE",
		"status": "STATUS", "no": "console errors", "screenshot": "",
	}},
}

// A Check is one declaration of a hint.
type Check struct {
	Keyword string // "": the part declares no check
	Text    string // the declaration without its keyword
	Args    []string
	Clauses []Clause
	Err     error // why the check cannot be read
}

// A Clause is a demand of a check.
type Clause struct {
	Word, Selector, Text string
	Operator             string // of a size
	Number               int64  // a size or a status
	Pattern              patterns.Pattern
}

// Holds reports whether a number of bytes is as a size clause demands.
func (c Clause) Holds(bytes int64) bool {
	switch c.Operator {
	case ">=":
		return bytes >= c.Number
	case "<=":
		return bytes <= c.Number
	case ">":
		return bytes > c.Number
	case "<":
		return bytes < c.Number
	}
	return bytes == c.Number
}

// Parse reads the checks of a hint, at least one.
func Parse(hint string) []Check {
	parts := scan(hint[:min(len(hint), MaxHint)])
	switch {
	case len(hint) > MaxHint:
		return []Check{{Err: fmt.Errorf("the hint has more than %d bytes", MaxHint)}}
	case len(parts) > maxChecks:
		return []Check{{Err: fmt.Errorf("the hint has more than %d checks", maxChecks)}}
	case len(parts) == 0:
		parts = []part{{}}
	}
	checks := make([]Check, len(parts))
	for i, p := range parts {
		checks[i] = p.check()
	}
	return checks
}

// check reads a part of a hint.
func (p part) check() Check {
	keyword, text, found := strings.Cut(p.text, ":")
	f, known := forms[strings.ToLower(keyword)]
	if !found || !known {
		return Check{Text: p.text}
	}
	words := slices.Clone(p.words)
	words[0].text = words[0].text[len(keyword)+1:]
	if words[0].source = words[0].text; words[0].text == "" && !words[0].quoted {
		words = words[1:]
	}
	c := Check{Keyword: strings.ToLower(keyword), Text: strings.TrimSpace(text)}
	err := p.err
	if strings.ContainsRune(text, 0) {
		err = errors.New("it has a NUL")
	}
	if err == nil {
		err = c.parse(f, words)
	}
	if err != nil {
		c.Err = fmt.Errorf("the hint %q cannot be read: %w", brief(p.text, 200), err)
	}
	return c
}

// brief shortens a text for a message.
func brief(s string, limit int) string { return reports.Fit(s, limit) }

// parse reads the argument and the clauses of a check.
func (c *Check) parse(f form, words []word) (err error) {
	for len(words) > 0 && err == nil {
		w := words[0]
		operands, isClause := f.clauses[w.text]
		switch {
		case f.clauses == nil && w.shell != 0:
			err = fmt.Errorf("an unquoted %c is for a shell, and there is no shell", w.shell)
		case f.clauses == nil, len(c.Args) == 0 && !(isClause && !w.quoted):
			c.Args, words = append(c.Args, w.source), words[1:]
		case len(f.clauses) == 0:
			err = fmt.Errorf("nothing can follow a %s", f.subject)
		case !isClause || w.quoted:
			err = fmt.Errorf("%q is none of %s", brief(w.text, 80), strings.Join(slices.Sorted(maps.Keys(f.clauses)), ", "))
		default:
			next := Clause{Word: w.text}
			words, err = next.parse(strings.Fields(operands), words)
			if n := len(c.Clauses); w.text == "text" && n > 0 && (c.Clauses[n-1].Word == "element" || c.Clauses[n-1].Word == "text") {
				next.Selector = c.Clauses[n-1].Selector
			}
			c.Clauses = append(c.Clauses, next)
		}
	}
	if err == nil && (len(c.Args) == 0 || c.Args[0] == "") {
		err = fmt.Errorf("no %s is named", f.subject)
	}
	return err
}

// parse reads the operands of a clause, and returns the words that follow.
func (c *Clause) parse(operands []string, words []word) ([]word, error) {
	for _, operand := range operands {
		before, rest := words[0].text, words[1:]
		if len(rest) == 0 || rest[0].text == "" && operand != "VALUE" {
			return nil, fmt.Errorf("nothing follows %s", before)
		}
		w, err := rest[0], error(nil)
		switch operand {
		case "CSS":
			c.Selector = w.text
		case "TEXT", "VALUE":
			c.Text = w.text
		case "RE":
			c.Text = w.text
			c.Pattern, err = compile(w.text)
		case "STATUS":
			if c.Number, err = strconv.ParseInt(w.text, 10, 64); err != nil || c.Number < 100 || c.Number > 599 {
				err = fmt.Errorf("%q is no HTTP status", brief(w.text, 80))
			}
		case "SIZE":
			number := strings.TrimLeft(w.text, "<>=")
			if c.Operator = strings.TrimSuffix(w.text, number); number == "" && len(rest) > 1 {
				rest = rest[1:]
				number = rest[0].text
			}
			if c.Number, err = strconv.ParseInt(number, 10, 64); err != nil {
				err = fmt.Errorf("%q is no number of bytes", number)
			} else if !slices.Contains([]string{"", "=", ">=", "<=", ">", "<"}, c.Operator) {
				err = fmt.Errorf("unknown operator %q: want >=, >, <=, < or =", c.Operator)
			}
		default:
			if w.quoted || w.text != operand {
				err = fmt.Errorf("%q follows %s, not %s", brief(w.text, 80), before, operand)
			}
		}
		if words = rest; err != nil {
			return nil, err
		}
	}
	return words[1:], nil
}

func compile(source string) (patterns.Pattern, error) {
	if len(source) > maxPattern {
		return patterns.Pattern{}, fmt.Errorf("a pattern has more than %d bytes", maxPattern)
	}
	p, err := patterns.Compile(source)
	if err == nil && p.Size() > maxInstructions {
		err = fmt.Errorf("the pattern %q is too large: its repeats expand to %d instructions, and the maximum is %d", source, p.Size(), maxInstructions)
	}
	return p, err
}

// Status returns the status that a check declares, or 0.
func (c Check) Status() (status int) {
	for _, clause := range c.Clauses {
		if clause.Word == "status" {
			status = int(clause.Number)
		}
	}
	return status
}

// Method returns the method that a url check declares, or GET.
func (c Check) Method() string {
	method := http.MethodGet
	for _, clause := range c.Clauses {
		if strings.ToUpper(clause.Word) == clause.Word {
			method = clause.Word
		}
	}
	return method
}
