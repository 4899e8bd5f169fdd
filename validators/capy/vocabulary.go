package capy

import (
	"cmp"
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/tables"
)

//go:embed tables/labels.tsv
var labelTable string

//go:embed tables/words.tsv
var wordTable string

//go:embed tables/patterns.tsv
var patternTable string

// A phrase is the words of a row and the kind of the row.
type phrase struct {
	words []string
	kind  string
	name  bool // an acronym: it needs no context to be the value's label
	each  bool // it is the label only of an amount per share
}

// A lexicon finds phrases by their first word.
type lexicon map[string][]phrase

func (l lexicon) add(kind, alternatives, form string) {
	for one := range strings.SplitSeq(alternatives, "|") {
		words := strings.Fields(one)
		l[words[0]] = append(l[words[0]], phrase{words, kind, form == "name", form == "per_share"})
		slices.SortStableFunc(l[words[0]], func(a, b phrase) int { return cmp.Compare(len(b.words), len(a.words)) })
	}
}

// at returns the longest phrase that begins at a token, nil if there is none.
func (l lexicon) at(tokens []token, i int) *phrase {
	list := l[tokens[i].word]
	for n := range list {
		if list[n].begins(tokens[i:]) {
			return &list[n]
		}
	}
	return nil
}

func (p *phrase) begins(tokens []token) bool {
	if len(tokens) < len(p.words) {
		return false
	}
	for i, word := range p.words {
		if tokens[i].word != word {
			return false
		}
	}
	return true
}

// find returns the kinds of all phrases in the tokens that have a prefix.
func (l lexicon) find(tokens []token, prefix string) []string {
	var kinds []string
	for i := range tokens {
		for n := range l[tokens[i].word] {
			if p := &l[tokens[i].word][n]; strings.HasPrefix(p.kind, prefix) && p.begins(tokens[i:]) {
				kinds = append(kinds, strings.TrimPrefix(p.kind, prefix))
			}
		}
	}
	return kinds
}

// has reports whether the tokens contain a phrase of a kind.
func (l lexicon) has(tokens []token, kind string) bool {
	return slices.Contains(l.find(tokens, kind), "")
}

// A vocabulary is the tables, compiled.
type vocabulary struct {
	labels   lexicon
	words    lexicon
	patterns map[string]*regexp.Regexp
	pointers map[string]string // JSON pointer → value
}

var shipped = sync.OnceValue(func() *vocabulary {
	v := &vocabulary{lexicon{}, lexicon{}, map[string]*regexp.Regexp{}, nil}
	for _, row := range tables.Rows(labelTable) {
		v.labels.add(row["value"], row["words"], row["form"])
	}
	for _, row := range tables.Rows(wordTable) {
		v.words.add(row["kind"], row["words"], "phrase")
	}
	sources := map[string]string{}
	for _, row := range tables.Rows(patternTable) {
		sources[row["kind"]] += "|" + row["pattern"]
	}
	for kind, source := range sources {
		v.patterns[kind] = regexp.MustCompile("(?is)" + source[1:])
	}
	return v
})

// with returns the vocabulary with the labels and pointers that a policy adds.
func (v *vocabulary) with(more map[string][]string, pointers map[string]string) *vocabulary {
	labels := lexicon{}
	for word, list := range v.labels {
		labels[word] = slices.Clone(list)
	}
	for _, value := range slices.Sorted(maps.Keys(more)) {
		for _, label := range more[value] {
			if words := tokens(fold(label)); len(words) > 0 {
				labels.add(value, joined(words), "phrase")
			}
		}
	}
	return &vocabulary{labels, v.words, v.patterns, pointers}
}

// matches reports whether one of the patterns of a kind matches.
func (v *vocabulary) matches(kind, text string) bool {
	return v.patterns[kind].MatchString(text)
}

// filler reports whether a text is a placeholder for missing content or a reference to
// another place.
func (v *vocabulary) filler(text string) bool {
	text = strings.Trim(text, " \t\r\n*_`\"|")
	if len(text) > maxFiller {
		return false
	}
	bare := strings.TrimRight(text, ".")
	if inner, ok := strings.CutPrefix(bare, "("); ok && strings.HasSuffix(inner, ")") {
		bare = strings.TrimSuffix(inner, ")")
	}
	return v.matches("filler", bare)
}

// maxFiller is how long a filler may be, in bytes.
const maxFiller = 300

// A token is a word or the digits of a text, in lower case.
type token struct {
	word       string
	start, end int
}

// tokens returns the runs of letters and digits of a folded text.
func tokens(text string) []token {
	var list []token
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			i += size
			continue
		}
		start := i
		for i < len(text) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)) {
			i += size
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		list = append(list, token{strings.ToLower(text[start:i]), start, i})
	}
	return list
}

func joined(list []token) string {
	words := make([]string, len(list))
	for i, t := range list {
		words[i] = t.word
	}
	return strings.Join(words, " ")
}

// lookalikes are letters of other scripts that look as Latin ones, see the table of
// confusable characters of Unicode, and the points of I.V.P.S.
var lookalikes = strings.NewReplacer("І", "I", "Ѕ", "S", "Р", "P", "Е", "E", "Ι", "I", "Ρ", "P",
	"Ε", "E", "а", "a", "е", "e", "о", "o",
	"р", "p", "с", "c", "і", "i", "ѕ", "s", "\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\u00ad", "", "\ufeff", "")

var initials = patterns.Lazy(`\b(?:\pL\.){3,}`)

// fold returns a text with compatibility characters, lookalikes and invisible
// characters replaced, and initials without their points.
func fold(text string) string {
	if !ascii(text) {
		text = norm.NFKC.String(lookalikes.Replace(text))
	}
	if strings.Count(text, ".") < 3 {
		return text
	}
	return initials().ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, ".", "") })
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
