package reading

import (
	"fmt"
	"strings"
)

// The limits of a text. Goldmark takes quadratic time in the links and definitions of a
// paragraph, and in the containers that one line opens. Hostile text needs some hundred
// bytes of memory per byte.
const (
	maxText = 1 << 20
	maxWork = 500_000_000 // a unit takes goldmark up to two nanoseconds
)

// tooCostly returns why a text takes too long to parse. For each paragraph, it
// multiplies the length by the number of link marks. For each line, it multiplies the
// length by the number of containers that the line opens.
func tooCostly(source string) error {
	if len(source) > maxText {
		return fmt.Errorf("the text has %d bytes; a text that is not JSON may have %d", len(source), maxText)
	}
	work, length, links, line := 0, 0, 0, 0
	for text := range strings.Lines(source) {
		line++
		if strings.TrimSpace(text) == "" {
			work += length * links
			length, links = 0, 0
		}
		work += 4 * len(text) * containers(text)
		length += len(text)
		links += strings.Count(text, "](") + strings.Count(text, "]:") + 2*strings.Count(text, "[[")
		if work+length*links > maxWork {
			return fmt.Errorf("line %d: the links, quotations or lists nest too deeply to be read", line)
		}
	}
	return nil
}

// containers returns how many block quotes and list items a line may open.
func containers(line string) int {
	n := 0
	for i := 0; i < len(line) && strings.IndexByte(" \t>*+-.)0123456789", line[i]) >= 0; i++ {
		quote := line[i] == '>'
		item := i > 0 && (line[i] == ' ' || line[i] == '\t') && strings.IndexByte("*+-.)", line[i-1]) >= 0
		if quote || item {
			n++
		}
	}
	return n
}
