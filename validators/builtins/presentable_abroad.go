package builtins

import (
	"slices"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// What a model says beside its text in German, French, Spanish, Italian, Portuguese,
// Dutch, Chinese, Japanese and Russian, with how Polish, Turkish and Korean hand it
// over: the plainest of it alone, in small letters.

// itselfAbroad are one pattern for each language, so that each has a text to look for.
var itselfAbroad = []func() patterns.Pattern{
	patterns.Sought(`\bals (?:eine? )?(?:ki|künstliche intelligenz|(?:ki-)?(?:sprachmodell|modell|assistent)) (?:kann|habe|bin|darf|könnte|besitze|verfüge|muss) ich\b`),
	patterns.Sought(`\ben tant qu(?:e |')(?:modèle de langage|ia|intelligence artificielle|assistant)\b[^.]{0,20}, (?:je |j')`),
	patterns.Sought(`\bcomo (?:una? )?(?:modelo de lenguaje|ia|inteligencia artificial)\b[^.]{0,20}, (?:yo )?(?:no )?(?:puedo|tengo|soy|debo)\b`),
	patterns.Sought(`\bcome (?:un )?(?:modello linguistico|modello di linguaggio|ia|intelligenza artificiale)\b[^.]{0,20}, (?:io )?(?:non )?(?:posso|ho|sono)\b`),
	patterns.Sought(`\bcomo (?:uma? )?(?:modelo de linguagem|ia|inteligência artificial)\b[^.]{0,20}, (?:eu )?(?:não )?(?:posso|tenho|sou)\b`),
	patterns.Sought(`\bals (?:een )?(?:ai|taalmodel|ai-(?:taal)?model|ai-assistent) (?:kan|heb|ben|mag) ik\b`),
	patterns.Sought(`作为(?:一个|一名)?(?:人工智能|ai)(?:语言模型|模型|助手)?，?我`),
	patterns.Sought(`(?:言語モデル|人工知能|ai(?:アシスタント)?)として、?(?:私|わたし|個人的)`),
	patterns.Sought(`(?:^|[\s(])как (?:языковая модель|искусственный интеллект|ии)[^.]{0,20}, я `),
}

var hopingAbroad = []func() patterns.Pattern{
	patterns.Sought(`\bich hoffe, (?:das|dies) hilft\b`), patterns.Sought(`\bj'espère que cela (?:vous |t')?aide(?:ra)?\b`), patterns.Sought(`\bespero que esto (?:te |le )?(?:ayude|sirva)\b`),
	patterns.Sought(`\bspero che questo (?:ti |le )?(?:sia|aiuti)\b`), patterns.Sought(`\bespero que isso ajude\b`), patterns.Sought(`\bik hoop dat dit helpt\b`),
	patterns.Sought(`希望(?:这|以上)?(?:些|个|内容)?对(?:您|你)有(?:所)?帮助`), patterns.Sought(`需要(?:进一步|其他)?(?:修改|调整)[^。\n]{0,10}请(?:随时)?告诉我(?:[。！，]|$)`), patterns.Sought(`他に[^。\n]{0,8}(?:修正|変更)が必要[^。\n]{0,12}(?:お知らせ|お申し付け)ください`), patterns.Sought(`надеюсь, это поможет`),
	patterns.Sought(`\bbescheid, (?:wenn|falls) ich [^.]{0,30} (?:ändern|anpassen|kürzen|umformulieren|überarbeiten)\b`), patterns.Sought(`\bn'hésitez pas à me (?:le )?dire si vous (?:souhaitez|voulez) [^.]{0,20}\b(?:modification|ajustement|changement)`), patterns.Sought(`¿(?:quieres|quiere|te gustaría) que (?:lo|la) (?:haga|cambie|ajuste|acorte|modifique|amplíe)\b`),
}

func saidAbroad(list []func() patterns.Pattern, sentence string) bool {
	return slices.ContainsFunc(list, func(p func() patterns.Pattern) bool { return p().Match(sentence) })
}

// What a first sentence says: gladly, here it is, and sorry. What hands over is a
// model's if gladness stands before it, or a word for what was asked.
const (
	gladly     = `(?:(?:sehr )?gerne?|natürlich|selbstverständlich|klar|bien sûr|avec plaisir|claro|por supuesto|con gusto|certo|certamente|com certeza|natuurlijk|graag|当然|好的|конечно|oczywiście|tabii(?: ki)?|물론입니다|もちろんです)[ ,!.！，。–—-]+`
	handedOver = `(?:hier (?:ist|sind|kommt|is) (?:der|die|das|deine?|ihre?|eine?|de|het|een|uw)\b|voici (?:les? |la |l'|une? |votre |ta |ton )|aquí (?:está|están|tienes|tiene) ` +
		`|ecco (?:il |la |lo |l'|una? |i |gli |le )|aqui (?:está|estão) |(?:以下|下面|这)是|以下[がは]|вот |oto |işte |다음은 )[^\n]*`
)

var (
	presentingAbroad = patterns.Lazy(`^¡?(?:` + gladly + handedOver + `|` + handedOver +
		`(?:übersetz|überarbeitet|gewünscht|korrigiert|traduction|traduit|corrigé|traducción|traducid|corregid|traduzione|tradott|tradução|traduzid|vertaling|翻译|译文|修正|翻訳|要約|исправлен|перевод|poprawion|tłumaczeni|düzeltilmiş|çeviri|요약|번역)[^\n]*)[:：]$`)
	handing        = patterns.Lazy(`^` + handedOver + `[:：]$`)
	refusingAbroad = patterns.Lazy(`^(?:es )?tut mir leid, (?:aber )?(?:(?:dabei|damit) kann ich|ich kann)(?: dir| ihnen)?(?: (?:dabei|damit))? nicht (?:weiter)?helfen` + declined +
		`|^(?:je suis )?désolée?, (?:mais )?je ne peux pas (?:vous |t')?(?:aider (?:avec|pour) (?:cela|ça)|répondre à (?:cette|votre) demande)` + declined +
		`|^lo siento, (?:pero )?no puedo (?:ayudar(?:te|le)? con eso|cumplir con es[at]a? solicitud)` + declined)
)
