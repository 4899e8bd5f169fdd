package faults

import (
	"math/rand/v2"

	"github.com/seed61713e19/capstan/internal/languages"
)

// passages have the same two sentences in several languages. The sentences fit
// any text.
var passages = []struct{ code, one, other string }{
	{"en", "The office is closed on public holidays, and the letters that come in then are answered within the following week.", "Please bring with you what was sent to you before the first of the month."},
	{"de", "Das Büro ist an Feiertagen geschlossen, und die Briefe, die dann kommen, werden in der folgenden Woche beantwortet.", "Bitte bringen Sie mit, was Ihnen vor dem Ersten des Monats geschickt wurde."},
	{"fr", "Le bureau est fermé les jours fériés, et les lettres qui arrivent alors reçoivent une réponse dans la semaine qui suit.", "Veuillez apporter ce qui vous a été envoyé avant le premier du mois."},
	{"es", "La oficina está cerrada los días festivos, y las cartas que llegan entonces se contestan durante la semana siguiente.", "Por favor, traiga lo que se le envió antes del primer día del mes."},
	{"ru", "В праздничные дни бюро закрыто, и на письма, которые приходят в это время, отвечают на следующей неделе.", "Пожалуйста, возьмите с собой то, что вам прислали до первого числа месяца."},
	{"zh", "办公室在公共假期关闭，假期收到的信件将在下一周内答复。", "请带上每月一日之前寄给您的文件。"},
}

// OtherLanguage replaces the text by a text in another language. If the
// language of the good text is unknown, the fault is only usually bad.
var OtherLanguage = Operator{"other_language", "the text is in another language", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	own := languages.Of(t.Content).Code
	for _, p := range passages {
		if p.code != own {
			add(site{0, len(t.Content), p.one + " " + p.other, "it is in " + languages.Name(p.code), alwaysIf(own != "")})
		}
	}
}))}

// LanguageMixed inserts one sentence in another language.
var LanguageMixed = Operator{"language_mixed", "a sentence is in another language than the rest", prose(placed(func(t *Text, rng *rand.Rand, add func(...site)) {
	own := languages.Of(t.Content).Code
	all := t.sentences()
	for _, s := range all {
		p := passages[rng.IntN(len(passages))]
		if p.code != own && own != "" && len(all) > 1 {
			add(site{s.Start, s.End, p.one, quote(s.In(t.Content)) + " became a sentence in " + languages.Name(p.code), Always})
		}
	}
}))}
