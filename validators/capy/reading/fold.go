package reading

import (
	"bytes"
	"encoding/binary"
	entities "html"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// folds tells the bytes that something foldable may begin with.
var folds = func() (table [256]bool) {
	for _, b := range []byte{'&', 0xC2, 0xE2, 0xEF, 0xF0} {
		table[b] = true
	}
	return table
}()

// folded is a text as it is seen: without characters that show nothing, letters and
// digits of full width or of mathematics as plain ones, entities as what they stand
// for, the upright lines of a drawn table as bars. Fences are as they were but for
// these, since what is in them is read as it is written, and JSON is judged. Lines stay
// lines.
//
//	IV\u200bPS &asymp; ２３.45   IVPS ≈ 23.45
func folded(t []byte) []byte {
	if !foldable(t) {
		return t
	}
	out, fenced := make([]byte, 0, len(t)), false
	for line := range bytes.Lines(t) {
		start := bytes.TrimLeft(line, " \t>")
		switch mark := bytes.HasPrefix(start, []byte("```")) || bytes.HasPrefix(start, []byte("~~~")); {
		case mark:
			fenced = !fenced
			out = append(out, line...)
		case fenced && !upright(firstRune(start)):
			out = append(out, line...)
		case fenced:
			out = append(out, bytes.ReplaceAll(line, []byte(string(firstRune(start))), []byte{'|'})...)
		default:
			out = appendFolded(out, line)
		}
	}
	return out
}

func foldable(t []byte) bool {
	for i := bytes.IndexByte(t, '&'); i >= 0; {
		if _, n := entity(t[i:]); n > 0 || compared(t, i) > 0 {
			return true
		}
		n := bytes.IndexByte(t[i+1:], '&')
		if n < 0 {
			break
		}
		i += 1 + n
	}
	for i := beyond(t, 0); i < len(t); i = beyond(t, i+1) {
		if folds[t[i]] {
			if _, n := fold(t[i:]); n > 0 {
				return true
			}
		}
	}
	return false
}

// beyond is where the first byte from i on stands that is not of ASCII.
func beyond(t []byte, i int) int {
	const tops = 0x8080808080808080
	for ; i+8 <= len(t); i += 8 {
		if eight := binary.LittleEndian.Uint64(t[i:]) & tops; eight != 0 {
			return i + bits.TrailingZeros64(eight)/8
		}
	}
	for i < len(t) && t[i] < utf8.RuneSelf {
		i++
	}
	return i
}

func appendFolded(out, t []byte) []byte {
	for i := 0; i < len(t); {
		if folds[t[i]] {
			if r, n := fold(t[i:]); n > 0 {
				if r >= 0 {
					out = utf8.AppendRune(out, r)
				}
				i += n
				continue
			}
			if sign := compared(t, i); sign > 0 {
				out = append(out, sign)
				i += len("&lt;")
				continue
			}
		}
		out = append(out, t[i])
		i++
	}
	return out
}

// fold gives what the n bytes that a text begins with are seen as, -1 for nothing;
// n is 0 where they are what they are.
func fold(t []byte) (seen rune, n int) {
	if t[0] == '&' {
		return entity(t)
	}
	r, n := utf8.DecodeRune(t)
	switch {
	case unseen(r):
		return -1, n
	case r == '₀':
		return '0', n // of Y₀
	case upright(r):
		return '|', n
	case r >= '！' && r <= '～':
		if at := r - '！' + '!'; isASCIIWord(byte(at)) || strings.IndexByte("$%.,+-()[]:;=/", byte(at)) >= 0 {
			return at, n
		}
		return 0, 0
	case r >= 0x1D400 && r <= 0x1D6A3:
		if at := (r - 0x1D400) % 52; at < 26 {
			return 'A' + at, n
		}
		return 'a' + (r-0x1D400)%26, n
	case r >= 0x1D7CE && r <= 0x1D7FF:
		return '0' + (r-0x1D7CE)%10, n
	}
	return 0, 0
}

// compared gives the sign that an entity at t[i:] is, where it stands between blanks behind
// something, as no tag and no quotation begins: 2.5% &lt; 14.5%.
func compared(t []byte, i int) byte {
	if i < 2 || len(t) < i+5 || t[i-1] != ' ' || t[i-2] <= '>' && t[i-2] != '%' && t[i-2] != ')' && !isDigit(t[i-2]) || t[i+4] != ' ' {
		return 0
	}
	switch string(t[i : i+4]) {
	case "&lt;":
		return '<'
	case "&gt;":
		return '>'
	}
	return 0
}

// upright says that a character is the line between two cells of a drawn table.
func upright(r rune) bool { return r == '│' || r == '┃' || r == '║' }

func firstRune(t []byte) rune {
	r, _ := utf8.DecodeRune(t)
	return r
}

// unseen says that a character shows nothing, and parts nothing.
func unseen(r rune) bool {
	return r == 0xAD || r >= 0x200B && r <= 0x200F || r == 0x2060 || r == 0xFEFF
}

// entity reads one of HTML. Those of marks stay, so that none becomes Markdown.
func entity(t []byte) (seen rune, n int) {
	end := bytes.IndexByte(t[:min(len(t), 12)], ';')
	if end < 0 {
		return 0, 0
	}
	said := entities.UnescapeString(string(t[:end+1]))
	r, size := utf8.DecodeRuneInString(said)
	if size != len(said) || r < utf8.RuneSelf && !isASCIIWord(byte(r)) && !bytes.ContainsRune([]byte("=$%:.,"), r) {
		return 0, 0
	}
	if unseen(r) {
		r = -1
	}
	return r, end + 1
}
