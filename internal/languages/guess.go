package languages

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Guess is the presumed language of a text.
type Guess struct {
	Code   string   // a code of ISO 639-1, or "" if the language is unknown
	Either []string // the possible languages, including Code; set without Code if only a few are possible
	Words  int      // the number of words in any language
	Plain  bool     // the script alone determines the language
}

// MayBe reports whether the text may be in one of the languages.
func (g Guess) MayBe(codes []string) bool {
	return slices.ContainsFunc(g.Either, func(code string) bool { return slices.Contains(codes, code) })
}

// The weights of the evidence in a word: a stop word, a rare letter, a common
// ending. For k languages with the same feature, each language gets 1/√k of the
// weight.
const (
	ofWord   = 1.0
	ofLetter = 0.7
	ofEnding = 0.3
	notOf    = 0.5 // the penalty for a letter that the language does not have
)

// A guess needs a minimum of evidence in total and per word, and a minimum
// ratio to the next language. Many sentences are both Danish and Norwegian, so
// their ratio is lower.
const (
	enough   = 1.4
	density  = 0.12
	clearly  = 1.2
	few      = 3
	lone     = 3   // number of words that are enough if each has evidence for the language
	foreign  = 0.3 // the share of words in a script that determines a language
	longWord = 40  // in letters; longer runs are not words
	compound = 6   // in words; Japanese has longer compounds without kana: 第三回定期総会議事録
)

// Of determines the language of a text in linear time.
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

// A count has the evidence in the words of a text.
type count struct {
	scores    []float64
	scripts   []float64 // the number of words in each script
	wordCount int       // the number of words in scripts that several languages use
	dense     int       // the number of runs in a script without spaces
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
	c.wordCount++
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

// signs counts a word by its scripts. It reports whether several languages use
// its first script.
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

// byScript returns the language that alone uses the script of enough of the
// text. Terms in Latin letters occur in all languages.
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

// byWords returns the language with the most evidence, or all languages with
// nearly the same evidence.
func (c *count) byWords() (codes []string) {
	best := slices.Max(c.scores)
	alone := c.wordCount <= lone && best >= 0.6*float64(c.wordCount) && best >= 0.7
	if best < enough && !alone || best < density*float64(c.wordCount) {
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
