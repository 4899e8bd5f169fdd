package builtins

import (
	"slices"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// What a model says beside its text in German, French, Spanish, Italian, Portuguese,
// Dutch and Chinese: the plainest of it alone, in small letters.

// itselfAbroad are one pattern for each language, so that each has a text to look for.
var itselfAbroad = []func() patterns.Pattern{
	patterns.Sought(`\bals (?:eine? )?(?:ki|künstliche intelligenz|(?:ki-)?(?:sprachmodell|modell|assistent)) (?:kann|habe|bin|darf|könnte|besitze|verfüge|muss) ich\b`),
	patterns.Sought(`\ben tant qu(?:e |')(?:modèle de langage|ia|intelligence artificielle|assistant)\b[^.]{0,20}, (?:je |j')`),
	patterns.Sought(`\bcomo (?:una? )?(?:modelo de lenguaje|ia|inteligencia artificial)\b[^.]{0,20}, (?:yo )?(?:no )?(?:puedo|tengo|soy|debo)\b`),
	patterns.Sought(`\bcome (?:un )?(?:modello linguistico|modello di linguaggio|ia|intelligenza artificiale)\b[^.]{0,20}, (?:io )?(?:non )?(?:posso|ho|sono)\b`),
	patterns.Sought(`\bcomo (?:uma? )?(?:modelo de linguagem|ia|inteligência artificial)\b[^.]{0,20}, (?:eu )?(?:não )?(?:posso|tenho|sou)\b`),
	patterns.Sought(`\bals (?:een )?(?:ai|taalmodel|ai-(?:taal)?model|ai-assistent) (?:kan|heb|ben|mag) ik\b`),
	patterns.Sought(`作为(?:一个|一名)?(?:人工智能|ai)(?:语言模型|模型|助手)?，?我`),
}

var hopingAbroad = []func() patterns.Pattern{
	patterns.Sought(`\bich hoffe, (?:das|dies) hilft\b`), patterns.Sought(`\bj'espère que cela (?:vous |t')?aide(?:ra)?\b`), patterns.Sought(`\bespero que esto (?:te |le )?(?:ayude|sirva)\b`),
	patterns.Sought(`\bspero che questo (?:ti |le )?(?:sia|aiuti)\b`), patterns.Sought(`\bespero que isso ajude\b`), patterns.Sought(`\bik hoop dat dit helpt\b`),
}

func saidAbroad(list []func() patterns.Pattern, sentence string) bool {
	return slices.ContainsFunc(list, func(p func() patterns.Pattern) bool { return p().Match(sentence) })
}

// What a first sentence says: gladly, here it is, and sorry. What hands over is a
// model's if gladness stands before it, or a word for what was asked.
const (
	gladly     = `(?:(?:sehr )?gerne?|natürlich|selbstverständlich|klar|bien sûr|avec plaisir|claro|por supuesto|con gusto|certo|certamente|com certeza|natuurlijk|graag|当然|好的)[ ,!.！，。–—-]+`
	handedOver = `(?:hier (?:ist|sind|kommt|is) (?:der|die|das|deine?|ihre?|eine?|de|het|een|uw)\b|voici (?:les? |la |l'|une? |votre |ta |ton )|aquí (?:está|están|tienes|tiene) ` +
		`|ecco (?:il |la |lo |l'|una? |i |gli |le )|aqui (?:está|estão) |(?:以下|下面|这)是)[^\n]*`
)

var (
	presentingAbroad = patterns.Lazy(`^¡?(?:` + gladly + handedOver + `|` + handedOver +
		`(?:übersetz|überarbeitet|gewünscht|korrigiert|traduction|traduit|corrigé|traducción|traducid|corregid|traduzione|tradott|tradução|traduzid|vertaling|翻译|译文)[^\n]*)[:：]$`)
	handing        = patterns.Lazy(`^` + handedOver + `[:：]$`)
	refusingAbroad = patterns.Lazy(`^(?:es )?tut mir leid, (?:aber )?(?:(?:dabei|damit) kann ich|ich kann)(?: dir| ihnen)?(?: (?:dabei|damit))? nicht (?:weiter)?helfen` + declined +
		`|^(?:je suis )?désolée?, (?:mais )?je ne peux pas (?:vous |t')?(?:aider (?:avec|pour) (?:cela|ça)|répondre à (?:cette|votre) demande)` + declined +
		`|^lo siento, (?:pero )?no puedo (?:ayudar(?:te|le)? con eso|cumplir con es[at]a? solicitud)` + declined)
)
