package main

// A style is how a terminal shows some words: a parameter of SGR, as ECMA-48 has it.
type style string

const (
	bold   style = "1"
	faint  style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// styled is text in a style, and as it is where a line has none.
func (p *progress) styled(s style, text string) string {
	if p.width == nil {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}
