package builtins

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/reading"
)

// Of a presentable text: sentences that end, and that are one.

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
	case strings.ContainsRune(",;([{&/–—、，；", lastRune(end)):
		d.tell(last.To-1, "the text ends with %s", quote(string(lastRune(end))))
	case open(d.blanked(p.Span, "`")) != "":
		d.tell(last.From, "the text ends before %s is closed", open(d.blanked(p.Span, "`")))
	case reading.Terminal(lastRune(end)):
	case (len(words) > 1 || len(p.Sentences) > 1) && goesOn(final, text):
		d.tell(last.From, "the text ends in the middle of a sentence, with %s", quote(final))
	case len(words) == 2 && strings.ContainsAny(final, "0123456789"): // 9. h3 1-0
	case d.written(p) && (len(words) > 1 || len(p.Sentences) > 1 && unspaced(end)):
		d.tell(last.From, "the last sentence has no end: %s", quote(text))
	}
}

// unspaced tells a sentence, and no name, in a script that has no blanks between words.
func unspaced(sentence string) bool {
	return strings.IndexFunc(sentence, func(r rune) bool { return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }) < 0 && utf8.RuneCountInString(sentence) >= signature
}

// open is the bracket or quotation mark of a paragraph that is not closed.
func open(text string) string {
	halfOpen := max(0, strings.Count(text, "]")-strings.Count(text, "[")) // (0, 1]
	if strings.Count(text, "(")-strings.Count(text, ":(") > strings.Count(text, ")")+halfOpen {
		return "a bracket"
	}
	quoted := false
	for i := range len(text) {
		if text[i] == '"' && (quoted || i == 0 || !isDigit(text[i-1])) { // else it is inches
			quoted = !quoted
		}
	}
	if quoted || strings.Count(text, "“") > strings.Count(text, "”")+strings.Count(text, "„") {
		return "a quotation"
	}
	return ""
}

// logged is a line as programs print it: with the time or a level before it.
var logged = patterns.Lazy(`^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]|\[?\d\d:\d\d:\d\d\b|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL)\b[\]:]? )`)

const blanks = "\t\n\f\r "

// inColumns tells of a line whose first word is set off from a second one by a tab or
// three blanks.
func inColumns(line string) bool {
	end := strings.IndexAny(line, blanks)
	if end < 1 {
		return false
	}
	second := strings.TrimLeft(line[end:], " ")
	gap := len(line) - end - len(second)
	if gap == 0 && second[0] == '\t' {
		gap, second = 3, second[1:]
	}
	return gap >= 3 && second != "" && strings.IndexByte(blanks, second[0]) < 0
}

// written tells whether a paragraph is of sentences that end: neither an item of
// a list, nor verse, nor a line by itself or of a log.
func (d *draft) written(p reading.Prose) bool {
	if d.at != "" && len(p.Sentences) == 1 {
		return false // values are often written without a stop
	}
	lines := strings.Split(p.In(d.source), "\n")
	if last := lines[len(lines)-1]; logged().MatchString(last) || inColumns(last) {
		return false
	}
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
