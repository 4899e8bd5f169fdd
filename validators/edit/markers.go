package edit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/textdiff"
)

const (
	maxFormat = 300   // bytes of a mark_format
	gapWord   = "GAP" // the word of a marker, unless mark_format has another
)

// A format is the mark_format of a gap policy.
type format struct {
	good *regexp.Regexp // a marker; nil without a mark_format
	like *regexp.Regexp // a marker or a lookalike
}

var (
	placeholder = patterns.Lazy(`<[^<>!/\s][^<>]*>|\{\{?[^{}]*\}?\}|\.\.\.|…`)
	letters     = patterns.Lazy(`\p{L}{2,}`)
	closing     = patterns.Lazy(`[\])}>]$`)
	bracketed   = patterns.Lazy(`\[[^\[\]\n]{1,200}\]`)
	otherUse    = patterns.Lazy(`^\[(?:[ xX]|\^.*|[\d, –-]+)\]$`) // a box, a footnote, a citation
)

// newFormat parses a mark_format such as "[GAP: <what is missing>]" or "<!--
// GAP {id}: {reason} -->". A placeholder matches any content.
func newFormat(text string) format {
	text = strings.TrimSpace(text)
	mark := gapWord
	if w := letters().FindString(placeholder().ReplaceAllString(text, " ")); w != "" {
		mark += "|" + regexp.QuoteMeta(w)
	}
	f := format{like: regexp.MustCompile(`(?:[\[({<【〔《「『⟦«]{1,3}|<!--)[^\p{L}\p{N}\n]{0,6}(?i:` + mark +
		`)(?:[^\p{L}\p{N}]|$)|(?:^|[^\p{L}\p{N}])(?:` + mark + `)[ \t]*:`)}
	if text == "" {
		return f
	}
	parts := placeholder().Split(text, -1)
	end := `\n` // that no content has
	if last := closing().FindString(parts[len(parts)-1]); last != "" {
		end = regexp.QuoteMeta(last)
	}
	for i, p := range parts {
		parts[i] = loose(p)
	}
	f.good = regexp.MustCompile(strings.Join(parts, `[^\s`+end+`][^`+end+`]*`))
	return f
}

// loose quotes a literal in which white space may be longer or missing.
func loose(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return `\s*` + strings.Join(words, `\s*`) + `\s*`
}

// find returns the markers of a text: those of the format, those against it, and
// other text in square brackets.
func (f format) find(text string) (good, bad, open []string) {
	if f.good != nil {
		text = f.good.ReplaceAllStringFunc(text, func(s string) string {
			good = append(good, clean(s))
			return "\n"
		})
	}
	for _, p := range append([]*regexp.Regexp{f.like}, gapPatterns()...) {
		text = p.ReplaceAllStringFunc(text, func(s string) string {
			bad = append(bad, clean(s))
			return "\n"
		})
	}
	for _, loc := range bracketed().FindAllStringIndex(text, -1) {
		s := text[loc[0]:loc[1]]
		if rest := text[loc[1]:]; !otherUse().MatchString(s) && (rest == "" || !strings.Contains("([:", rest[:1])) {
			open = append(open, clean(s))
		}
	}
	return good, bad, open
}

// fresh returns the elements of a list that another list has less often.
func fresh(list, known []string) []string {
	known = slices.Clone(known)
	return slices.DeleteFunc(list, func(s string) bool {
		i := slices.Index(known, s)
		if i >= 0 {
			known = slices.Delete(known, i, i+1)
		}
		return i >= 0
	})
}

// gaps checks the gap markers that the changes of a candidate text add.
func (in *input) gaps() graded {
	g := graded{Result: gradePass}
	if in.ActivePart != partText || len(in.unreadable) > 0 {
		return g
	}
	f := newFormat(in.status.Gap.MarkFormat)
	var old, now strings.Builder
	for _, c := range in.changes {
		if !c.code {
			old.WriteString(textdiff.Normal(c.old) + "\n\n")
			now.WriteString(textdiff.Normal(c.now) + "\n\n")
		}
	}
	if in.uncompared != nil {
		old.WriteString(in.source)
		now.WriteString(in.candidate)
	}
	good, bad, open := f.find(now.String())
	oldGood, oldBad, oldOpen := f.find(old.String())
	note := func(result grade, format string, list, known []string) {
		list = fresh(list, known)
		for i, s := range list[:min(len(list), maxDifferences)] {
			if i == 0 {
				g.Result = worst(g.Result, result)
			}
			g.Notes = append(g.Notes, format+": "+brief(s))
		}
	}
	note(gradePass, "new gap marker", good, oldGood)
	if f.good == nil {
		note(gradeWarn, "a new gap marker has no mark_format to follow", bad, oldBad)
	} else {
		note(gradeFail, "a new gap marker does not follow mark_format \""+brief(in.status.Gap.MarkFormat)+"\"", bad, oldBad)
	}
	note(gradeWarn, "new text in brackets may be a gap without a marker", open, oldOpen)
	return g
}
