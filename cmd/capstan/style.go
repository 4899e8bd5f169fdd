package main

import "github.com/seed61713e19/capstan/runner/reports"

// A style is how a terminal shows some words: a parameter of SGR, as ECMA-48 has it.
type style string

const (
	bold   style = "1"
	faint  style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// A styledText may be printed as it is: the text in it has been escaped.
type styledText string

// styled returns text in a style, or without one if the progress has no styles.
func (p *progress) styled(s style, text string) styledText {
	text = reports.VisibleLine(text)
	if p.width == nil {
		return styledText(text)
	}
	return styledText("\x1b[" + string(s) + "m" + text + "\x1b[m")
}
