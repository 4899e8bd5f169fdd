package languages

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Guess is what a text is written in.
type Guess struct {
	Code   string   // of ISO 639-1; empty where it cannot be told
	Either []string // that one, and what else it may be; or the few that it may be, where it is none but these
	Words  int      // of the text, in whatever language
	Plain  bool     // its script alone tells it
}

// MayBe tells whether the text is, or may be, in one of some languages.
func (g Guess) MayBe(codes []string) bool {
	return slices.ContainsFunc(g.Either, func(code string) bool { return slices.Contains(codes, code) })
}

// What a word says for a language: it is one of those that every text has; it
// has a letter that few have; it ends like many. What k languages share says
// 1/√k of it for each.
const (
	ofWord   = 1.0
	ofLetter = 0.7
	ofEnding = 0.3
	notOf    = 0.5 // taken off for a letter that a language has not
)

// A guess is made where evidence is at least so much, in all and for each word,
// and so many times that of the next language. Danish and Norwegian have many
// sentences that are either's: there it is that of all but a few.
const (
	enough   = 1.4
	density  = 0.12
	clearly  = 1.2
	few      = 3
	lone     = 3   // words that alone are enough where they all speak for it
	foreign  = 0.3 // the share of words that a script of one language needs
	longWord = 40  // letters: what is longer is no word
	compound = 6   // words in one piece that Japanese writes without kana: 第三回定期総会議事録
)

// Of guesses the language of a text. Time is linear in it.
func Of(text string) Guess {
	c := count{scores: make([]float64, len(known().languages)), scripts: make([]float64, len(scripts))}
	for word := range words(text) {
		c.add(word)
	}
	total := 0.0
	for _, n := range c.scripts {
		total += n
	}
	g := Guess{Words: int(math.Ceil(total))}
	g.Code = c.byScript(total)
	switch {
	case g.Code == "zh" && c.dense == 1 && c.scripts[han] <= compound && !strings.Contains(text, "。"):
		g.Either, g.Plain = []string{"zh", "ja"}, true
	case g.Code != "":
		g.Either, g.Plain = []string{g.Code}, true
	default:
		if g.Either = c.byWords(); len(g.Either) == 1 {
			g.Code = g.Either[0]
		}
	}
	return g
}

// A count is what the words of a text have said.
type count struct {
	scores  []float64
	scripts []float64 // how many words are in each
	told    int       // words that are told by words
	dense   int       // pieces without blanks in a script that has none
}

func (c *count) add(word string) {
	l := known()
	first, _ := utf8.DecodeRuneInString(word)
	script := scriptOf(first)
	if len(word) > longWord && utf8.RuneCountInString(word) > longWord && !script.dense() {
		return
	}
	if !c.signs(word, script) {
		return
	}
	c.told++
	c.say(l.words[word], ofWord)
	for n, at := 1, len(word); n <= 5 && at > 0; n++ { // its last two to five letters
		_, size := utf8.DecodeLastRuneInString(word[:at])
		if at -= size; n >= 2 && at > 0 && len(word) >= 6 {
			c.say(l.endings[word[at:]], ofEnding)
		}
	}
	for _, r := range word {
		if r < utf8.RuneSelf {
			continue
		}
		if having := l.letters[r]; len(having) > 0 {
			c.say(having, ofLetter+notOf)
			for i, language := range l.languages {
				if language.script == script {
					c.scores[i] -= notOf
				}
			}
			for _, i := range having {
				c.scores[i] += notOf - notOf/math.Sqrt(float64(len(having)))
			}
			return
		}
	}
}

// signs counts a word by its scripts, and says whether its first is one whose
// language is told by words.
func (c *count) signs(word string, script script) bool {
	if !script.dense() && script != hangul {
		if script != unknown {
			c.scripts[script]++
		}
		return script == latin || script == cyrillic || script == arabic || script == devanagari
	}
	c.dense++
	for _, r := range word {
		if script := scriptOf(r); script.dense() {
			c.scripts[script] += 0.5
		} else if script == hangul {
			c.scripts[script] += 0.4
		}
	}
	return false
}

func (c *count) say(languages []int, much float64) {
	for _, i := range languages {
		c.scores[i] += much / math.Sqrt(float64(len(languages)))
	}
}

// byScript tells the language of a script that no other is written in, where
// enough of the text is: terms in Latin letters stand in any.
func (c *count) byScript(total float64) string {
	kana := c.scripts[hiragana] + c.scripts[katakana]
	best, most := "", 0.0
	for i, s := range scripts {
		n := c.scripts[i]
		if s.code == "zh" || s.code == "ja" {
			n = c.scripts[han] + kana
		}
		if s.code != "" && n > most {
			best, most = s.code, n
		}
	}
	if (best == "zh" || best == "ja") && kana > 0 {
		best = "zh"
		if kana >= (c.scripts[han]+kana)/10 {
			best = "ja"
		}
	}
	if most < foreign*total || most < total/2 && len(c.byWords()) == 1 {
		return ""
	}
	return best
}

// byWords tells the language that the words speak for, or the few that they speak
// for alike.
func (c *count) byWords() (codes []string) {
	best := slices.Max(c.scores)
	alone := c.told <= lone && best >= 0.6*float64(c.told) && best >= 0.7
	if best < enough && !alone || best < density*float64(c.told) {
		return nil
	}
	for i, score := range c.scores {
		if score > 0 && best < clearly*score {
			codes = append(codes, known().languages[i].code)
		}
	}
	if len(codes) > few {
		return nil
	}
	return codes
}
