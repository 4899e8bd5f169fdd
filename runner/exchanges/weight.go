package exchanges

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/model"
)

// What surrounds a message, a call and a tool in a request, in tokens.
const (
	aroundMessage = 6
	aroundCall    = 12
	aroundTool    = 16
)

// Around is what stands beside the messages in each request, in tokens,
// estimated: the tools that the model is told of and the schema that its answer is
// to follow.
func Around(tools []model.Tool, schema json.RawMessage) int {
	sum := Weigh(string(schema))
	for _, t := range tools {
		params, _ := json.Marshal(t.Parameters) // it was read from JSON
		sum += aroundTool + Weigh(t.Name) + Weigh(t.Description) + Weigh(string(params))
	}
	return sum
}

func weigh(m model.Message) int {
	sum := aroundMessage + Weigh(m.Content) + Weigh(m.ToolCallID) + Weigh(string(m.Extra))
	for _, c := range m.ToolCalls {
		sum += aroundCall + Weigh(c.ID) + Weigh(c.Name) + Weigh(c.Arguments) + Weigh(string(c.Extra))
	}
	return sum
}

// Weigh is how many tokens a text is, estimated on the safe side: no tokenizer is
// asked, and what those of common models make of prose, code, JSON and scripts
// other than Latin is less. A word is a token for every three letters, for every
// two where it follows on another, as in camelCase and in what is encoded; each
// digit, sign and line is one; a character of another script is one to three, by
// its length.
func Weigh(text string) int {
	r := reading{size: 1}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			r.ascii(c)
			i++
			continue
		}
		char, size := utf8.DecodeRuneInString(text[i:])
		r.last, r.run, r.size = other, 0, 1
		r.tokens += max(size-1, 1) // of what is no UTF-8 too
		if isSymbol(char) {
			r.tokens++
		}
		i += size
	}
	return r.tokens
}

// isSymbol tells whether a character is one of the signs, arrows and drawings that
// tokenizers take apart.
func isSymbol(char rune) bool {
	return 0x2000 <= char && char < 0x2C00 || 0x0F00 <= char && char < 0x1000
}

// A reading counts the tokens of a text.
type reading struct {
	tokens int
	last   class // of the character before
	run    int   // of characters like it
	size   int   // how many of the run are a token
}

type class int

const (
	other class = iota // a sign, a line
	digit
	small
	capital
	blank
)

func classOf(c byte) class {
	switch {
	case 'a' <= c && c <= 'z':
		return small
	case 'A' <= c && c <= 'Z':
		return capital
	case '0' <= c && c <= '9':
		return digit
	case c == ' ':
		return blank
	}
	return other
}

func (r *reading) ascii(c byte) {
	own := classOf(c)
	switch {
	case own == small && r.last == capital && r.run == 1: // Word
		r.last, r.run = small, 2
		return
	case own == r.last:
		r.run++
	default:
		r.size = sizeOf(own, r.last)
		r.last, r.run = own, 1
	}
	if own == blank && r.run == 1 { // it is the next word's
		return
	}
	if (r.run-1)%r.size == 0 {
		r.tokens++
	}
}

// sizeOf is how many characters of a run are a token.
func sizeOf(own, before class) int {
	switch {
	case own == other || own == digit:
		return 1
	case own == blank:
		return 4
	case before == digit || before == small || before == capital:
		return 2
	}
	return 3
}
