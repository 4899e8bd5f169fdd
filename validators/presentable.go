package validators

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/validators/languages"
	"github.com/seed61713e19/capstan/validators/reading"
	"github.com/seed61713e19/capstan/validators/secrets"
)

// The marks of a text that nobody would let out, by the names that without takes.
var unpresentable = []struct {
	name string
	find func(*draft)
}{
	{"intruders", (*draft).intruders}, // first: what is quoted of a text with a credential may be the credential
	{"leftovers", (*draft).leftovers},
	{"asides", (*draft).asides},
	{"ending", (*draft).ending},
	{"breaks", (*draft).breaks},
	{"doubled", (*draft).doubled},
	{"language", (*draft).mixed},
	{"markdown", (*draft).broken},
}

type presentable struct {
	In      []string `json:"in,omitempty" jsonschema:"the languages that it may be written in, by their codes of ISO 639-1; any one if empty"`
	Without []string `json:"without,omitempty" jsonschema:"marks that are not looked for, of leftovers, asides, ending, breaks, doubled, language, markdown, intruders and personal"`
}

// personal is a mark that is an intruder's too.
const personal = "personal"

// Prepare implements [Prepared].
func (p *presentable) Prepare() error {
	known := []string{personal}
	for _, mark := range unpresentable {
		known = append(known, mark.name)
	}
	for _, name := range p.Without {
		if !slices.Contains(known, name) {
			return fmt.Errorf("without: there is no mark %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	if len(p.In) == 0 {
		return nil
	}
	own := languageParams{In: p.In} // by its rules
	err := own.Prepare()
	p.In = own.In
	return err
}

// Presentable rejects text that anybody can see is not to be let out, whatever it
// is about: placeholders and template tags that were left in (leftovers), a model
// that refuses, speaks of itself or to whoever asked it (asides), an end in the
// middle of a sentence (ending), a sentence that breaks off before the next one
// (breaks), one that stands twice in a row (doubled), one in another language
// than the rest, or than those that are asked for (language), a fence or link
// that is not closed, a row of a table that lacks a cell (markdown), credentials,
// somebody's personal data, orders to the next model (intruders; without personal,
// all but the data). Of a text that is JSON the values are looked at, each for
// itself. In code blocks only intruders are looked for, in quotations these and leftovers; of code
// that stands in no fence it says little that is true. Asides and breaks are told
// in English.
var Presentable = New("presentable", "Validates that the text can be let out: not cut off, nothing left in to be filled, nothing twice, no word of the model about itself, no secret, no personal data",
	func(_ context.Context, p presentable, s Subject) (Verdict, error) {
		found := findings{check: "presentable"}
		look := func(at, text string) {
			d := &draft{findings: &found, presentable: p, at: at, source: text, prose: reading.ProseOf(text)}
			for _, mark := range unpresentable {
				if !slices.Contains(p.Without, mark.name) && !d.leaks {
					mark.find(d)
				}
			}
		}
		switch s.Output.(type) {
		case map[string]any, []any:
			eachText(s.Output, "", look)
		default:
			look("", s.Content)
		}
		return found.verdict("the text can be let out"), nil
	})

// A draft is a text that is looked at, or a value within one.
type draft struct {
	*findings
	presentable
	at     string // of the value; "" for the text itself
	leaks  bool   // a credential stands in it
	source string
	prose  []reading.Prose
}

// tell notes a mark at a byte.
func (d *draft) tell(at int, format string, args ...any) {
	location := d.at
	if location == "" && len(d.issues) < maxIssues {
		location = lineAt(d.source, at)
	}
	d.add(location, format, args...)
}

// spokenIn is a paragraph with its quotations and code blanked, byte for byte.
func (d *draft) spokenIn(p reading.Span) string { return d.blanked(p, "\"`") }

// blanked is a part of the text without what stands between two of the marks.
func (d *draft) blanked(p reading.Span, marks string) string {
	b := []byte(p.In(d.source))
	for i := 0; i < len(b); i++ {
		if strings.IndexByte(marks, b[i]) < 0 {
			continue
		}
		if end := bytes.IndexByte(b[i+1:min(len(b), i+1+quoteReach)], b[i]); end >= 0 {
			for k := i; k <= i+1+end; k++ {
				b[k] = '_'
			}
			i += 1 + end
		}
	}
	return string(b)
}

// leftovers finds what was to be filled.
func (d *draft) leftovers() {
	for _, p := range d.prose {
		text := d.blanked(p.Span, "`")
		if !strings.ContainsAny(text, "[{<$%") && !strings.ContainsAny(text, "TXLl") {
			continue
		}
		if at := leftover().FindStringIndex(text); at != nil {
			d.tell(p.From+at[0], "%s was left in to be filled", quote(text[at[0]:at[1]]))
		}
	}
}

// asides finds what a model says that is not the text.
func (d *draft) asides() {
	for i, p := range d.prose {
		for n, s := range p.Sentences {
			text := d.spokenIn(s)
			if len(text) > maxAside {
				continue
			}
			switch lower := strings.ToLower(strings.ReplaceAll(text, "’", "'")); {
			case ofItself().MatchString(lower):
				d.tell(s.From, "the model speaks of itself: %s", quote(text))
			case refusing().MatchString(lower):
				d.tell(s.From, "the model refuses: %s", quote(text))
			case offering().MatchString(lower), i == 0 && n <= 1 && opening().MatchString(lower):
				d.tell(s.From, "the model speaks to whoever asked it: %s", quote(text))
			}
		}
	}
}

// maxAside is how long, in bytes, a sentence is that is looked at for an aside.
const maxAside = 400

// ending tells of a text that ends in the middle of a sentence.
func (d *draft) ending() {
	if len(d.prose) == 0 {
		return
	}
	p := d.prose[len(d.prose)-1]
	if strings.TrimSpace(d.source[p.To:]) != "" || len(p.Sentences) == 0 || strings.IndexByte("`])>", d.source[p.To-1]) >= 0 {
		return // a table, a block of code, a heading, a mark or a link comes last
	}
	last := p.Sentences[len(p.Sentences)-1]
	text := last.In(d.source)
	words := strings.Fields(text)
	end := strings.TrimRight(text, "\"'”’»)*_` ")
	switch final := words[len(words)-1]; {
	case end == "":
	case strings.ContainsAny(end[len(end)-1:], ",;([{&/") || strings.HasSuffix(end, "–") || strings.HasSuffix(end, "—"):
		d.tell(last.To-1, "the text ends with %s", quote(end[len(end)-1:]))
	case open(p.In(d.source)) != "":
		d.tell(last.From, "the text ends before %s is closed", open(p.In(d.source)))
	case reading.Terminal(lastRune(end)):
	case len(words) > 1 && goesOn(final, text):
		d.tell(last.From, "the text ends in the middle of a sentence, with %s", quote(final))
	case d.written(p) && len(words) > 1:
		d.tell(last.From, "the last sentence has no end: %s", quote(text))
	}
}

// open is the bracket or quotation mark of a paragraph that is not closed.
func open(text string) string {
	if strings.Count(text, "(") > strings.Count(text, ")") {
		return "a bracket"
	}
	if strings.Count(text, `"`)%2 == 1 || strings.Count(text, "“") > strings.Count(text, "”")+strings.Count(text, "„") {
		return "a quotation"
	}
	return ""
}

// written tells whether a paragraph is of sentences that end: neither an item of
// a list, nor verse, nor a line by itself.
func (d *draft) written(p reading.Prose) bool {
	if d.at != "" && len(p.Sentences) == 1 {
		return false // values are often written without a stop
	}
	lines := strings.Split(p.In(d.source), "\n")
	if len(lines) > 1 && slices.IndexFunc(lines, func(line string) bool { return len(line) > verse }) < 0 {
		return false
	}
	if start := strings.LastIndexByte(d.source[:p.From], '\n') + 1; strings.TrimSpace(d.source[start:p.From]) != "" {
		return len(p.Sentences) > 1 // an item with a sentence before
	}
	ended := 0
	for _, other := range d.prose {
		for _, s := range other.Sentences {
			if text := strings.TrimRight(s.In(d.source), "\"'”’»)*_` "); reading.Terminal(lastRune(text)) {
				ended++
			}
		}
	}
	words := len(strings.Fields(p.In(d.source)))
	if len(p.Sentences) == 1 && len(lines) == 1 && (words < signature || strings.HasPrefix(p.In(d.source), "*") || strings.HasPrefix(p.In(d.source), "_")) {
		return false
	}
	return ended > 0 || words >= headline
}

// A line of verse has no more bytes than that, and a line by itself no more words
// where it is a headline, or below a text a name.
const (
	verse     = 45
	headline  = 12
	signature = 5
)

// goesOn tells whether a sentence goes on behind its last word. Some words end
// one where another asks for it: what it is for.
func goesOn(word, sentence string) bool {
	word = strings.ToLower(word)
	return slices.Contains(goingOn, word) || slices.Contains(stranded, word) && !relating().MatchString(sentence)
}

var (
	goingOn = strings.Fields(`the a an and or but into whose their its our your my because than if when
		der die das den dem des ein eine einen einem einer und oder aber im zur zum le la les un une des et ou du el los las y o`)
	stranded = strings.Fields("of with for by from to in on at as is are was were be been has have had which who that while mit von ist sind de con para")
)

// breaks finds a sentence that another begins in: a word that begins one stands
// behind a small one, with nothing between, and before a small one.
func (d *draft) breaks() {
	for _, p := range d.prose {
		text := d.spokenIn(p.Span)
		if capitals(text) {
			continue
		}
		before, end := "", 0 // the word before, and where it ends
		for at := 0; at < len(text); {
			n := strings.IndexFunc(text[at:], func(r rune) bool { return !unicode.IsSpace(r) })
			if n < 0 {
				break
			}
			at += n
			size := strings.IndexFunc(text[at:], unicode.IsSpace)
			if size < 0 {
				break // nothing stands behind it
			}
			word := text[at : at+size]
			if begins[word] && isSmall(lastRune(before)) && !slices.Contains(naming, before) && isSmall(rune(text[min(at+size+1, len(text)-1)])) {
				line := text[strings.LastIndexByte(text[:end], '\n')+1 : end]
				if !strings.Contains(text[end:at], "\n") || len(line) > verse { // else each line begins so
					d.tell(p.From+at, "a sentence breaks off before %s", quote(word))
					break
				}
			}
			at += size
			before, end = word, at
		}
	}
}

func isSmall(r rune) bool { return unicode.IsLower(r) }

// begins are words that a sentence begins with, and no name.
var begins = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq("The This These Those It He She They We There But However When While Their His Its You If As Nobody Everyone In On At After Before Then An A") {
		words[word] = true
	}
	return words
}()

// naming are words behind which a title or a name may begin.
var naming = strings.Fields("called titled named entitled song book film series of in by and from")

// capitals tells whether a line writes most of its words large, as titles do.
func capitals(text string) bool {
	large, all := 0, 0
	for word := range strings.FieldsSeq(text) {
		all++
		if word[0] >= 'A' && word[0] <= 'Z' {
			large++
		}
	}
	return 2*large > all
}

// doubled finds a sentence, or a paragraph, that stands twice in a row.
func (d *draft) doubled() {
	before := ""
	for _, p := range d.prose {
		last := ""
		for _, s := range p.Sentences {
			text := strings.Join(strings.Fields(s.In(d.source)), " ")
			if text == last && strings.Count(text, " ") >= 2 {
				d.tell(s.From, "this stands twice: %s", quote(text))
			}
			last = text
		}
		text := p.In(d.source)
		if text == before && strings.Count(text, " ") >= 6 {
			d.tell(p.From, "this stands twice: %s", quote(text))
		}
		before = text
	}
}

// mixed finds sentences in another language than those asked for or, where none
// is, than most words of the text are in.
func (d *draft) mixed() {
	in := d.In
	if len(in) == 0 {
		in = []string{d.own()}
	} else if g := languages.Of(d.said()); g.Code != "" && !slices.Contains(in, g.Code) {
		d.tell(0, "the text is in %s", languages.Name(g.Code))
		return
	}
	for _, p := range d.prose {
		for _, s := range p.Sentences {
			if code := foreign(spoken(d.spokenIn(s))); code != "" && in[0] != "" && !slices.Contains(in, code) {
				d.tell(s.From, "this is in %s: %s", languages.Name(code), quote(s.In(d.source)))
			}
		}
	}
}

// said is what the text says in its own words.
func (d *draft) said() string {
	var b strings.Builder
	for _, p := range d.prose {
		b.WriteString(spoken(d.spokenIn(p.Span)) + "\n")
	}
	return b.String()
}

// own is the language of the text; "" where it cannot be told.
func (d *draft) own() string {
	if len(d.prose) == 0 || len(d.prose) == 1 && len(d.prose[0].Sentences) == 1 {
		return "" // there is nothing else that it could be in
	}
	words := map[string]int{}
	for _, p := range d.prose {
		for _, s := range p.Sentences {
			if g := languages.Of(spoken(d.spokenIn(s))); g.Code != "" {
				words[g.Code] += g.Words
			}
		}
	}
	own := ""
	for code, n := range words {
		if n > words[own] || n == words[own] && code < own {
			own = code
		}
	}
	return own
}

// foreign is the language that a sentence is in for sure: by its script, or where
// both halves of enough words say the same. A term, a name or a chance likeness
// is in one of them.
func foreign(sentence string) string {
	g := languages.Of(sentence)
	if g.Plain || g.Code == "" {
		return g.Code
	}
	words := strings.Fields(sentence)
	half := len(words) / 2
	if len(words) < foreignWords || languages.Of(strings.Join(words[:half], " ")).Code != g.Code || languages.Of(strings.Join(words[half:], " ")).Code != g.Code {
		return ""
	}
	return g.Code
}

// intruders finds what somebody else's hand, or a leak, has put in.
func (d *draft) intruders() {
	for s := range secrets.In(d.source) {
		d.leaks = true
		d.tell(s.Start, "this looks like %s", s.Name)
		break
	}
	inner := findings{check: d.check}
	injections(&inner, d.source)
	roleMarks(&inner, d.source)
	if !slices.Contains(d.Without, personal) {
		inner.issues = append(inner.issues, pii{allowed: map[string]bool{}}.find(d.source)...)
	}
	for _, i := range inner.issues {
		location := i.Location
		if d.at != "" {
			location = d.at
		}
		d.add(location, "%s", i.Message)
	}
}

// foreignWords is how many words of a sentence show that it is in another language.
const foreignWords = 8

// broken finds what Markdown begins and does not end.
func (d *draft) broken() {
	at, fence, mark := 0, -1, ""
	cells, ruled := 0, false
	for line := range strings.SplitAfterSeq(d.source, "\n") {
		text := strings.TrimSpace(line)
		switch signs := len(text) - len(strings.TrimLeft(text, "`")); {
		case fence >= 0:
			if strings.HasPrefix(text, mark) && strings.Trim(text, "`") == "" {
				fence = -1
			}
		case signs >= 3 && !strings.Contains(text[signs:], "`"):
			fence, mark = at, text[:signs]
		case !strings.HasPrefix(text, "|") || !strings.HasSuffix(text, "|") || strings.Contains(text, `\|`) || strings.Contains(text, "`"):
			cells, ruled = 0, false
		case strings.Trim(text, "|-: ") == "":
			ruled = true
		case cells == 0:
			cells = strings.Count(text, "|")
		case ruled && strings.Count(text, "|") < cells:
			d.tell(at, "the row has %s, and the table %d", count(strings.Count(text, "|")-1, "cell"), cells-1)
		}
		at += len(line)
	}
	if fence >= 0 {
		d.tell(fence, "the block of code is never closed")
	}
	d.links()
}

// links finds links without an end or a target.
func (d *draft) links() {
	for _, p := range d.prose {
		text := d.spokenIn(p.Span)
		for at := 0; ; {
			i := strings.Index(text[at:], "](")
			if i < 0 {
				break
			}
			at += i + 2
			end := strings.IndexAny(text[at:], ") \n")
			if end <= 0 || text[at+end] == '\n' || text[at+end] == ' ' && !strings.HasPrefix(text[at+end:], ` _`) {
				d.tell(p.From+at, "a link has no target, or no end")
				break
			}
		}
	}
}
