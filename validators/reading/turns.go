package reading

import (
	"slices"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff/lcs"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// maxHunk is how many words on either side may have changed in one place for a
// word there to turn what stays around it; more is a sentence in other words.
const maxHunk = 4

// toggles turn a sentence by being there or not.
var toggles = wordSet("not never no none nobody nothing neither nor without only solely exclusively except unless cannot every each always " +
	"nicht nie niemals kein keine keinen keiner nur ohne außer pas jamais aucun aucune sans nunca sin excepto non nessuno senza tranne não ninguém sem niet nooit geen zonder behalve inte aldrig ingen inget utan ikke aldri uten uden " +
	"не ни нет без нельзя никогда никто ничего только ні ніколи bez nigdy nikt nikdy nelze değil değildir yok hiç asla twice thrice hardly scarcely barely approximately roughly about almost nearly " +
	"není nejsou nemá nije nisu nema nikad ei eivät eikä ilman nem nincs nincsenek sem soha δεν δε μην όχι χωρίς ποτέ לא אינו אינה אינם אין בלי لا ليس ليست لم لن غير بدون نیست نباید نه नहीं मत बिना " +
	"không chưa chẳng đừng tidak bukan jangan belum tanpa ningún ninguna ninguno nadie tampoco nessuna nenhum nenhuma żaden " +
	"ausschließlich lediglich seul seule seuls seules seulement uniquement solo sólo solamente únicamente soltanto só somente apenas alleen slechts endast")

// rivals are pairs of words of which each says something else than the other: each of
// a list, or those on the sides of a slash.
var rivals = sync.OnceValue(func() map[[2]string]bool {
	m := map[[2]string]bool{}
	for _, set := range []string{
		"before after during until", "and or", "above below", "over under", "up down", "minimum maximum", "min max", "least most", "lowest highest", "smallest largest",
		"increase / decrease reduce", "increases / decreases reduces", "increased / decreased reduced", "more / less fewer", "higher lower", "greater smaller", "longer shorter", "earlier later", "faster slower",
		"all some most many few every each any none", "always never often sometimes usually rarely occasionally generally seldom", "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth last", "true false", "yes no",
		"enable disable", "include exclude", "includes excludes", "included excluded", "allow / deny forbid refuse block", "allows / denies forbids refuses blocks", "allowed / denied forbidden refused blocked", "grant deny", "granted denied",
		"accept / reject refuse", "accepts / rejects refuses", "accepted / rejected refused", "approve reject", "approves rejects", "approved rejected", "internal external", "public private", "inside within / outside", "open closed", "opens closes", "opened closed",
		"start begin / stop end", "starts stops", "started stopped", "daily weekly monthly yearly annually hourly", "can cannot will could would", "left right", "north south east west", "positive negative",
		"success failure", "succeed fail", "succeeds fails", "succeeded failed", "pass fail", "passes fails", "passed failed", "proves suggests shows", "causes correlates",
		"add remove", "adds removes", "added removed", "keep / drop delete", "keeps / drops deletes", "kept / dropped deleted", "read write", "reads writes", "lock unlock", "shown hidden", "show hide", "shows hides", "present absent", "empty full",
		"encrypt decrypt", "encrypted decrypted", "encode decode", "ascending descending", "online offline", "upload download", "uploads downloads", "import export", "imports exports", "send receive", "sends receives", "sent received",
		"strict lenient", "client server", "source target", "parent child", "automatic manual", "automatically manually", "temporary permanent", "local remote global", "read-only writable", "fully partly", "since until", "beforehand afterwards", "previous next",
		"profit loss", "buy sell", "buys sells", "bought sold", "buyer seller", "lender borrower", "employer employee", "landlord tenant", "plaintiff defendant", "licensor licensee", "credit debit", "income expense", "guilty innocent",
		"raise lower", "raises lowers", "raised lowered", "rises falls", "rose fell", "grows shrinks", "grew shrank", "gain loss", "wins loses", "improves worsens", "improved worsened", "better worse", "best worst", "strong weak", "stronger weaker", "high low", "large small", "larger smaller", "long short", "early late", "fast slow",
		"prove suggest show", "proved suggested showed", "upper lower", "voluntary / compulsory", "missing present", "adults children", "top bottom", "front back", "incoming outgoing", "inbound outbound", "synchronous asynchronous", "gross net", "sender recipient", "majority minority", "odd even",
		"hot cold", "cheap expensive", "old new", "older / younger newer", "oldest / youngest newest", "inclusive exclusive", "morning afternoon evening night", "today tomorrow yesterday", "horizontal vertical",
		"same different", "with without", "within / after beyond", "both one", "lack have", "lacks has", "prevent / cause allow enable", "prevents / causes allows enables", "prevented / caused allowed enabled",
		"once twice thrice", "doubles triples halves", "doubled tripled halved", "both either neither", "from until", "on off", "in out", "spring summer autumn winter",
		"dozens hundreds thousands millions billions", "half third quarter fifth", "halves thirds quarters fifths", "single double triple", "twofold threefold fourfold fivefold tenfold", "noon midnight",
		"second minute hour day week month quarter year decade century", "seconds minutes hours days weeks months quarters years decades centuries",
		// What must be, and what may, where modal verbs are not looked for.
		"deve / può pode", "devono possono", "devem podem", "moet mag", "moeten mogen", "måste får", "должен может", "должна может", "должно может", "должны могут", "musi może", "muszą mogą", "musí může smí",
		// German, French, Spanish.
		"vor nach während bis", "und oder", "alle allen einige einigen manche viele wenige jede jeder jedes", "immer nie niemals oft manchmal selten meistens", "mindestens höchstens", "mehr weniger",
		"größer kleiner", "länger kürzer", "früher später", "vormittags nachmittags", "erste zweite dritte vierte letzte", "ersten zweiten dritten vierten letzten",
		"januar februar märz april mai juni juli august september oktober november dezember", "montag dienstag mittwoch donnerstag freitag samstag sonntag",
		"offen geschlossen", "öffnen schließen", "links rechts", "linke rechte", "linken rechten", "oben unten", "erlaubt verboten", "kostenlos kostenpflichtig", "täglich wöchentlich monatlich jährlich", "minimal maximal", "steigt sinkt", "gestiegen gesunken", "erhöht gesenkt", "käufer verkäufer", "mieter vermieter", "gestern heute morgen",
		"ouvert fermé", "ouverte fermée", "gauche droite", "autorisé interdit", "autorisée interdite", "gratuit payant", "augmente diminue", "augmenté diminué", "quotidien hebdomadaire mensuel annuel", "acheteur vendeur", "obligatoire facultatif", "minimum maximum",
		"abierto cerrado", "abierta cerrada", "izquierda derecha", "permitido prohibido", "aumenta disminuye", "diario semanal mensual anual", "comprador vendedor", "obligatorio opcional voluntario", "mínimo máximo", "arriba abajo",
		"avant après pendant jusqu'à", "et ou", "tous certains plusieurs", "toutes certaines plusieurs", "toujours jamais souvent parfois rarement", "plus moins", "premier deuxième troisième dernier",
		"janvier février mars avril mai juin juillet août septembre octobre novembre décembre", "lundi mardi mercredi jeudi vendredi samedi dimanche",
		"antes después durante", "y o", "todos algunos muchos pocos", "todas algunas muchas pocas", "siempre nunca jamás", "más menos", "primero segundo tercero último",
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre", "lunes martes miércoles jueves viernes sábado domingo",
	} {
		sides := strings.Split(set, " / ")
		if len(sides) == 1 {
			sides = strings.Fields(set)
		}
		for i, side := range sides {
			for w := range strings.FieldsSeq(side) {
				for v := range strings.FieldsSeq(strings.Join(sides[i+1:], " ")) {
					m[[2]string{w, v}], m[[2]string{v, w}] = true, true
				}
			}
		}
	}
	return m
})

func wordSet(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		m := map[string]bool{}
		for w := range strings.FieldsSeq(list) {
			m[w] = true
		}
		return m
	})
}

// A hunk is a place where words were put for others, and which word of the new ones is
// the first.
type hunk struct {
	old, now []string
	at       int
}

// hunks are the places where two lists of words differ. In two that differ in
// very many places they are larger than they need be.
func hunks(old, now []string) []hunk {
	var out []hunk
	for _, d := range lcs.DiffLines(folded(old), folded(now)) {
		out = append(out, hunk{old[d.Start:d.End], now[d.ReplStart:d.ReplEnd], d.ReplStart})
	}
	return out
}

func folded(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(strings.ToLower(w), "’", "'")
	}
	return out
}

// turned tells what in a small hunk turns the sentence around it; "" for
// nothing.
func (h hunk) turned() (old, now string) {
	if len(h.old) > maxHunk || len(h.now) > maxHunk {
		return "", ""
	}
	gone, come := folded(h.old), folded(h.now)
	for _, pair := range [][2][]string{{gone, come}, {come, gone}} {
		for _, w := range pair[0] {
			if toggles()[w] && !slices.Contains(pair[1], w) {
				return strings.Join(h.old, " "), strings.Join(h.now, " ")
			}
		}
	}
	if h.denied() {
		return strings.Join(h.old, " "), strings.Join(h.now, " ")
	}
	for _, w := range gone {
		for _, v := range come {
			if rivals()[[2]string{w, v}] || negates(w, v) || negates(v, w) {
				return w, v
			}
		}
	}
	return "", ""
}

// negates tells whether a word is another with a syllable before it that denies it, or
// behind it: untrusted, irreversible, stateless.
func negates(word, other string) bool {
	if stem, found := strings.CutSuffix(word, "less"); found && len(stem) > 2 && other == stem+"ful" {
		return true
	}
	before, found := strings.CutSuffix(word, other)
	return found && len(other) > 3 && denials()[before]
}

var denials = wordSet("un in im il ir dis non non- a ne nie")

// What denies a sentence of East Asia or of Thai within its words, which have no blanks between
// them, and words that have the same signs.
var (
	denying  = []string{"不", "没", "沒", "勿", "未", "无", "無", "ない", "ません", "なかった", "않", "없", "못", "ไม่", "ห้าม"}
	harmless = strings.NewReplacer("不错", "", "不同", "", "不过", "", "不断", "", "不仅", "", "不少", "", "未来", "", "无论", "", "少ない", "")
)

// denied tells whether one side of a hunk has more of these, and little else is
// otherwise there.
func (h hunk) denied() bool {
	old, now := harmless.Replace(strings.Join(h.old, "")), harmless.Replace(strings.Join(h.now, ""))
	if isASCII(old) && isASCII(now) {
		return false
	}
	count := func(s string) (n int) {
		for _, d := range denying {
			n += strings.Count(s, d)
		}
		return n
	}
	a, b := []rune(old), []rune(now)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= maxHunk && len(b) <= maxHunk && count(old) != count(now)
}

// renamed gives two names of which a small hunk puts one for the other.
func (h hunk) renamed(isName map[string]bool) (old, now string) {
	if len(h.old) > 2 || len(h.now) > 2 {
		return "", ""
	}
	for _, w := range h.old {
		for _, v := range h.now {
			if isName[w] && isName[v] && !strings.EqualFold(w, v) {
				return w, v
			}
		}
	}
	return "", ""
}

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

var anyModal = anyWord(modalHeads)

// modals finds modal verbs. No match goes over a mark, and only what stands between
// two with such a verb is matched, which is slow.
func modals(words string) (found []string, rest string) {
	var b strings.Builder
	for len(words) > 0 {
		end := strings.IndexAny(words, ".,;:!?()\n") + 1
		if end == 0 {
			end = len(words)
		}
		piece := words[:end]
		words = words[end:]
		if anyModal(piece) {
			var verbs []string
			verbs, piece = taken(piece, modalPattern(), modal)
			found = append(found, verbs...)
		}
		b.WriteString(piece)
	}
	return found, b.String()
}

// modal writes a modal verb as it is compared. One in capitals, by which standards
// speak, is another than one in small letters.
func modal(s string) string {
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
}

var (
	// narrowing is what a clause says that narrows its sentence, and excepting what
	// one says that does no more than that: when and where may explain as well.
	narrowing = patterns.Lazy(`\b(?:` + exceptions + `|when|whenever|where|wherever|while|before|after|but|not|never|no|none|nobody|nothing|neither|nor|cannot` +
		`|solange|sobald|bevor|nachdem|aber|nicht|nie|kein\pL*|non|não|niet|geen|inte|quand|lorsque|avant|mais|pas|jamais|cuando|antes|después|pero|nunca)\b`)
	excepting  = patterns.Lazy(`\b(?:` + exceptions + `)\b`)
	instancing = patterns.Lazy(`\b(?:for (?:instance|example)|such as|zum beispiel|par exemple|por ejemplo)\b`)
)

const exceptions = `if|unless|except|excepting|provided|providing|only|until|till|without|as long as|in case|wenn|falls|sofern|ohne|nur|sauf|si|sans|seulement|salvo|excepto|sin|solo|sólo`

// minClause is of how many words a clause is.
const minClause = 3

// conditions finds the clauses that narrow a sentence and are gone from it, or new
// in it, where the sentence stays: unless the owner agrees. One that stands
// elsewhere, or in other words, is none.
func conditions(gone, come []sentence, line int) []Change {
	if len(gone) != len(come) {
		return narrowed(gone, come, line)
	}
	var out []Change
	for i := range gone {
		out = append(out, narrowed(gone[i:i+1], come[i:i+1], line)...)
	}
	return out
}

func narrowed(gone, come []sentence, line int) (out []Change) {
	was, is := strings.Join(plain(gone), " "), strings.Join(plain(come), " ")
	if was == is || !narrowing().MatchString(was) && !excepting().MatchString(is) {
		return nil
	}
	var lost, won []Change
	losing, winning, starts := false, false, startsOf(come)
	for _, h := range hunks(strings.Fields(was), strings.Fields(is)) {
		if old, now := h.turned(); old != "" || now != "" {
			continue // and is told so
		}
		old, now := strings.Join(h.old, " "), strings.Join(h.now, " ")
		if narrowing().MatchString(old) {
			losing = true
			if len(h.old) >= minClause && len(h.now) < minClause {
				lost = append(lost, Change{Kind: Turns, Old: old, Line: line})
			}
		}
		if excepting().MatchString(now) && !instancing().MatchString(now) {
			winning = true
			if len(h.now) >= minClause && len(h.old) < minClause && !starts.within(h.at, h.at+len(h.now)) {
				won = append(won, Change{Kind: Turns, Now: now, Line: line})
			}
		}
		winning = winning || narrowing().MatchString(now)
	}
	switch {
	case losing && !winning:
		return lost
	case winning && !losing:
		return won
	}
	return nil
}

// starts are where each of some sentences begins, in words, and where the last ends.
type starts []int

func startsOf(list []sentence) starts {
	out := starts{0}
	for _, s := range list {
		out = append(out, out[len(out)-1]+strings.Count(s.plain, " ")+1)
	}
	return out
}

// within tells whether a whole sentence stands between two words.
func (s starts) within(from, to int) bool {
	i, _ := slices.BinarySearch(s, from)
	return i+1 < len(s) && s[i+1] <= to
}
