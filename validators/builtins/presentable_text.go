package builtins

import (
	"context"

	"github.com/seed61713e19/capstan/internal/reading"
)

// ownWords returns a text with only the author's own words. Blanks replace code
// blocks, block quotes and the text between blocks. "_" replaces each byte of a
// quotation, a code span or a link. Line breaks and offsets stay the same. A
// text that cannot be read is one block.
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
	for _, q := range reading.Quotations(string(block)) {
		mask(block[q.Start:q.End], '_')
	}
}

func mask(part []byte, with byte) {
	for i, b := range part {
		if b != '\n' {
			part[i] = with
		}
	}
}
