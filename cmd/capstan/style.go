package main

import "github.com/seed61713e19/capstan/internal/reports"

// A style is a style of terminal text: a parameter of SGR in ECMA-48.
type style string

const (
	bold   style = "1"
	faint  style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// A styledText is printed unchanged, because its text is already escaped.
type styledText string

// styled returns text in a style. Without styles, it returns plain text.
func (p *progress) styled(s style, text string) styledText {
	text = reports.VisibleLine(text)
	if p.width == nil {
		return styledText(text)
	}
	return styledText("\x1b[" + string(s) + "m" + text + "\x1b[m")
}
