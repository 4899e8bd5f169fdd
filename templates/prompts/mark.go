package prompts

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// Mark returns the mark for the tags around foreign texts in a prompt. The mark
// is a word that occurs in none of the texts, so no text can close its tags,
// however it spells them. A repeated run, a provider's cache and a changed
// secret in the text get the same mark. A random mark or a digest would differ
// there. A mark in front of each line would miss unusual line ends and cost
// tokens.
func Mark(texts ...string) string {
	taken := map[string]bool{}
	for _, text := range texts {
		for _, word := range markLike().FindAllString(text, -1) {
			taken[strings.ToLower(word)] = true
		}
	}
	for n := 1; ; n++ {
		if word := fmt.Sprintf("q%d", n); !taken[word] {
			return word
		}
	}
}

var markLike = patterns.Lazy(`[qQ][1-9][0-9]{0,8}`)
