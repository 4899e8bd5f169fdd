package builtins

import (
	"regexp"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// What is left in to be filled, and what a model says beside its text. Each needs
// several words, or signs that prose does not have, so that a text about models
// or templates says little of it outside of quotation marks and code.
var (
	unwritten = patterns.Sought(`\b(?:TODO|TBD|TBA|FIXME|XXX+)\b|\b[Ll]orem ipsum\b`)

	ofItself = patterns.Sought(`\bas an? (?:ai\b|artificial intelligence|(?:large )?language model)|\bi(?:'m| am) (?:only |just )?an? (?:ai\b|(?:large )?language model)|\bmy (?:knowledge cutoff|training data)\b|\bknowledge cutoff\b`)
	refusing = patterns.Sought(`^(?:(?:i'm|i am) )?(?:sorry|afraid)\b[^.]*\bi(?: am|'m)? (?:can't|cannot|can not|won't|unable|not able)|\bi (?:cannot|can't|can not|won't|am unable to|am not able to) (?:help|assist|fulfil|fulfill|comply|provide|complete|do that|answer)|\bi(?:'m| am) (?:unable|not able) to (?:help|assist|fulfil|fulfill|comply|provide|complete)`)
	offering = patterns.Sought(`\b(?:i )?hope (?:this|that) helps\b|\blet me know if you(?:'d| would)? (?:need|have|want|like)\b.*\b(?:else|more|questions|changes|adjustments|further)\b|\bis there anything else (?:that )?i can\b|\bfeel free to ask\b`)
	opening  = patterns.Lazy(`^(?:sure|certainly|of course|absolutely|great question|here(?:'s| is| are) (?:the|a|an|your|my)\b.*:$)[!,.:]*(?:\s|$)|^(?:sure|certainly|of course|absolutely)\b.*:$|^here(?:'s| is| are) (?:the|a|an|your|my)\b.*:$`)

	relating = patterns.Lazy(`(?i)\b(?:what|who|whom|which|where|how|that|it is)\b`)
)

// leftovers are what a program or a person was to fill in, each with a sign that
// it has: most paragraphs have none of them.
var leftovers = []struct {
	sign string
	form func() *regexp.Regexp
}{
	{"{{", patterns.Lazy(`\{\{[^{}\n]*\}\}`)},
	{"{%", patterns.Lazy(`\{%[^{}\n]*%\}`)},
	{"${", patterns.Lazy(`\$\{[\w. ]+\}`)},
	{"}", patterns.Lazy(`\{[0-9]\}`)},
	{"%", patterns.Lazy(`(?:^|\s)%[sdv](?:\s|[.,;:!?]|$)`)},
	{"]", patterns.Lazy(`\[(?i:todo|tbd|tba|placeholder|(?:insert|your|add|enter|fill in) [^\]\n]*|(?:first |last |full |company |customer |client |recipient )?name|date|address)\]`)},
	{">", patterns.Lazy(`<(?i:your|insert|company|customer|client|first|last|full) [\w ]*>|<(?i:name|date|placeholder)>`)},
}
