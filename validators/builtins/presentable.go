package builtins

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/modelmarkup"
	"github.com/seed61713e19/capstan/validators"
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

// Prepare implements [validators.Prepared].
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
// that stands in no fence it says little that is true. Breaks are told in English, and
// asides too; of twelve other languages the plainest are known. What may be a model's refusal or a letter's is a warning.
var Presentable = validators.New("presentable", "Validates that the text can be let out: not cut off, nothing left in to be filled, nothing twice, no word of the model about itself, no secret, no personal data",
	func(_ context.Context, p presentable, s validators.Subject) (validators.Verdict, error) {
		found, warned := findings{check: "presentable"}, findings{check: "presentable"}
		look := func(at, text string) {
			d := &draft{findings: &found, warned: &warned, presentable: p, at: at, source: text, prose: reading.ProseOf(text)}
			for _, mark := range unpresentable {
				if !slices.Contains(p.Without, mark.name) && !d.leaks {
					mark.find(d)
				}
			}
		}
		switch s.Output.(type) {
		case map[string]any, []any:
			eachText(s.Output, "", look)
			if calls := modelmarkup.Calls(s.Content); len(calls) > 0 && !slices.Contains(p.Without, "asides") {
				found.add("", "a tool call was written as text: %s", quote(calls[0].Text))
			}
		default:
			look("", s.Content)
		}
		v := found.verdict("the text can be let out")
		v.Warnings = warned.warnings()
		return v, nil
	})

// A draft is a text that is looked at, or a value within one.
type draft struct {
	*findings
	warned *findings
	presentable
	at     string // of the value; "" for the text itself
	leaks  bool   // a credential stands in it
	source string
	prose  []reading.Prose
}

// tell notes a mark at a byte, doubt what may be one.
func (d *draft) tell(at int, format string, args ...any)  { d.note(d.findings, at, format, args...) }
func (d *draft) doubt(at int, format string, args ...any) { d.note(d.warned, at, format, args...) }

func (d *draft) note(f *findings, at int, format string, args ...any) {
	location := d.at
	if location == "" && len(f.issues) < maxIssues {
		location = lineAt(d.source, at)
	}
	f.add(location, format, args...)
}

// spokenIn is a paragraph with its quotations and code blanked, byte for byte.
func (d *draft) spokenIn(p reading.Span) string { return d.blanked(p, "\"`") }

// blanked is a part of the text without what stands between two of the one or two
// marks.
func (d *draft) blanked(p reading.Span, marks string) string {
	text := p.In(d.source)
	if !strings.ContainsAny(text, marks) {
		return text
	}
	b := []byte(text)
	for i := 0; i < len(b); i++ {
		if b[i] != marks[0] && b[i] != marks[len(marks)-1] {
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
		if strings.Contains(text, "TODO ") || strings.Contains(text, "FIXME ") {
			text = toDos().ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("_", len(s)) })
		}
		at := unwritten().Find(text)
		for _, l := range leftovers {
			if !strings.Contains(text, l.sign) {
				continue
			}
			for _, sign := range l.form().FindAllStringIndex(text, -1) {
				if !d.linked(text, sign) && (at == nil || sign[0] < at[0]) {
					at = sign
				}
			}
		}
		if at != nil {
			d.tell(p.From+at[0], "%s was left in to be filled", quote(strings.TrimSpace(text[at[0]:at[1]])))
		}
	}
}

// linked tells whether what stands in brackets is the text of a link: the target is
// behind it, or somewhere behind its name.
func (d *draft) linked(text string, in []int) bool {
	name, behind := text[in[0]:in[1]], text[in[1]:]
	if !strings.HasSuffix(name, "]") || strings.HasPrefix(behind, "(") {
		return strings.HasSuffix(name, "]")
	}
	if end := strings.IndexByte(behind, ']'); strings.HasPrefix(behind, "[") {
		name = behind[:end+1]
	}
	_, target, defined := strings.Cut(d.source, "\n"+name+": ")
	return defined && name != "" && target != "" && strings.IndexByte("<h/#.", target[0]) >= 0
}

// asides finds what a model says that is not the text.
func (d *draft) asides() {
	d.markup()
	if tag := d.tag(); tag != "" {
		d.tell(strings.Index(d.source, tag), "a tag of the model's own was left in: %s", quote(tag))
	}
	signed := sync.OnceValue(func() int { // where a letter in the text ends
		if all := signedOff().FindAllStringIndex(d.source, -1); all != nil {
			return all[len(all)-1][0]
		}
		return -1
	})
	for i, p := range d.prose {
		if at := leaked().Find(p.In(d.source)); at != nil && leaked().Match(d.spokenIn(p.Span)) {
			d.tell(p.From+at[0], "a mark of the model's own was left in: %s", quote(p.In(d.source)[at[0]:at[1]]))
		}
		for n, s := range p.Sentences {
			text := d.spokenIn(s)
			if len(text) > maxAside {
				continue
			}
			lower := strings.ToLower(oneSpelling.Replace(text))
			declines, offers := declining().Match(lower), offering().Match(lower)
			switch {
			case ofItself().Match(lower), saidAbroad(itselfAbroad, lower), asOne().Match(lower) && speaking().MatchString(lower):
				d.tell(s.From, "the model speaks of itself: %s", quote(text))
			case declines && (refusing().MatchString(lower) || i == 0 && n == 0 && refusingYou().MatchString(lower)), i == 0 && n == 0 && refusingAbroad().MatchString(lower), guided().Match(lower):
				d.tell(s.From, "the model refuses: %s", quote(text))
			case offers && signed() >= p.To:
				d.doubt(s.From, "this may be a letter, or the model speaks to whoever asked it: %s", quote(text))
			case offers, noted().Match(lower), saidAbroad(hopingAbroad, lower), i == 0 && n <= 1 && (opening().MatchString(lower) || handed().MatchString(lower) || d.presents(p, lower)):
				d.tell(s.From, "the model speaks to whoever asked it: %s", quote(text))
			case declines:
				d.doubt(s.From, "this may be a model's refusal: %s", quote(text))
			case commented().Match(lower):
				d.doubt(s.From, "this may be what the model says of its text: %s", quote(text))
			}
		}
	}
}

// markup finds thinking and tool calls that the model has written into the text.
func (d *draft) markup() {
	for _, s := range modelmarkup.Find(d.source) {
		what := "the model's thinking was left in: %s"
		if s.Kind == modelmarkup.ToolCall {
			what = "a tool call was written as text: %s"
		}
		d.tell(s.Start, what, quote(d.source[s.Start:s.End]))
	}
}

// tag is one of the model's own that the text begins or ends with. Within a text that
// is about them they may stand.
func (d *draft) tag() string {
	said := strings.TrimSpace(d.source)
	if begun := begunTag().FindString(said[:min(len(said), maxTag)]); begun != "" {
		return begun
	}
	ended := endedTag().FindString(said[max(0, len(said)-maxTag):])
	if ended == "</s>" && strings.Contains(said, "<s>") {
		return ""
	}
	return ended
}

// maxTag is the longest tag, in bytes.
const maxTag = 40

// presents tells a sentence that hands a text over from one that a list or a table
// of the text itself follows.
func (d *draft) presents(p reading.Prose, sentence string) bool {
	if presentingAbroad().MatchString(sentence) {
		return true
	}
	shown := presenting().MatchString(sentence) || handing().MatchString(sentence)
	return shown && (requested().MatchString(sentence) || !introduced().MatchString(d.source[p.To:]))
}

var oneSpelling = strings.NewReplacer("’", "'", "\n", " ")

// maxAside is how long, in bytes, a sentence is that is looked at for an aside.
const maxAside = 400

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
