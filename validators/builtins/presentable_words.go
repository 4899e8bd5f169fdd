package builtins

import (
	"regexp"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// What is left in to be filled. Each needs several words, or signs that prose does
// not have, so that a text about models or templates says little of it outside of
// quotation marks and code.
var (
	// In groups, for the parser makes T(?:ODO|BD|BA) of them else, and a T is everywhere.
	unwritten = patterns.Sought(`\b(?:(TODO)|(TBD)|(TBA)|(FIXME)|(XXX+))\b|\b[Ll]orem ipsum\b`)

	// toDos are things that are called so.
	toDos = patterns.Lazy(`\b(?:TODO|FIXME) (?:lists?|columns?|items?|comments?|apps?|markers?|entry|entries|tags?|boards?|lanes?|cards?|labels?)(?:[^\w:]|$)`)
	// signedOff is how a letter ends.
	signedOff = patterns.Lazy(`(?im)^(?:(?:kind|best|warm|with (?:kind|best)) (?:regards|wishes)|regards|best|(?:yours )?sincerely|yours|cheers|all the best|thanks|many thanks|thank you),? *$`)

	relating = patterns.Lazy(`(?i)\b(?:what|who|whom|which|where|how|that|it is)\b`)
)

// What a model says beside its text. An employee of an AI company, or a letter that
// declines, says much the same: each needs the model's own words for it. What could
// be either is a doubt.
const (
	anAI     = `(?:ai|artificial intelligence|(?:ai |large )?language model)(?: (?:language )?(?:model|assistant|system|chatbot))?`
	itself   = `(?:[.,;:!?)–—]|$| (?:so|trained|developed|created|made)\b)`
	myself   = `\b(?:i|i'm|my|me)\b`
	cannot   = `\bi(?:'m| am)? (?:can't|cannot|can not|won't|(?:unable|not able) to) `
	declined = `(?:[.,;:!?]|$| (?:as|because|since|due|but)\b)`
)

var (
	ofItself  = patterns.Sought(`\bas an ai language model\b|\bi(?:'m| am) (?:only |just )?an? ` + anAI + itself + `|\bknowledge cutoff\b|\bmy training data\b`)
	asOne     = patterns.Sought(`\bas an? ` + anAI + `(?:` + itself + `| ` + myself + `)`)
	speaking  = patterns.Lazy(myself)
	declining = patterns.Sought(`^(?:(?:i'm|i am) )?(?:very |so )?(?:sorry|afraid)\b[^.]*` + cannot + `|` + cannot + `(?:help|assist|fulfil|comply|provide|complete|process|respond|do (?:that|this|such)|answer)`)
	refusing  = patterns.Lazy(cannot + `(?:help|assist)(?: you)? with (?:that|this)(?: (?:request|prompt|task|question|topic))?` + declined +
		`|` + cannot + `(?:fulfill?|comply with|process|complete|answer|respond to|do) (?:this|that|such an?|these) (?:request|prompt|instruction)s?` + declined)
	refusingYou = patterns.Lazy(cannot + `(?:(?:help|assist)(?: you)? with|fulfill?|comply with|process|complete) your request` + declined +
		`|^(?:(?:i'm|i am) )?(?:very |so )?(?:sorry|afraid)\b[^.]*` + cannot + `(?:do|answer|complete|provide) (?:that|this)` + declined)
	guided   = patterns.Sought(`\b(?:against|violates?|outside|beyond) my (?:\w+ )?(?:guidelines|programming)\b`)
	offering = patterns.Sought(`\bcontinued in (?:the |my )?next (?:message|response|reply)\b|\b(?:i |^)hope (?:this|that) helps(?:[.,;:!]|$)|\blet me know if you(?:'d| would)? (?:need|have|want|like)\b.*\b(?:else|more|questions|changes|adjustments|further)\b|\blet me know if you(?:'d| would) like me to (?:adjust|change|revise|rewrite|shorten|expand|make|modify|edit|tweak)\b` +
		`|\bis there anything else (?:that )?i can\b|\bfeel free to ask(?: me\b| (?:any |for |more |further |other |follow-up |additional )*(?:questions?|clarification|help))?(?:[.,;:!]|$)`)
	opening    = patterns.Lazy(`^(?:sure(?: thing)?|certainly|of course|absolutely|great question)(?:!|[.:]*$)|^(?:sure|certainly|of course|absolutely)[,.]? (?:here(?:'s| is| are)\b|i(?:'d| would) be (?:happy|glad) to help\b|i can help\b|let me\b)`)
	presenting = patterns.Lazy(`^(?:here(?:'s| is| are) (?:the|a|an|your|my)|i(?:'ve| have) (?:revised|rewritten|reworked|edited|shortened|translated|corrected|polished) (?:the|your))\b.*:$`)
	requested  = patterns.Lazy(`\b(?:your?|requested|revised|rewritten|corrected)\b`)
	introduced = patterns.Lazy("^\\s*(?:[-*+] |[0-9]+[.)] |\\||```|~~~)")
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
	{"}", patterns.Lazy(`(?:^|[\s("'“„«:=/,-])\{[0-9]\}`)}, // and none of a formula: \frac{1}{2}
	{"%", patterns.Lazy(`(?:^|\s)%[sdv](?:\s|[.,;:!?]|$)`)},
	{"]", patterns.Lazy(`\[(?i:todo|tbd|tba|placeholder|citation needed|object object|(?:insert|your|add|enter|fill in) [^\]\n]*|(?:first |last |full |company |customer |client |recipient )?name|date|address` +
		`|(?:vor|nach|firmen|(?:ihr|dein)e? )(?:name|anrede|firma|adresse)|datum|adresse|année|name (?:des|der) [^\]\n]*|nom (?:du|de) [^\]\n]*|(?:votre|vos|tu|su|seu|sua|il tuo|uw) [^\]\n]*|nom|prénom|nombre|nome|naam|fecha|[^\]\n]* (?:einfügen|einsetzen|eintragen)|(?:insérer|insertar|inserire|inserir) [^\]\n]*)\]`)},
	{">", patterns.Lazy(`<(?i:your|insert|company|customer|client|first|last|full) [\w ]*>|<(?i:name|date|placeholder)>`)},
}
