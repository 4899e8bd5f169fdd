package faults_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/faults"
)

func planted(op faults.Operator, content string, known faults.Known) []faults.Fault {
	return op.Apply(faults.Read(content, known), rand.New(rand.NewPCG(1, 2)))
}

const story = "The owl hears a mouse under 30 cm of snow. It was seen on 2024-05-01 by Anna Berger, and again on 2024-06-02 by Carl Ohm. They have not come back since the winter began."

const contact = `{"name": "Ada", "email": "ada@example.com", "age": 36, "notes": "She has been a member since the club began."}`

var contactSchema = map[string]any{
	"required": []any{"name", "email"},
	"properties": map[string]any{
		"name": map[string]any{"type": "string"}, "email": map[string]any{"type": "string", "format": "email"}, "age": map[string]any{"type": "integer"},
	},
}

// TestOperators has one fault for each operator that it must plant, with its
// surety.
func TestOperators(t *testing.T) {
	given := faults.Known{Given: "It says 30 cm and 4 %. See https://example.org/owls. The owl hears a mouse under 30 cm of snow."}
	asked := faults.Known{Schema: contactSchema}
	for _, c := range []struct {
		op    faults.Operator
		text  string
		known faults.Known
		want  string // must be in one of the texts
		sure  faults.Surety
	}{
		{faults.FieldDropped, contact, asked, "{\n  \"age\": 36,\n  \"email\": \"ada@example.com\",\n  \"notes\"", faults.Always},
		{faults.FieldDropped, contact, faults.Known{}, "{\n  \"age\": 36,\n  \"email\": \"ada@example.com\",\n  \"notes\"", faults.Usually},
		{faults.FieldDropped, contact, asked, "{\n  \"email\"", faults.Usually},
		{faults.FieldRetyped, contact, asked, `"age": "36"`, faults.Always},
		{faults.FieldRetyped, contact, asked, `"notes": [`, faults.Usually},
		{faults.ValuesSwapped, contact, asked, `"email": "Ada"`, faults.Always},
		{faults.ValuesSwapped, contact, faults.Known{}, `"email": "Ada"`, faults.Usually},
		{faults.NumberDigit, story, given, " cm of snow", faults.Always},
		{faults.NumberDigit, story, faults.Known{}, " cm of snow", faults.Usually},
		{faults.NumberSign, story, given, "under -30 cm", faults.Always},
		{faults.NumberMagnitude, story, given, "under 300 cm", faults.Always},
		{faults.NumberMagnitude, "It cost 1.5 of them, as was said.", faults.Known{}, "15.0", faults.Usually},
		{faults.PercentForValue, "Sales rose by 4 % in May.", given, "rose by 4 in May", faults.Always},
		{faults.NegationAdded, story, faults.Known{}, "was not seen", faults.Usually},
		{faults.NegationTaken, story, faults.Known{}, "They have come back", faults.Usually},
		{faults.NegationTaken, story, faults.Known{Given: story}, "They have come back", faults.Always},
		{faults.SentenceDoubled, story, faults.Known{}, "of snow. The owl hears a mouse under 30 cm of snow. It", faults.Always},
		{faults.SentenceDropped, story, faults.Known{}, "of snow. They have", faults.Usually},
		{faults.SentenceCut, story, faults.Known{}, " It was seen", faults.Always},
		{faults.Truncated, story, faults.Known{}, "The owl hears", faults.Always},
		{faults.Truncated, contact, asked, `{"name"`, faults.Always},
		{faults.Truncated, "owls at night in snow", faults.Known{}, "owls at night", faults.Usually},
		{faults.NamesSwapped, story, faults.Known{}, "by Berger Anna", faults.Usually},
		{faults.DatesSwapped, story, faults.Known{}, "seen on 2024-06-02", faults.Usually},
		{faults.Placeholder, "Write soon.", faults.Known{}, "soon.", faults.Always},
		{faults.PlaceholderWord, "Write soon.", faults.Known{}, "soon.", faults.Always},
		{faults.TemplateTag, "Write soon.", faults.Known{}, "soon.", faults.Always},
		{faults.Disclaimer, story, faults.Known{}, "As an AI", faults.Always},
		{faults.Disclaimer, contact, asked, "As an AI", faults.Always},
		{faults.Refusal, story, faults.Known{}, "I'm sorry, but", faults.Always},
		{faults.OtherLanguage, story, faults.Known{}, "Das Büro", faults.Always},
		{faults.OtherLanguage, "Cat. Mat. Hat.", faults.Known{}, "Das Büro", faults.Usually},
		{faults.LanguageMixed, story, faults.Known{}, "They have not come back", faults.Always},
		{faults.Secret, story, faults.Known{}, "ghp_", faults.Always},
		{faults.PersonalData, story, faults.Known{}, "@gmail.com", faults.Always},
		{faults.Injection, story, faults.Known{}, "Ignore all previous instructions", faults.Always},
		{faults.CitationInvented, story, faults.Known{}, "Nobody had expected", faults.Usually},
		{faults.CitationInvented, `It says: "The owl hears a mouse".`, given, "Nobody had expected", faults.Always},
		{faults.QuotationChanged, `It says: "The owl hears a mouse".`, given, `It says: "The owl `, faults.Always},
		{faults.LinkBroken, "See [owls](https://example.org/owls).", faults.Known{}, "[owls]()", faults.Always},
		{faults.LinkChanged, "See [owls](https://example.org/owls).", given, "https://example.org/owls-1", faults.Always},
		{faults.LinkChanged, "See [owls](https://example.org/owls).", faults.Known{}, "https://www-example.org/owls", faults.Usually},
		{faults.FenceOpen, "a\n\n```go\nx\n```\nb", faults.Known{}, "```go\nx\nb", faults.Always},
		{faults.HeadingSkipped, "# a\n\n## b\n", faults.Known{}, "#### b", faults.Usually},
		{faults.CellLost, "|a|b|\n|-|-|\n|1|2|\n", faults.Known{}, "|1|\n", faults.Always},
	} {
		found := planted(c.op, c.text, c.known)
		if !slices.ContainsFunc(found, func(f faults.Fault) bool { return strings.Contains(f.Text, c.want) && f.Sure == c.sure }) {
			t.Errorf("%s of %q: want %s with %q, got %+v", c.op.Name, c.text, c.sure, c.want, found)
		}
	}
}

// TestNotPlanted checks texts that already have the fault, and texts without a
// place for it.
func TestNotPlanted(t *testing.T) {
	for _, c := range []struct {
		op   faults.Operator
		text string
	}{
		{faults.FieldDropped, story},
		{faults.NumberDigit, "On 2024-05-01 at 10:30, v1.2 of RFC-2119 and node18 came out."},
		{faults.SentenceDoubled, "The bell rang at noon. The bell rang at noon."},
		{faults.Placeholder, "Put your name where the template has [TODO] in it."},
		{faults.TemplateTag, "Templates write {{ name }} for it."},
		{faults.Disclaimer, "The novel begins: As an AI, I dream."},
		{faults.Secret, "The token ghp_PwhVYhTQHY039tXxPCVvb6YfV4EtNPmCsyH5 was revoked."},
		{faults.PersonalData, "Write to owls@zoo.example for it."},
		{faults.Injection, "Attackers write: ignore all previous instructions."},
		{faults.LanguageMixed, "Only one sentence stands in this text."},
		{faults.QuotationChanged, `It says: "this was never given to anybody".`},
		{faults.FenceOpen, story}, {faults.CellLost, story}, {faults.LinkBroken, story},
	} {
		if found := planted(c.op, c.text, faults.Known{}); len(found) > 0 {
			t.Errorf("%s planted %+v in %q", c.op.Name, found, c.text)
		}
	}
}

// TestNotForSure checks that a change is not always bad if it may be right in
// some text. Each case has a counterpart that is always bad.
func TestNotForSure(t *testing.T) {
	numbers := faults.Known{Given: "Pi is 3.142 here and 0 errors were found at 7 degrees, -7 degrees before. From 5% to 10% of owls, 20 % of mice. It took 1.5 hours."}
	enums := faults.Known{Schema: map[string]any{"properties": map[string]any{
		"severity": map[string]any{"enum": []any{"low", "high"}}, "urgency": map[string]any{"enum": []any{"low", "high", "now"}},
		"count": map[string]any{"type": "integer"}, "share": map[string]any{"type": "number"},
		"id": map[string]any{"enum": []any{json.Number("1"), "1", "x"}},
	}}}
	steps := "Do this first:\n\n- Check the config and restart the server when ready.\n- Read the log of the last night again.\n"
	code := "Write links as `[text](address)`, like [this one](https://example.org/owls)."
	for _, c := range []struct {
		op         faults.Operator
		text       string
		known      faults.Known
		other, bad string // a change that is usually bad, and one that is always bad
	}{
		{faults.NumberMagnitude, "Pi is 3.142 here. It took 1.5 hours.", numbers, "3.1420", "15.0 hours"},
		{faults.NumberMagnitude, "There were 0 errors found. It took 1.5 hours.", numbers, "00 errors", "15.0 hours"},
		{faults.NumberSign, "There were 0 errors found. It took 1.5 hours.", numbers, "-0 errors", "-1.5 hours"},
		{faults.NumberSign, "It is 7 degrees. It took 1.5 hours.", numbers, "-7 degrees", "-1.5 hours"},
		{faults.PercentForValue, "It grew from 5% to 10% of owls.", numbers, "from 5 to", "to 10 of"},
		{faults.ValuesSwapped, `{"severity": "low", "urgency": "high"}`, enums, `"severity": "high"`, ""},
		{faults.ValuesSwapped, `{"severity": "low", "urgency": "now"}`, enums, "", `"severity": "now"`},
		{faults.ValuesSwapped, `{"count": 3, "share": 4}`, enums, `"count": 4`, ""},
		{faults.FieldRetyped, `{"id": 1, "count": 3}`, enums, `"id": "1"`, `"count": "3"`},
		{faults.SentenceCut, steps, faults.Known{}, "- Check the config\n", ""},
		{faults.SentenceCut, strings.ReplaceAll(steps, "- ", ""), faults.Known{}, "", "\nCheck the config and restart\n"},
		{faults.Truncated, steps, faults.Known{}, "last\x00", "last ni\x00"},
		{faults.LinkBroken, code, faults.Known{}, "`[text]()`", "[this one]()"},
		{faults.FenceOpen, "````md\n```\nx\n```\n````\n", faults.Known{}, "x\n````", "```\nx\n```\n\x00"},
		{faults.CellLost, "|a|b|\n|-|-|\n|1| |\n|2|3|\n", faults.Known{}, "|1|\n", "|2|\n"},
		{faults.LinkChanged, "See https://example.org/a there.", faults.Known{Given: "https://example.org/a https://example.org/a-1"}, "/a-1 ", "www-example.org"},
	} {
		var found []faults.Fault
		for seed := range uint64(40) {
			found = append(found, c.op.Apply(faults.Read(c.text, c.known), rand.New(rand.NewPCG(1, seed)))...)
		}
		has := func(want string) bool {
			return slices.ContainsFunc(found, func(f faults.Fault) bool { return f.Sure == faults.Always && strings.Contains(f.Text+"\x00", want) })
		}
		if c.other != "" && has(c.other) {
			t.Errorf("%s of %q: %q is called bad for sure: %+v", c.op.Name, c.text, c.other, found)
		}
		if c.bad != "" && !has(c.bad) {
			t.Errorf("%s of %q: want %q as bad for sure, got %+v", c.op.Name, c.text, c.bad, found)
		}
	}
}

// texts of all kinds, including the empty text.
var texts = []string{
	"", " ", "\n\n", "x", story, contact, "[]", "{}", `[{"a": [1, null, true, "two words here"]}]`, "{\"a\": ", "```", "~~~\n", "|a|\n|-|\n", "# \n", "- \n", "> ",
	"1. \n2) a", "“”", `""`, "\xff\xfe", "a\xffb c d e. F g h i.", strings.Repeat("a. ", 50), "天气很好。我们走了。", "\r\n\r\n", "don't won't can't isn't.", strings.Repeat("> ", 30) + "a b c d.",
	"He said “not now” to them both and left again.", "See [a](b) and [c](d e.", "The end is 5 %", "-5 -5 5%", "As said, 1,000.5 or 1.000,5.", "…", "The man who. who. Who?",
}

// TestAnyText checks the contract of every operator for any text. The faults
// are the same each time, their number is limited by Most, and each changes the
// text. A fault in valid UTF-8 is valid UTF-8.
func TestAnyText(t *testing.T) {
	for _, op := range faults.General() {
		if op.Name == "" || op.Description == "" {
			t.Errorf("%+v has no name or description", op)
		}
		for _, text := range texts {
			for _, known := range []faults.Known{{}, {Given: text + story, Schema: contactSchema, Most: 2}} {
				found := planted(op, text, known)
				if again := planted(op, text, known); !reflect.DeepEqual(found, again) {
					t.Errorf("%s is not the same twice: %+v, %+v", op.Name, found, again)
				}
				if most := max(known.Most, 0); len(found) > faults.Most || most > 0 && len(found) > most {
					t.Errorf("%s plants %d in %q", op.Name, len(found), text)
				}
				for _, f := range found {
					if f.Text == text || f.Place == "" || f.Note == "" || f.Sure != faults.Always && f.Sure != faults.Usually || utf8.ValidString(text) && !utf8.ValidString(f.Text) {
						t.Errorf("%s of %q: %+v", op.Name, text, f)
					}
				}
			}
		}
	}
}

// TestOneList checks that names of operators are unique.
func TestOneList(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range faults.General() {
		if seen[op.Name] {
			t.Errorf("%s occurs twice", op.Name)
		}
		seen[op.Name] = true
	}
}

func FuzzOperators(f *testing.F) {
	for _, text := range texts {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, text, given string) {
		for _, op := range faults.General() {
			planted(op, text, faults.Known{Given: given, Schema: contactSchema})
		}
	})
}
