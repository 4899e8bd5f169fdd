package reading

import (
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// modalPattern finds what a text demands, allows or forbids, with what turns
// it: must, must not, may only. Can and will are rather statements, and only
// their negations are taken; [turned] looks at the others.
var modalPattern = patterns.Lazy(`(?i)(?:\b(?:not|never|no longer|only) )?\b(?:must|shall|should|may|might|ought to|needs? to|needs? not|have to|has to|had to|` +
	`requires?|required|mandatory|obligatory|optional|recommended|forbidden|prohibited|permitted|allowed)\b(?:n['’]t\b)?(?: (?:not|never|only|always)\b)?` +
	`|\b(?:mustn|shan|shouldn|mayn|mightn|needn|can|couldn|won|wouldn)['’]t\b|\b(?:can ?not|could not|will not|would not)\b` +
	// German, French, Spanish.
	`|\b(?:muss|müssen|musst|darf|dürfen|darfst|soll|sollen|sollte|sollten)\b(?: (?:nicht|nie|nur)\b)?` +
	`|\b(?:ne )?(?:doit|doivent|devrait|devraient)\b(?: (?:pas|jamais)\b)?|\b(?:no )?(?:debe|deben|debería|deberían)\b`)

// modalHeads are the words of which one is in every match, as ASCII parts them:
// müssen is m and ssen.
var modalHeads = wordSet("must shall should may might ought need needs have has had require requires required mandatory obligatory optional recommended forbidden prohibited " +
	"permitted allowed mustn shan shouldn mayn mightn needn can couldn won wouldn cannot could will would " +
	"muss ssen musst darf rfen darfst soll sollen sollte sollten doit doivent devrait devraient debe deben deber")

var contractions = strings.NewReplacer("’", "'", "mustn't", "must not", "shan't", "shall not", "shouldn't", "should not", "needn't", "need not", "mightn't", "might not",
	"can't", "cannot", "can not", "cannot", "won't", "will not", "wouldn't", "would not", "couldn't", "could not", "has to", "have to", "had to", "have to",
	"needs to", "need to", "needs not", "need not", "requires", "require")

// modals finds modal verbs. Those in capitals, by which standards speak, are
// others than those in small letters.
func modals(words string) ([]string, string) {
	return taken(words, modalPattern(), func(s string) string {
		verb := strings.Fields(s)
		switch {
		case s == "May" || s == "Might": // a month, a power
			return ""
		case strings.ToUpper(s) == s && len(s) > 2:
			return s
		case strings.ToUpper(verb[0]) == verb[0] && len(verb[0]) > 2:
			return verb[0] + contractions.Replace(strings.ToLower(s[len(verb[0]):]))
		}
		return contractions.Replace(strings.ToLower(s))
	})
}
