package exchanges

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/model"
)

// Weights of the JSON around a message, a call and a tool in a request, in
// tokens.
const (
	aroundMessage = 6
	aroundCall    = 12
	aroundTool    = 16
)

// Overhead returns the estimated weight of the other parts of a request in
// tokens: the descriptions of the tools and the schema of the answer.
func Overhead(tools []model.Tool, schema json.RawMessage) int {
	sum := Weigh(string(schema))
	for _, t := range tools {
		params, _ := json.Marshal(t.Parameters) // cannot fail, because it was read from JSON
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

// Weigh returns an upper estimate of the tokens of a text. It uses no
// tokenizer. Tokenizers of common models count less for prose, code, JSON and
// scripts other than Latin.
//
// A word has one token for every three letters. After another word, as in camelCase and
// encoded data, it has one for every two. Each digit, sign and line has one. A
// character of another script counts as one to three tokens, by its length.
func Weigh(text string) int {
	r := counter{size: 1}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			r.ascii(c)
			i++
			continue
		}
		char, size := utf8.DecodeRuneInString(text[i:])
		r.last, r.run, r.size = other, 0, 1
		r.tokens += max(size-1, 1) // also for invalid UTF-8
		if isSymbol(char) {
			r.tokens++
		}
		i += size
	}
	return r.tokens
}

// isSymbol reports whether a character is a sign, arrow or drawing that
// tokenizers split.
func isSymbol(char rune) bool {
	return 0x2000 <= char && char < 0x2C00 || 0x0F00 <= char && char < 0x1000
}

// A counter counts the tokens of a text.
type counter struct {
	tokens int
	last   class // of the previous character
	run    int   // number of equal characters so far
	size   int   // characters of the run per token
}

type class int

const (
	other class = iota // a sign or a line end
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

func (r *counter) ascii(c byte) {
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
	if own == blank && r.run == 1 { // counts as part of the next word
		return
	}
	if (r.run-1)%r.size == 0 {
		r.tokens++
	}
}

// sizeOf returns the number of characters of a run per token.
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
