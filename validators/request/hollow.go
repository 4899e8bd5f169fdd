package request

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"

	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/reading"
)

// hollowText tells whether a text shows nothing: what no reader sees, marks
// alone, or words that stand where evidence should ("n/a", "TODO", "ok, done",
// "see above"), whatever their case, brackets and letters. How long it is does
// not count: "401" may be all that there is to say.
func hollowText(s string) bool {
	if mayBeUnrun(s) {
		s = unrun().ReplaceAllString(s, " ")
	}
	if len(s) > maxHollow {
		return !strings.ContainsFunc(s, shown)
	}
	words := plainWords(s)
	glued := strings.Join(words, "")
	return !strings.ContainsFunc(glued, shown) || hollowPhrases()[strings.Join(words, " ")] || hollowPhrases()[glued] || fillers()[glued] ||
		!slices.ContainsFunc(words, func(w string) bool { return !fillers()[w] })
}

// unrun is a clause on tests that nobody has run, or on looking that nobody has done.
var unrun = patterns.Lazy(`(?i)(?:\b(?:(?:i|we) ` + unable + `|(?:(?:i|we) )?(?:(?:was|were|am|are) )?(?:unable|not able) to|^\s*could not|^\s*cannot) (?:` + looked + `)` +
	`|\b(?:tests?|suite|specs?) (?:could not|couldn['’]t|can ?not|can['’]t|were not|weren['’]t|was not|wasn['’]t|have not|haven['’]t|has not|hasn['’]t)(?: be| been)? (?:run|executed)\b|^\s*not (?:run|executed)\b` +
	`|^\W*(?:this|it) (?:could|can) ?not be (?:tested|verified|checked|confirmed)(?: (?:directly|here|yet|locally|in|on|without|because|since|as|due)\b| ?$| ?[.,;:—–-])|^\W*(?:to|will|needs? to) be (?:tested|verified)\b` +
	`|^\W*(?:(?:skipped|untested|unverified)(?:\s*$| ?[.,;:(—–-]+ *[^\d\s]| (?:because|since|due|here|yet)\b)|needs? manual|requires manual|out of scope|not verifiable|verification (?:was|is) not possible|not (?:yet )?(?:tested|verified|checked)\b|not (?:yet )?implemented(?: yet)?\s*(?:$|[.,;:(—–-])|(?:i )?assum(?:e|ed|ing) (?:that|this|it|to)\b)` +
	`|\b(?:the|all|these|unit)(?: [\w-]+)? tests (?:should|would|will|ought to)(?: now| all| still)? (?:pass|be green)\b` +
	`|\bich konnte (?:die|keine) tests nicht (?:ausführen|laufen)|\b(?:konnte|kann) nicht (?:geprüft|getestet|überprüft|verifiziert) werden\b|\bn['’]ai pas pu (?:exécuter|lancer) les tests\b|\bn['’]a pas pu être (?:vérifié|testé)|^\s*impossible de (?:vérifier|tester)\b|\bno pude ejecutar las pruebas\b|\bno se pudo (?:verificar|comprobar|probar)\b|не удалось проверить|无法(?:验证|运行|测试)|未(?:测试|验证)|[^。]*(?:確認|検証|実行)できません)[^.;。\n]*?(?:[.;。\n]|,? (?:but|however|aber|mais|pero)\b|, and\b|$)`)

// looked is what was not done of looking: tests that were run, or it was verified.
const looked = `(?:run|ran|executed?) (?:the |any |these |those |its |their |all )*(?:[\w-]+ )?(?:tests?|suites?|specs?|build)\b|run code\b|have time to (?:test|verify|check)\b` +
	`|(?:directly |fully |independently )?(?:verif(?:y|ied)|confirm(?:ed)?|check(?:ed)?|test(?:ed)?|validated?)(?: (?:this|it|that)(?: criterion| requirement)?| the (?:criterion|requirement))?(?: (?:directly|myself|here|yet|end[- ]to[- ]end|locally|in this \w+|without|because|since|as|due)\b| ?$| ?[.,;:—–-])`

// unable is that somebody could not do, or has not done, something.
const unable = `(?:could not|couldn['’]t|can ?not|can['’]t|did not|didn['’]t|have not|haven['’]t|do not have the ability to|don['’]t have the ability to)`

// unrunWords are what it has one of.
var unrunWords = []string{"run", "ran ", "xecut", "xécut", "usführ", "lauf", "lancer", "jecut", "erif", "érif", "onfirm", "heck", "est", "alidat", "kipped", "mplemented", "manual", "prüft", "getest", "rueba", "robar", "无法", "未", "できません", "ssum", "scope", "проверить"}

func mayBeUnrun(s string) bool {
	return len(s) <= maxUnrun && slices.ContainsFunc(unrunWords, func(w string) bool { return strings.Contains(s, w) })
}

// maxUnrun is the longest text that is looked at for such a clause, in bytes.
const maxUnrun = 1 << 10

// maxHollow is the longest text that words which show nothing may make, in
// bytes. The longest of the phrases has a quarter of it.
const maxHollow = 200

// shown tells whether a character is a letter or figure that can be seen.
func shown(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// plainWords are the words of a text in one case and in the letters that they
// look like.
func plainWords(s string) []string {
	s = cases.Fold().String(reading.Visible(s))
	return strings.FieldsFunc(apostrophes.Replace(s), func(r rune) bool { return !shown(r) && !unicode.IsMark(r) })
}

var apostrophes = strings.NewReplacer("'", "", "’", "")

// restates tells whether a text only says again what was asked, by its id, its
// description or both, and that it is so: all of it, or a part that is approved of
// and has no figures, which would be what was seen.
func restates(s string, c Criterion) bool {
	if len(s) > 4*maxText || len(c.Description) > 4*maxText {
		return false
	}
	said, asked, id := plainWords(s), plainWords(c.Description), plainWords(c.ID)
	if slices.ContainsFunc(said, func(w string) bool { return !fillers()[w] && !slices.Contains(asked, w) && !slices.Contains(id, w) }) {
		return false
	}
	holds := func(words []string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(said, w) })
	}
	return holds(asked) || holds(id) && !slices.ContainsFunc(said, func(w string) bool { return !slices.Contains(id, w) && !fillers()[w] }) ||
		!strings.ContainsFunc(s, unicode.IsNumber) && slices.ContainsFunc(said, func(w string) bool { return slices.Contains(approvals, w) && !slices.Contains(asked, w) })
}

// approvals say that it is so.
var approvals = strings.Fields("correctly properly successfully fully expected implemented verified confirmed satisfied met specified specification requirements korrekt umgesetzt correctement correctamente")

// fillers say nothing, however many of them there are.
var fillers = sync.OnceValue(func() map[string]bool {
	return plainSet(strings.Fields(`ok okay okey oke k yes yep yeah y true done complete completed pass passes passed passing success successful successfully good great fine perfect
	works working verified checked confirmed validated met satisfied lgtm see above below same as it is all looks and the criterion criteria this that was expected todo tbd tbc tba na none null nil
	nothing no evidence obviously obvious trivially trivial fully has been i have me trust
	everything working correct correctly properly implemented implementation implements requirement requirements requested required meets functionality functional functions manually reviewed code status verdict result
	right holds hold but by reading inspection inspected review reviewing reviewing reviewed thoroughly carefully confident according specification spec specs specified per feature features solution change changes code production ready in place of am are was were
	ive we our my tried tested on machine locally pls please merge merged pr did idk shipped deployed compiles runs believe think sure according acceptance confirms complies small minor simple a an je not tested untested unverified unable to verify test could assume assumed presumably probably likely should work be they does do did
	geprüft und in ordnung alles erfüllt ja nein funktioniert bestanden wie erwartet ist das kriterium passt korrekt umgesetzt implementiert erledigt nicht getestet wurde sollte aber gehen laut code
	oui fait tout fonctionne vérifié validé correctement comme prévu le critère est rempli satisfait cest bon non testé
	sí si funciona correctamente todo bien verificado cumple cumplido el criterio está como esperado hecho tutto funziona tudo certo`)...)
})

// hollowPhrases say that there is nothing, that it is elsewhere, or only that
// it holds; in several languages, for models answer in that of the request.
var hollowPhrases = sync.OnceValue(func() map[string]bool {
	return plainSet(`n a`, `not applicable`, `not available`, `not provided`, `not needed`, `undefined`, `empty`, `to do`, `to be done`, `to be determined`, `fixme`, `wip`, `pending`, `later`, `unknown`, `unclear`,
		`placeholder`, `lorem ipsum`, `lorem ipsum dolor sit amet`, `evidence here`, `insert evidence here`, `your evidence here`, `specific evidence`, `string`, `text`, `example`, `xxx`, `looks good to me`, `it just works`,
		`ditto`, `idem`, `same as previous`, `same as before`, `as before`, `as above`, `as stated above`, `as described`, `as described above`, `see attached`, `attached`, `see logs`, `see the logs`, `see log`, `see output`, `see evidence collected`,
		`see evidence`, `see reasoning`, `see summary`, `see code`, `see the code`, `see report`, `see previous`, `refer to above`, `trust me`, `self evident`, `self explanatory`, `by inspection`, `no comment`, `on request`,
		// German.
		`keine`, `keiner`, `kein`, `nichts`, `entfällt`, `nicht zutreffend`, `nicht vorhanden`, `siehe oben`, `siehe unten`, `s o`, `so`, `s u`, `k a`, `ka`, `wie oben`, `dito`, `erledigt`, `fertig`, `in ordnung`, `alles gut`, `ja`, `geprüft`, `erfüllt`, `passt`, `funktioniert`, `bestanden`,
		// French, Spanish, Portuguese, Italian, Dutch, Polish.
		`aucun`, `aucune`, `rien`, `néant`, `sans objet`, `voir ci dessus`, `voir plus haut`, `idem`, `oui`, `fait`, `c est bon`, `vérifié`, `validé`, `à faire`,
		`ninguno`, `ninguna`, `nada`, `no aplica`, `ver arriba`, `véase arriba`, `sí`, `si`, `hecho`, `listo`, `verificado`, `pendiente`, `bien`,
		`nenhum`, `nenhuma`, `não aplicável`, `ver acima`, `sim`, `feito`, `nessuno`, `nessuna`, `niente`, `non applicabile`, `vedi sopra`, `fatto`, `sì`, `verificato`,
		`geen`, `niets`, `nvt`, `n v t`, `niet van toepassing`, `zie boven`, `gedaan`, `klaar`, `brak`, `nie dotyczy`, `patrz wyżej`, `tak`, `zrobione`,
		// Russian, Ukrainian, Turkish.
		`нет`, `ничего`, `не применимо`, `неприменимо`, `н д`, `см выше`, `смотри выше`, `готово`, `да`, `сделано`, `проверено`, `немає`, `так`, `yok`, `yukarıya bakın`, `evet`, `tamam`,
		// Chinese, Japanese, Korean.
		`无`, `無`, `没有`, `暂无`, `不适用`, `见上`, `见上文`, `同上`, `是`, `好`, `通过`, `已通过`, `完成`, `已完成`, `已验证`, `待定`, `正常`,
		`なし`, `無し`, `該当なし`, `上記参照`, `上記の通り`, `はい`, `済`, `済み`, `完了`, `確認済み`, `未定`, `없음`, `해당 없음`, `위 참조`, `위와 같음`, `네`, `예`, `완료`, `확인`, `확인됨`)
})

func plainSet(phrases ...string) map[string]bool {
	set := make(map[string]bool, len(phrases))
	for _, p := range phrases {
		set[strings.Join(plainWords(p), " ")] = true
	}
	return set
}
