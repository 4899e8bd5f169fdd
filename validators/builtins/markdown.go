package builtins

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/validators"
)

// markdownValidator accepts well-formed Markdown. It rejects
//
//   - an open code fence and an empty heading
//   - a link or an image without a target, and a link to a missing heading (#anchor)
//   - brackets that look like a link but are none
//   - a table row with fewer cells than its header
//   - a text that [reading.Read] cannot read
//
// It warns of skipped heading levels, links without text and images without a
// description. It does not check links to other files.
var markdownValidator = validators.New("markdown", "Validates that the Markdown is well formed: headings, links and code fences",
	func(ctx context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
		m := markdownCheck{found: findings{check: "markdown"}, warned: findings{check: "markdown"}}
		d, err := reading.Of(ctx, s.Content)
		if err != nil {
			m.found.add("", "the text is not read: %v", err)
			return m.found.verdict(""), nil
		}
		m.Document = d
		m.blocks()
		m.tables()
		m.links()
		v := m.found.verdict("the Markdown is well formed")
		v.Warnings = m.warned.warnings()
		return v, nil
	})

type markdownCheck struct {
	*reading.Document
	found, warned findings
}

func (m *markdownCheck) line(offset int) string { return fmt.Sprintf("line %d", m.Line(offset)) }

func (m *markdownCheck) blocks() {
	level := 0
	for i := range m.Blocks {
		b := &m.Blocks[i]
		switch b.Kind {
		case reading.HeadingBlock:
			if strings.TrimSpace(b.Text) == "" && !hasPicture(b) {
				m.found.add(m.line(b.Start), "the heading is empty")
			}
			if level > 0 && b.Level > level+1 {
				m.warned.add(m.line(b.Start), "the heading goes from level %d to level %d", level, b.Level)
			}
			level = b.Level
		case reading.CodeBlock:
			if b.Fenced && !b.Closed {
				m.found.add(m.line(b.Start), "the code fence is never closed")
			}
			continue
		case reading.HTMLBlock:
			continue
		}
		if at := m.brokenLink(b); at >= 0 {
			m.found.add(m.line(at), "this looks like a link but is none: is its bracket closed, its target free of spaces?")
		}
	}
}

// tables reports the rows with fewer cells than their headers. Extra cells are
// allowed.
func (m *markdownCheck) tables() {
	for _, t := range m.Tables {
		for i, row := range t.Rows {
			if len(row) < len(t.Header) {
				m.found.add(m.line(m.Blocks[t.Block+1+i].Start), "the row has %d of the %d cells of its header", len(row), len(t.Header))
			}
		}
	}
}

// brokenLink returns the offset of the first "](" in the text of a block
// outside code, or -1. A backslash before the bracket makes it text.
func (m *markdownCheck) brokenLink(b *reading.Block) int {
	if !strings.Contains(b.Text, "](") {
		return -1
	}
	code := make([]bool, len(b.Text))
	for _, in := range b.Inlines {
		if in.Kind == reading.CodeSpan {
			for i := in.Text.Start; i < in.Text.End; i++ {
				code[i] = true
			}
		}
	}
	for at := 0; ; at++ {
		next := strings.Index(b.Text[at:], "](")
		if next < 0 {
			return -1
		}
		at += next
		if start := b.Offset(at); !code[at] && (start == 0 || m.Source[start-1] != '\\') {
			return start
		}
	}
}

func (m *markdownCheck) links() {
	anchors := m.anchors()
	for i, l := range m.Links {
		target := strings.TrimSpace(l.Target)
		switch {
		case l.HTML || l.Bare:
		case l.Image:
			if target == "" {
				m.found.add(m.line(l.Start), "the image has no target")
			}
			if l.Text == "" {
				m.warned.add(m.line(l.Start), "the image has no description")
			}
		default:
			if l.Text == "" && (i+1 == len(m.Links) || m.Links[i+1].Start >= l.End) {
				m.warned.add(m.line(l.Start), "the link to %s has no words", quote(target))
			}
			if target == "" || target == "#" {
				m.found.add(m.line(l.Start), "the link %s has no target", quote(l.Text))
			} else if name, ok := strings.CutPrefix(target, "#"); ok {
				if plain, err := url.PathUnescape(name); err == nil {
					name = plain
				}
				if !anchors[name] && name != "top" {
					m.found.add(m.line(l.Start), "the link %s points to no heading", quote(target))
				}
			}
		}
	}
}

var (
	idAttribute = patterns.Lazy(`(?i)\b(?:id|name)\s*=\s*["']?([^\s"'>]+)`)
	htmlHeading = patterns.Lazy(`(?is)<h[1-6](?:\s[^>]*)?>(.*?)</h[1-6]\s*>`)
	ownAnchor   = patterns.Lazy(`\s\{[^{}]*#([^\s{}]+)[^{}]*\}\s*$`) // ## The end {#end}
	htmlTag     = patterns.Lazy(`<[^>]*>`)
	pictureTag  = patterns.Lazy(`(?i)<(?:img|svg|picture|video)\b`)
)

// anchors returns the anchors of the document: those that code hosts generate
// from headings, those that headings name, and the ids in its HTML.
func (m *markdownCheck) anchors() map[string]bool {
	anchors, seen := map[string]bool{}, map[string]int{}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Kind == reading.HeadingBlock {
			words := b.Text
			if own := ownAnchor().FindStringSubmatchIndex(words); own != nil {
				anchors[words[own[2]:own[3]]] = true
				words = words[:own[0]]
			}
			anchors[unique(seen, slug(words))] = true
		}
		for _, in := range b.Inlines {
			if in.Kind != reading.RawHTML {
				continue
			}
			for _, id := range idAttribute().FindAllStringSubmatch(in.Raw, -1) {
				anchors[id[1]] = true
			}
			for _, heading := range htmlHeading().FindAllStringSubmatch(in.Raw, -1) {
				words := html.UnescapeString(htmlTag().ReplaceAllString(heading[1], ""))
				anchors[unique(seen, slug(strings.Join(strings.Fields(words), " ")))] = true
			}
		}
	}
	return anchors
}

// unique adds a number to a name that was seen before.
func unique(seen map[string]int, name string) string {
	n := seen[name]
	seen[name]++
	if n > 0 {
		return fmt.Sprintf("%s-%d", name, n)
	}
	return name
}

// slug returns the anchor of a heading: lower case, hyphens for spaces, without
// other marks.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-' || r == '\n':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// hasPicture reports whether a block contains a picture, in Markdown or in
// HTML.
func hasPicture(b *reading.Block) bool {
	for _, in := range b.Inlines {
		if in.Kind == reading.Image || in.Kind == reading.RawHTML && pictureTag().MatchString(in.Raw) {
			return true
		}
	}
	return false
}
