package builtins

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

var readmeBytes = flag.Int("readmes", 50<<10, "how many bytes of READMEs to hold against themselves, rewritten")

// TestKeptFalseAlarms checks that an edit of the form of ordinary prose causes no finding.
func TestKeptFalseAlarms(t *testing.T) {
	total, changed, alarms := 0, map[string]int{}, map[string]int{}
	for _, name := range readmes(t) {
		bytes, err := os.ReadFile(name)
		source := string(bytes)
		if err != nil || total > *readmeBytes || strings.TrimSpace(source) == "" {
			continue
		}
		total += len(source)
		for _, v := range []validators.Validator{citesValidator, numbersKeptValidator, linksKeptValidator, sameStructureValidator} {
			parameters := with{"source": source}
			if v.Name == numbersKeptValidator.Name || v.Name == linksKeptValidator.Name {
				parameters["check"] = "both"
			}
			check, err := v.Bind(parameters)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for form, change := range rewritings {
				if form == "quoted" && v.Name != citesValidator.Name {
					continue
				}
				text := change(source)
				if text == source && form != "as it is" {
					continue
				}
				changed[form]++
				got, err := check(t.Context(), validators.Subject{Content: text})
				if err != nil || !got.Valid {
					alarms[v.Name+", "+form]++
					t.Errorf("%s, %s, of %s: %s, %v", v.Name, form, name, got.Reason, err)
				}
			}
		}
	}
	if total < *readmeBytes {
		t.Skipf("only %d bytes of prose", total)
	}
	t.Logf("%d bytes; texts held against a source: %v; alarms: %v", total, changed, alarms)
}

// rewritings change the form of a text without changing its meaning.
var rewritings = map[string]func(string) string{
	"as it is":      func(s string) string { return s },
	"CRLF":          func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n") },
	"folded":        func(s string) string { return inParagraphs(s, func(p string) string { return refolded(p, 50) }) },
	"unfolded":      func(s string) string { return inParagraphs(s, func(p string) string { return refolded(p, 1<<20) }) },
	"quoted":        quotedSentences,
	"other bullets": otherBullets,
	"headings with #": func(s string) string {
		return regexp.MustCompile(`(?m)(^|\n\n)(\pL[^\n|<]*)\n={3,}$`).ReplaceAllString(s, "$1# $2")
	},
	"underscores": func(s string) string {
		return inParagraphs(s, func(p string) string { return stars.ReplaceAllString(p, "$1__${2}__$3") })
	},
	"empty lines":  func(s string) string { return inParagraphs(s, func(p string) string { return p + "\n" }) },
	"curly quotes": func(s string) string { return inParagraphs(s, curly) },
	"straight quotes": func(s string) string {
		return inParagraphs(s, strings.NewReplacer("“", `"`, "”", `"`, "‘", "'", "’", "'").Replace)
	},
}

var (
	fenced  = regexp.MustCompile("^ {0,3}(```|~~~)")
	plain   = regexp.MustCompile(`^[\pL"“'‘(\x60*_\[]`)
	bullet  = regexp.MustCompile(`^( *)\* (\S)`)
	notList = regexp.MustCompile(`^([*_] ?)+$|^[*+-] |^\[[^\]]*\]:|^\d+[.)] |^(===|---)`)
	stars   = regexp.MustCompile(`(^|\s)\*\*([\pL\d][\pL\d .]*[\pL\d])\*\*([\s.,:]|$)`)
	linked  = regexp.MustCompile("`+[^`]*`+|!?\\[[^\\[\\]]*\\](\\([^()\\s]*\\)|\\[[^\\[\\]]*\\])")
	verbat  = regexp.MustCompile("`+[^`]*`+|<[^>]*>|\\]\\([^)]*\\)|\\]\\[[^\\]]*\\]")
)

// inParagraphs changes the plain paragraphs of a text: those between empty
// lines, at the margin, without lists, tables, HTML and hard breaks.
func inParagraphs(s string, change func(string) string) string {
	paragraphs := strings.Split(s, "\n\n")
	fence := false
	for i, p := range paragraphs {
		inFence, isPlain := fence, true
		for line := range strings.SplitSeq(p, "\n") {
			if fenced.MatchString(line) {
				fence, isPlain = !fence, false
			}
			isPlain = isPlain && plain.MatchString(line) && !notList.MatchString(line) && !strings.ContainsAny(line, "|<\\\r") && !strings.HasSuffix(line, "  ")
		}
		if !inFence && isPlain {
			paragraphs[i] = change(p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// refolded changes the line breaks of a paragraph. It breaks lines only before words that have no
// special meaning at the start of a line.
func refolded(p string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(p) {
		switch {
		case i == 0:
		case column+len(word) > width && regexp.MustCompile(`^\pL{2}`).MatchString(word):
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
		}
		b.WriteString(word)
		column += len(word) + 1
	}
	return b.String()
}

func otherBullets(s string) string {
	lines, fence := strings.Split(s, "\n"), false
	for i, line := range lines {
		if fenced.MatchString(line) {
			fence = !fence
		}
		if !fence && !notList.MatchString(strings.ReplaceAll(line, "* ", "*")) {
			lines[i] = bullet.ReplaceAllString(line, "$1- $2")
		}
	}
	return strings.Join(lines, "\n")
}

// curly replaces straight quotation marks and apostrophes by typographic ones,
// outside code and addresses.
func curly(p string) string {
	set := func(s string) string {
		s = regexp.MustCompile(`(^|[\s(\[*_])"(\S)`).ReplaceAllString(s, "$1“$2")
		s = strings.ReplaceAll(s, `"`, "”")
		s = regexp.MustCompile(`(^|[\s(\[*_“])'(\S)`).ReplaceAllString(s, "$1‘$2")
		return strings.ReplaceAll(s, "'", "’")
	}
	var b strings.Builder
	for {
		at := verbat.FindStringIndex(p)
		if at == nil {
			return b.String() + set(p)
		}
		b.WriteString(set(p[:at[0]]) + p[at[0]:at[1]])
		p = p[at[1]:]
	}
}

// quotedSentences returns a text that quotes the sentences of another. Emphasis
// and code stay, and a link becomes its text.
func quotedSentences(s string) string {
	var out strings.Builder
	inParagraphs(s, func(p string) string {
		p = linked.ReplaceAllStringFunc(p, func(s string) string {
			if words, _, ok := strings.Cut(strings.TrimLeft(s, "!["), "]"); ok && s[0] != '`' {
				return words
			}
			return s
		})
		for sentence := range strings.SplitSeq(strings.Join(strings.Fields(p), " "), ". ") {
			if len(sentence) > 20 && !strings.ContainsAny(sentence, "\"“”‘’'«»„[]") && strings.Count(sentence, "`")%2 == 0 && strings.Count(sentence, "*")%2 == 0 {
				out.WriteString("It says “" + sentence + "”, and so on.\n\n")
			}
		}
		return p
	})
	return out.String()
}
