package reading

import "bytes"

// setOff is the text of a line of which all is set off from the text around, by emphasis, in
// code, by signs at both ends or in tags, or is one word; nothing of any other.
func setOff(l *line) []byte {
	if n := len(l.text); l.kind == code || n == 0 || n > 250 || isUpper(l.text[0]) && bytes.IndexByte(l.text, ' ') >= 0 {
		return nil // prose, most often
	}
	t := bytes.TrimRight(bytes.TrimSpace(l.text), ":")
	if l.kind == html {
		t = inTags(t)
	} else if t = t[pictures(t):]; len(t) < 4 || len(t) > 200 || !(t[0] == t[len(t)-1] && settingOff[t[0]]) && bytes.IndexByte(t, ' ') >= 0 {
		return nil
	}
	return trimRight(trimLeft(t, &settingOff), &settingOff)
}

var settingOff = setOf("*_`=-: ")

// pictures is the length of the pictures and spaces that a text begins with.
func pictures(t []byte) (n int) {
	for n < len(t) && (t[n] == ' ' || t[n] >= 0x80 && blankRune(t[n:]) > 0) {
		n += max(1, blankRune(t[n:]))
	}
	return n
}

// inTags is what stands in the tags of bold text or of a summary, if that is all that a line
// has.
func inTags(t []byte) []byte {
	for {
		name, end := tagAt(t, 0)
		switch name {
		case "b", "strong", "summary", "details":
			t = t[end:]
			continue
		}
		if end := bytes.IndexByte(t, '<'); end >= 0 && t[len(t)-1] == '>' {
			return t[:end]
		}
		return nil
	}
}

// goesOn says that what follows a list's item is set in, as a part of it.
func (w *walker) goesOn() bool {
	t := bytes.TrimLeft(w.text[w.pos:min(len(w.text), w.pos+400)], "\r\n")
	return len(t) > 0 && (t[0] == ' ' || t[0] == '\t')
}
