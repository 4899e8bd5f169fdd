package builtins

import (
	"context"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reading"
)

// ownWords returns a text without the words of others. Blanks replace code blocks, block
// quotes and the signs between blocks. "_" replaces each byte of a quotation, a code span
// or a link. Line breaks and offsets stay the same. A text that cannot be read is one block.
func ownWords(ctx context.Context, text string) string {
	d, err := reading.Of(ctx, text)
	if err != nil {
		d = &reading.Document{Blocks: []reading.Block{{Span: reading.Span{End: len(text)}}}}
	}
	own := []byte(text)
	mask(own, ' ')
	for _, b := range d.Blocks {
		if b.Quoted || b.Kind == reading.CodeBlock {
			continue
		}
		copy(own[b.Start:b.End], text[b.Start:b.End])
		for _, e := range b.Inlines {
			if e.Kind == reading.CodeSpan || e.Kind == reading.LinkText {
				mask(own[e.Start:e.End], '_')
			}
		}
		maskQuotations(own[b.Start:b.End])
	}
	return string(own)
}

// maskQuotations puts "_" in place of the quotations of a block.
func maskQuotations(block []byte) {
	text := string(block)
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		if n := quotation(r, text[i+size:]); n > 0 {
			size += n
			mask(block[i:i+size], '_')
		}
	}
}

func mask(part []byte, with byte) {
	for i, b := range part {
		if b != '\n' {
			part[i] = with
		}
	}
}
