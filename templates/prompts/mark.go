package prompts

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Mark is what the tags around foreign texts carry in a prompt: a word that
// stands in none of them, so that no text can close its tags, however it spells
// them. It is the same when a run is done again, in a provider's cache, and when
// a secret in the text has become another, none of which a random one or a
// digest would be. A mark in front of each line would leave the line ends that
// we do not know of, and costs tokens.
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
