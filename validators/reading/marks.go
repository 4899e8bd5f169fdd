package reading

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Marks around words that change none of them.

// starred writes _emphasis_ as *emphasis*, for an underscore belongs to a word and a
// star does not. Underscores emphasize where they stand around words, as they do in
// no name (_a, a_b) and no address.
func starred(words string) string {
	if !strings.Contains(words, "_") {
		return words
	}
	b := []byte(words)
	opened, width := -1, 0
	for at := 0; at < len(words); at++ {
		n := len(words[at:]) - len(strings.TrimLeft(words[at:], "_"))
		if n == 0 {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(words[:at])
		behind, _ := utf8.DecodeRuneInString(words[at+n:])
		switch opens, closes := outside(before) && !isSpace(behind), outside(behind) && !isSpace(before); {
		case closes && opened >= 0 && n == width:
			for k := range n {
				b[opened+k], b[at+k] = '*', '*'
			}
			opened = -1
		case opens && opened < 0:
			opened, width = at, n
		}
		at += n - 1
	}
	return string(b)
}

// outside tells what stands outside of emphasis: nothing, a blank or a mark of the
// sentence.
func outside(r rune) bool {
	return r == utf8.RuneError || unicode.IsSpace(r) || strings.ContainsRune(".,;:!?()[]{}\"'“”‘’„«»*—–-…", r)
}

// plainCode reads code as words where the other text has them without the marks of
// code and beside the same word, and tells whether there is any: Run `make` for Run make.
func (p *pairing) plainCode() bool {
	old, now := codes(p.old, p.oldLoose), codes(p.now, p.nowLoose)
	if maps.Equal(old, now) {
		return false
	}
	wereBeside, areBeside := neighbours(p.old, p.oldLoose), neighbours(p.now, p.nowLoose)
	p.old, p.now = slices.Clone(p.old), slices.Clone(p.now)
	gone := unmarkedCode(p.old, p.oldLoose, surplus(old, now), areBeside)
	come := unmarkedCode(p.now, p.nowLoose, surplus(now, old), wereBeside)
	return gone || come
}

// codes is how often each text stands in some blocks as code within words.
func codes(blocks []Block, which []int) map[string]int {
	out := map[string]int{}
	for _, i := range which {
		for _, t := range blocks[i].leftOut {
			if t.Kind == Code {
				out[t.Text]++
			}
		}
	}
	return out
}

func surplus(list, others map[string]int) map[string]int {
	out := map[string]int{}
	for text, n := range list {
		out[text] = n - others[text]
	}
	return out
}

// neighbours are the pairs of words and marks that stand beside each other.
func neighbours(blocks []Block, which []int) map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, i := range which {
		before := ""
		for _, t := range tokens(blocks[i].Words) {
			out[[2]string{before, t.text}] = true
			before = t.text
		}
	}
	return out
}

func unmarkedCode(blocks []Block, which []int, more map[string]int, beside map[[2]string]bool) bool {
	done := false
	for _, i := range which {
		done = blocks[i].unmarkCode(more, beside) || done
	}
	return done
}

// unmarkCode makes words of code, of each text as often as there is more of it than
// in the other text, where that has them beside the same word.
func (b *Block) unmarkCode(more map[string]int, beside map[[2]string]bool) bool {
	parts := strings.Split(b.Words, standIn)
	if b.Form == Row || len(parts)-1 != len(b.leftOut) {
		return false
	}
	var words strings.Builder
	var left []Thing
	plain, n := map[int]bool{}, 0 // of the block's code
	for i, t := range b.leftOut {
		words.WriteString(parts[i])
		if t.Kind == Code && more[t.Text] > 0 && standBeside(parts[i], t.Text, parts[i+1], beside) {
			more[t.Text]--
			plain[n] = true
			words.WriteString(t.Text)
		} else {
			left = append(left, t)
			words.WriteString(standIn)
		}
		if t.Kind == Code {
			n++
		}
	}
	if len(plain) == 0 {
		return false
	}
	b.Words, b.leftOut, n = words.String()+parts[len(parts)-1], left, 0
	b.Things = slices.DeleteFunc(slices.Clone(b.Things), func(t Thing) bool {
		n++
		if t.Kind != Code {
			n--
		}
		return t.Kind == Code && plain[n-1]
	})
	return true
}

// standBeside tells whether words stand together, and with the last word before them
// or the first behind.
func standBeside(before, words, behind string, beside map[[2]string]bool) bool {
	list := tokens(words)
	for i := 1; i < len(list); i++ {
		if !beside[[2]string{list[i-1].text, list[i].text}] {
			return false
		}
	}
	if len(list) == 0 {
		return false
	}
	from, to := tokens(before), tokens(behind)
	return len(from) > 0 && beside[[2]string{from[len(from)-1].text, list[0].text}] || len(to) > 0 && beside[[2]string{list[len(list)-1].text, to[0].text}]
}

var emphasis = patterns.Lazy(`(^|[\s(\["'-])\*{1,3}([^\s*](?:[^*]*[^\s*])?)\*{1,3}`)

// worded are words without the marks of emphasis, with quotation marks in one way.
func worded(words string) string {
	words = plainQuotes(words)
	if !strings.Contains(words, "*") {
		return words
	}
	return emphasis().ReplaceAllString(words, "$1$2")
}
