package request

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/reading/numerals"
)

var (
	// earlier is what a sentence says of the time before the work was done, or of
	// its having been undone, up to where it goes on to what is now.
	earlier = patterns.Lazy(`(?im)(?:^|[;.] )[^;.\n]*?\b(?:(?:before|without|prior to|(?:after )?(?:undoing|reverting)) (?:the|this|my) (?:fix|change|patch|commit|edit)|at first|initially|originally|previously|mutated|reverted|undid|stashed|removed|broke|commented out)\b.*?(?:[;.] |\b(?:now|after|then|with|still|but)\b|$)`)
	// share is a number of so many. That of a step or an attempt is its place.
	share = patterns.Lazy(`(?im)(?:\b(attempt|try|retry|round|step|page|part|phase|stage|batch|shard|chunk|test|check|case) #?|^|[^/.\d-])(\d+)(?:/| (?:out )?of (?:the |all )?| von (?:den )?| sur | de (?:las )?)(\d+) (?:(?:\p{L}+ )?(?:[Tt]ests?|specs?|examples|scenarios|test cases|pruebas) )?(?:are |is )?(?:(pass|succeed|green|bestanden|réussi|supera)(?:e[ds]|ing|e?s|[dn][ao]s|n)?|fail(?:s|ed|ing)?|red)\s*(?:[.,;()]|$)`)

	// failingTests is a clause on tests that fail, or on those that do not all pass.
	failingTests = patterns.Lazy(`(?i)(?:(?:^|\s)(?:[1-9]\d*|an?|some|several|many|most|ein|einige|mehrere|un|une|una|plusieurs|varios|varias)(?: (?:of the|of these|der|des|de las|de los))?(?: \d+)? (?:[\pL-]+ )?(?:tests?|specs?|test cases|scenarios|pruebas?)` +
		`|^\s*(?:(?:the|these|those|all|its|unit|integration|die|alle|les|tous|las|los|todas) )*(?:tests|specs|(?:test )?suite|build|pipeline|ci|lint|pruebas)(?: #?\d+)?|(?:^|\s)(?:Test\p{Lu}|test_)\w+)` +
		` (?:(?:have|has|are|is|do|does|still|now|also|sind|ist|ont|han|ha|a) )*(?:fail(?:s|ed|ing)?|crash(?:es|ed)?|hangs?|time[sd]? out|red|fehlgeschlagen|schl(?:agen|ugen|ägt|ug) fehl|échou\pL+|fall(?:an|aron|a|ó)|broken|(?:not|n['’]t) (?:pass(?:ing)?|compile|build)|do(?:es)?n['’]t (?:pass|compile|build))(?: now| again)?\s*(?:$|and |but |with [1-9]|at the |on start|(?:in|after) \d|mais |pero |aber )` +
		`|(?:^|\s)\d?\d(?:\.\d+)?% (?:of (?:the |all )?(?:\pL+ )?)?tests pass(?:ed|ing)?\s*$|\b(?:most|nearly all|almost all) (?:of the )?(?:\pL+ )?(?:tests|specs) pass(?:ed)?\s*$|\ball (?:but|except) [1-9]\d*(?: of the)?(?: tests)? pass|\ball (?:the )?(?:[1-9]\d* )?(?:\pL+ )?(?:tests|specs) pass(?:ed)? (?:but|except|save|apart from)(?: for)? (?:[1-9]|Test\p{Lu}|test_)|\bnot all (?:of )?(?:the )?(?:\pL+ )?(?:tests|specs) pass(?:ed)?\b|\b(?:all|everything) (?:is |are )?(?:green|passes|ok) (?:but|except|save|apart from)(?: for)? \S|^\s*(?:fallan|fallaron) (?:\pL+|[1-9]\d*) pruebas|(?:^|\D)[1-9]\d* ?(?:个|項|件|つの)?(?:测试|テスト)?(?:用例)?(?:が|は)?(?:失败|失敗)|(?:^|\D)[1-9]\d* тест\pL* (?:упал|пада|провал|не про)\pL*|^\s*not (?:yet implemented|implemented yet)\s*$|\bcriterion is not (?:met|fulfilled|satisfied)\b|\bis not (?:yet implemented|implemented yet)\b`)
	denied   = patterns.Lazy(`(?i)\b(?:no|not|none|never|without|neither|nor|0|zero|kein\pL*|nicht|aucun\pL*|sin|ning\pL+)\b|n['’]t\b`)
	supposed = patterns.Lazy(`(?i)\b(?:if|when|whenever|unless|would|should|expected|on purpose|fixtures?|samples?|examples?|asserts|wenn|si|cuando)\b`)
	numeral  = patterns.Lazy(`(?i)\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|zwei|drei|vier|fünf|deux|trois|quatre|cinq|dos|tres|cuatro|cinco)\b`)
)

// A sentence on tests that fail has one of the outcomes and one of the subjects.
var (
	outcomes = []string{"fail", "pass", "ehl", "chou", "fall", "Fall", "broken", "compile", "crash", "hang", " out", " red", "败", "敗", "упа", "пада", "прова", "не про", "green", "not met", "mplemented"}
	subjects = []string{"est", "spec", "cenario", "rueba", "uite", "uild", "all ", "ipeline", "CI", "int ", "riterion", "mplemented", "verything", "тест", "失"}
)

// excuses begin what is said of the time before, behind what is so now: "it fails, but it did before".
var excuses = strings.NewReplacer(" but it ", "; it ", " but they ", "; they ", " but these ", "; these ", " but that ", "; that ")

// maxProse is the longest evidence that is read for sentences, in bytes. What is
// longer is what a program printed.
const maxProse = 16 << 10

// admitted gives what evidence in words has of a failure that is not of the time
// before the work, in one of the forms, or of tests. That is so where something is
// said to pass now.
func admitted(evidence string, o outcries) string {
	if o == nil {
		return ""
	}
	if !slices.ContainsFunc(outcomes, func(s string) bool { return strings.Contains(evidence, s) }) {
		return failing(evidence, o)
	}
	if len(evidence) <= maxProse {
		evidence = numeral().ReplaceAllStringFunc(evidence, func(word string) string { return strconv.Itoa(numerals.Value(word)) })
	}
	found := broken(evidence, o)
	if found == "" {
		return ""
	}
	if now := earlier().ReplaceAllString(excuses.Replace(evidence), " "); strings.Contains(now, "pass") {
		return broken(now, o)
	}
	return found
}

// broken does what failing does, and reads sentences on tests.
func broken(evidence string, o outcries) string {
	if found := failing(evidence, o); found != "" || len(evidence) > maxProse {
		return found
	}
	for sentence := range strings.FieldsFuncSeq(evidence, func(r rune) bool { return strings.ContainsRune(".;!?\n", r) }) {
		if !slices.ContainsFunc(subjects, func(s string) bool { return strings.Contains(sentence, s) }) {
			continue
		}
		for clause := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return strings.ContainsRune(",:()", r) }) {
			at := failingTests().FindStringIndex(clause)
			if at == nil || denied().MatchString(clause[:at[0]]) {
				continue
			}
			if supposed().MatchString(sentence) {
				break
			}
			return strings.TrimSpace(clause[at[0]:at[1]])
		}
	}
	return ""
}

// lacking gives a share of the tests that is not all of them: 43 of 45 tests passed.
func lacking(text string) string {
	if !strings.Contains(text, "pass") && !strings.Contains(text, "fail") && !strings.Contains(text, "succeed") && !strings.Contains(text, " green") && !strings.Contains(text, "bestanden") && !strings.Contains(text, "réussi") && !strings.Contains(text, "supera") && !strings.Contains(text, " red") {
		return ""
	}
	for _, m := range share().FindAllStringSubmatch(text, -1) {
		part, of, passed := number(m[2]), number(m[3]), m[4] != ""
		if m[1] == "" && (!passed && part > 0 || passed && part < of && !strings.Contains(text, "skipped")) {
			return strings.TrimSpace(m[0])
		}
	}
	return ""
}
