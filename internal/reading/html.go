package reading

import (
	"bytes"
	"strings"
)

// html writes the text that a browser shows for a part of the source, and records its
// links.
func (w *writer) html(s Span) {
	from := len(w.text)
	raw := w.source[s.Start:min(s.End, len(w.source))]
	last := bytes.LastIndexByte(raw, '>')
	for at := 0; at < len(raw); {
		open := bytes.IndexByte(raw[at:], '<')
		if open < 0 {
			open = len(raw) - at
		}
		w.entities(s.Start+at, s.Start+at+open)
		at += open
		switch {
		case at < last:
			at += w.tag(raw[at:], s.Start+at)
		case at < len(raw):
			w.put(raw[at:at+1], s.Start+at)
			at++
		}
	}
	w.inlines = append(w.inlines, Inline{RawHTML, Span{from, len(w.text)}, s, string(raw)})
	w.last = s.End
}

func (w *writer) entities(start, stop int) {
	from := start
	for at := start; at < stop; at++ {
		if size, letters := 0, []byte(nil); w.source[at] == '&' {
			if size, letters = entity(w.source[at:stop]); size > 0 {
				w.put(w.source[from:at], from)
				w.put(letters, at)
				from = at + size
				at = from - 1
			}
		}
	}
	w.put(w.source[from:stop], from)
}

// tag handles the tag that raw begins with and returns its size.
func (w *writer) tag(raw []byte, at int) int {
	if bytes.HasPrefix(raw, []byte("<!--")) {
		if end := bytes.Index(raw[4:], []byte("-->")); end >= 0 {
			return 4 + end + 3
		}
		return len(raw)
	}
	end := bytes.IndexByte(raw, '>')
	if len(raw) < 2 || end < 0 || !strings.ContainsRune("/!?", rune(raw[1])) && !letter(raw[1]) {
		w.put(raw[:1], at)
		return 1
	}
	name := tagName(raw)
	switch name {
	case "script", "style", "/script", "/style":
		if name[0] == '/' {
			break
		}
		return closingTag(raw, end, name)
	case "br", "p", "li", "tr", "div", "/p", "/li", "/tr", "/div", "h1", "h2", "h3", "h4", "h5", "h6":
		w.put([]byte("\n"), at)
	case "td", "th":
		w.put([]byte(" "), at)
	}
	w.attributes(raw[:end+1], at)
	return end + 1
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// tagName is the name of a tag in lower case, with the slash of a closing one.
func tagName(raw []byte) string {
	end := 1
	for end < len(raw) && (letter(raw[end]) || raw[end] >= '0' && raw[end] <= '9' || end == 1 && raw[end] == '/') {
		end++
	}
	return strings.ToLower(string(raw[1:end]))
}

// attributes notes the links of a tag.
func (w *writer) attributes(tag []byte, at int) {
	name := ""
	for i := len(tagName(tag)) + 1; i < len(tag); {
		switch c := tag[i]; {
		case letter(c) || c == '-' || c == ':':
			from := i
			for i < len(tag) && (letter(tag[i]) || tag[i] == '-' || tag[i] == ':') {
				i++
			}
			name = strings.ToLower(string(tag[from:i]))
		case c == '=':
			for i++; i < len(tag) && (tag[i] == ' ' || tag[i] == '\n' || tag[i] == '\t'); i++ {
			}
			from, size := i, 0
			if i < len(tag) && (tag[i] == '"' || tag[i] == '\'') {
				from++
				if size = bytes.IndexByte(tag[from:], tag[i]); size < 0 {
					return
				}
				i = from + size + 1
			} else {
				size = max(0, bytes.IndexAny(tag[from:], " \t\n>"))
				i = from + size
			}
			to := target(tag[from : from+size])
			if start, _ := nextScheme(to); name != "href" && name != "src" && start >= 0 {
				to = to[start:]
				to = to[:addressEnd(to)]
			} else if start < 0 && name != "href" && name != "src" {
				to = ""
			}
			if to != "" {
				w.links = append(w.links, Link{Span: Span{at, at + len(tag)}, Target: to, Image: name == "src", HTML: true})
			}
			name = ""
		default:
			i++
		}
	}
}

// closingTag returns the index of the closing tag of a name, the length of raw if there
// is none.
func closingTag(raw []byte, from int, name string) int {
	for at := from; ; at += 2 {
		next := bytes.Index(raw[at:], []byte("</"))
		if next < 0 {
			return len(raw)
		}
		at += next
		if rest := raw[at+2:]; len(rest) >= len(name) && strings.EqualFold(string(rest[:len(name)]), name) {
			return at
		}
	}
}
