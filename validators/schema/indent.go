package schema

import "bytes"

// maxIndent is how deep JSON is written in lines. Brackets within brackets, each on a
// line of its own, are long by the square of their number: 18 KB of them are 160 MB.
const maxIndent = 32

// Indent is [Encode] in lines for people, without the last one's end. What nests
// deeper than 32 levels stands in one line.
func Indent(v any) ([]byte, error) {
	encoded, err := Encode(v)
	if err != nil {
		return nil, err
	}
	text := string(encoded)
	out, depth := make([]byte, 0, 2*len(text)), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			end, _, _ := stringEnd(text, i)
			out = append(out, text[i:end]...)
			i = end - 1
		case '{', '[':
			if out = append(out, c); text[i+1] == c+2 { // the closing one stands two behind in ASCII
				i++
				out = append(out, c+2)
				continue
			}
			depth++
			out = broken(out, depth, depth)
		case '}', ']':
			depth--
			out = append(broken(out, depth, depth+1), c)
		case ',':
			out = broken(append(out, c), depth, depth)
		case ':':
			if out = append(out, c); depth <= maxIndent {
				out = append(out, ' ')
			}
		default:
			out = append(out, c)
		}
	}
	return out, nil
}

// broken begins a new line, indented to depth, where what is within brackets at a
// level stands in lines.
func broken(out []byte, depth, level int) []byte {
	if level > maxIndent {
		return out
	}
	return append(append(out, '\n'), bytes.Repeat([]byte("  "), depth)...)
}
