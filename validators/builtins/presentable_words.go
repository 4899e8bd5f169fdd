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
	reworked = `(?:adjust|change|revise|rewrite|rephrase|shorten|expand|elaborate|modify|edit|tweak|translate|summarize|refine)\b`
	ownTag   = `</?(?:final_)?answer>|<[|｜][a-z_▁]+[|｜]>|<(?:end|start)_of_turn>`
	declined = `(?:[.,;:!?]|$| (?:as|because|since|due|but)\b)`
)

var (
	ofItself  = patterns.Sought(`\bas an ai language model\b|\bas of my (?:last|latest|most recent) (?:(?:knowledge |training |data )update|update in (?:\pL+ )?20\d\d)\b|\bi(?:'m| am) (?:only |just )?an? ` + anAI + itself + `|\bknowledge cutoff\b|\bmy training data\b`)
	asOne     = patterns.Sought(`\bas an? ` + anAI + `(?:` + itself + `| ` + myself + `)`)
	speaking  = patterns.Lazy(myself)
	declining = patterns.Sought(`^(?:(?:i'm|i am) )?(?:very |so )?(?:sorry|afraid)\b[^.]*` + cannot + `|` + cannot + `(?:help|assist|fulfil|comply|provide|complete|process|respond|do (?:that|this|such)|answer)`)
	refusing  = patterns.Lazy(cannot + `(?:help|assist)(?: you)? with (?:that|this)(?: (?:request|prompt|task|question|topic))?` + declined +
		`|` + cannot + `(?:fulfill?|comply with|process|complete|answer|respond to|do) (?:this|that|such an?|these) (?:request|prompt|instruction)s?` + declined)
	refusingYou = patterns.Lazy(cannot + `(?:(?:help|assist)(?: you)? with|fulfill?|comply with|process|complete) your request` + declined +
		`|^(?:(?:i'm|i am) )?(?:very |so )?(?:sorry|afraid)\b[^.]*` + cannot + `(?:do|answer|complete|provide) (?:that|this)` + declined)
	guided   = patterns.Sought(`\b(?:against|violates?|outside|beyond) my (?:\w+ )?(?:guidelines|programming)\b`)
	offering = patterns.Sought(`\b(?:would you like|do you want) me to (?:` + reworked + `|make (?:it|this)\b)|\b(?:i |^)hope (?:this|that|it) (?:meets|matches|fits) your (?:needs|requirements|expectations|request)\b|\bcontinued in (?:the |my )?next (?:message|response|reply)\b|\b(?:i |^)hope (?:this|that) helps(?:[.,;:!]|$)|\blet me know if you(?:'d| would)? (?:need|have|want|like)\b.*\b(?:else|more|questions|changes|adjustments|further)\b|\blet me know if you(?:'d| would) like me to (?:adjust|change|revise|rewrite|shorten|expand|make|modify|edit|tweak)\b` +
		`|\bis there anything else (?:that )?i can\b|\bfeel free to ask(?: me\b| (?:any |for |more |further |other |follow-up |additional )*(?:questions?|clarification|help))?(?:[.,;:!]|$)`)
	opening    = patterns.Lazy(`^(?:sure(?: thing)?|certainly|of course|absolutely|great question)(?:!|[.:]*$)|^(?:sure|certainly|of course|absolutely)[,.]? (?:here(?:'s| is| are)\b|i(?:'d| would) be (?:happy|glad) to help\b|i can help\b|let me\b)`)
	presenting = patterns.Lazy(`^(?:here(?:'s| is| are) (?:the|a|an|your|my)|below (?:is|are) (?:the|a|an|your) (?:requested|revised|rewritten|corrected|edited|improved|polished|updated|shortened|translated)|i(?:'ve| have) (?:revised|rewritten|reworked|edited|shortened|translated|corrected|polished) (?:the|your))\b.*:$`)
	requested  = patterns.Lazy(`\b(?:your?|requested|revised|rewritten|corrected)\b`)
	// handed is what a first sentence says of the text that the model was given, or puts before its own.
	handed = patterns.Lazy(`\b(?:text|article|passage|excerpt|transcript|prompt|context) (?:that )?you(?:'ve| have)? (?:provided|shared|pasted|supplied|given|gave)\b|^\W*(?:assistant|final answer|(?:revised|rewritten|corrected|improved) (?:text|version))\W*:`)
	// noted is what stands below a text and counts or closes it.
	noted = patterns.Sought(`^\W*(?:word count\W+~?\d[\d,]*(?: words)?|end of (?:the )?(?:summary|response|translation|answer))\W*$`)
	// commented is what may be said of a text by the model that wrote it.
	commented = patterns.Sought(`\bi(?:'ve| have)? (?:kept|preserved|maintained|retained|fixed|corrected) (?:[\w'-]+ ){0,4}(?:original|tone|structure|meaning|typos?|grammar|wording|spelling)\b|^this (?:version|revision|rewrite|summary|translation) (?:is|keeps|preserves|maintains|captures)\b.*\b(?:concise|tone|original|meaning|structure|readab)|\bi (?:don't|do not|can't|cannot) (?:have )?access (?:to )?real-time\b|\bi(?:'m| am)? (?:can't|cannot|unable to|not able to) (?:browse|access) the (?:internet|web)\b`)
	// leaked are the marks of what a model found, and its tags where a text begins or ends with them.
	leaked     = patterns.Sought(`【\d+(?::\d+)?†[^】\n]*】|\[oaicite:|(?:(turn0)|(turn1)|(turn2)|(turn3))(?:search|view|news|file)\d`)
	begunTag   = patterns.Lazy(`^(?:` + ownTag + `)`)
	endedTag   = patterns.Lazy(`(?:` + ownTag + `|</s>)$`)
	introduced = patterns.Lazy("^\\s*(?:[-*+] |[0-9]+[.)] |\\||```|~~~)")
)

// greeted begins a letter to whom a program had no name for.
const greeted = `(?m)^(?:Dear|Hello|Hi|Hey|Hallo|Bonjour|Hola) `

// leftovers are what a program or a person was to fill in, each with a sign that
// it has: most paragraphs have none of them.
var leftovers = []struct {
	sign string
	form func() *regexp.Regexp
}{
	{"{{", patterns.Lazy(`\{\{[^{}\n]*\}\}`)},
	{"{%", patterns.Lazy(`\{%[^{}\n]*%\}`)},
	{"${", patterns.Lazy(`\$\{[\w. ]+\}`)},
	{"}", patterns.Lazy(`(?:^|[\s("'“„«:=/,-])\{[0-9]\}|(?:^|[\s("'“„«:,])\{(?:[a-z]+(?:_[a-z]+)+|(?:first|last|full|customer|client|user)Name|name|nome|nombre|nom)\}`)}, // and none of a formula: \frac{1}{2}
	{"%", patterns.Lazy(`(?:^|\s)(?:%[sdv](?:\s|[.,;:!?]|$)|__+ ?%)|%(?:FIRST|LAST|FULL|CUSTOMER)_?NAME%`)},
	{"|*", patterns.Lazy(`\*\|[A-Z_:]+\|\*`)},
	{"$XX", patterns.Lazy(`\$XX+\b`)},
	{"??", patterns.Lazy(`\b(?:Figure|Table|Section|Fig\.|Eq\.) \?\?`)},
	{"[?]", patterns.Lazy(`\b(?:Figure|Table|Section|Fig\.|Eq\.|Ref\.) \[\?\]`)},
	{"not ", patterns.Lazy(`Error! (?:Reference source not found|Bookmark not defined)\.`)},
	{"NaN", patterns.Lazy(`[$€£]NaN\b|\bNaN ?(?:%|€|euros?\b|dollars?\b)`)},
	{" undefined", patterns.Lazy(greeted + `undefined(?:[,!.]|$)`)},
	{" null", patterns.Lazy(greeted + `null(?:[,!.]|$)`)},
	{" None", patterns.Lazy(greeted + `None(?:[,!.]|$)`)},
	{" here)", patterns.Lazy(`\((?i:insert|add|enter|fill in) [^()\n]* here\)`)},
	{"]", patterns.Lazy(`\[(?i:todo|tbd|tba|placeholder|citation needed|object object|(?:insert|your|add|enter|fill in) [^\]\n]*|(?:first |last |full |company |customer |client |recipient |product )?name|date|address|year|month|amount|company|position|job title|phone(?: number)?|e-?mail(?: address)?|department|signature|statistic|percentage|topic|quarter` +
		`|[^\]\n]{0,12}(?:姓名|公司名|お客様名|氏名|会社名|имя|название компании|이름|회사명)[^\]\n]{0,12}` +
		`|(?:vor|nach|firmen|(?:ihr|dein)e? )(?:name|anrede|firma|adresse)|datum|adresse|année|name (?:des|der) [^\]\n]*|nom (?:du|de) [^\]\n]*|(?:votre|vos|tu|su|seu|sua|il tuo|uw) [^\]\n]*|nom|prénom|nombre|nome|naam|fecha|[^\]\n]* (?:einfügen|einsetzen|eintragen)|(?:insérer|insertar|inserire|inserir) [^\]\n]*)\]`)},
	{">", patterns.Lazy(`<(?i:your|insert|company|customer|client|first|last|full) [\w ]*>|<(?i:name|date|placeholder)>`)},
}
