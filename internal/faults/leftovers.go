package faults

import (
	"math/rand/v2"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
)

// placeholders are placeholders in brackets.
var placeholders = []string{"[TODO]", "[Your Name]", "[insert name here]", "<company name>", "[PLACEHOLDER]"}

// Placeholder replaces a word by a placeholder in brackets.
var Placeholder = Operator{"placeholder", "a placeholder in brackets is left in the place of a word", prose(placed(func(t *Text, rng *rand.Rand, add func(...site)) {
	if t.mentions("todo", "[your ", "[insert", "<company", "placeholder") {
		return
	}
	t.leftIn(rng, add, placeholders)
}))}

// placeholderWords are placeholders without brackets. Only their meaning
// distinguishes them from words.
var placeholderWords = []string{"TBD", "XXX", "Lorem ipsum", "%s"}

// PlaceholderWord replaces a word by a placeholder without brackets.
var PlaceholderWord = Operator{"placeholder_word", "a placeholder without brackets is left in the place of a word", prose(placed(func(t *Text, rng *rand.Rand, add func(...site)) {
	if t.mentions("tbd", "xxx", "lorem ipsum", "%s") {
		return
	}
	t.leftIn(rng, add, placeholderWords)
}))}

// templateTags are tags that no template engine replaced.
var templateTags = []string{"{{ name }}", "{{ input.topic }}", "{% if draft %}", "${value}", "{0}"}

// TemplateTag replaces a word by a tag of a template.
var TemplateTag = Operator{"template_tag", "a template's tag is left in the place of a word", prose(placed(func(t *Text, rng *rand.Rand, add func(...site)) {
	if t.mentions("{{", "{%", "${", "{0}") {
		return
	}
	t.leftIn(rng, add, templateTags)
}))}

// leftIn replaces words by the texts of a list.
func (t *Text) leftIn(rng *rand.Rand, add func(...site), list []string) {
	for _, p := range t.paragraphs {
		for _, w := range t.words(p.Span) {
			if word := w.In(t.Content); len(word) > 3 && !strings.ContainsAny(word, "0123456789_") && apart(t.Content, w) {
				with := list[rng.IntN(len(list))]
				add(site{w.Start, w.End, with, became(word, with), Always})
			}
		}
	}
}

// apart reports whether a word is not part of an address or a name in code.
func apart(text string, w reading.Span) bool {
	begins := w.Start == 0 || strings.IndexByte(" \n*_(\"'", text[w.Start-1]) >= 0
	ends := w.End == len(text) || strings.IndexByte(" \n*_).,;:!?\"'", text[w.End]) >= 0
	return begins && ends
}

// disclaimers are sentences of a model about itself.
var disclaimers = []string{
	"As an AI language model, I cannot give professional advice.",
	"As an AI, I don't have personal opinions.",
	"I hope this helps! Let me know if you need anything else.",
	"Please note that my knowledge cutoff may mean that this is out of date.",
	"Certainly! Here is the text that you asked for:",
	"Sure, here's a revised version of it:",
}

// Disclaimer inserts a sentence of the model about itself.
var Disclaimer = Operator{"disclaimer", "the model speaks of itself, or to whoever asked it", prose(placed(func(t *Text, rng *rand.Rand, add func(...site)) {
	if t.mentions("as an ai", "i hope this helps", "let me know if", "knowledge cutoff", "certainly!", "here's a revised", "here is the text") {
		return
	}
	for _, i := range rng.Perm(len(disclaimers)) {
		sentence := disclaimers[i]
		if strings.HasSuffix(sentence, ":") {
			add(site{0, 0, sentence + "\n\n", quote(sentence) + " stands before it", Always})
		} else {
			end := len(strings.TrimRight(t.Content, " \n"))
			add(site{end, end, "\n\n" + sentence, quote(sentence) + " stands behind it", Always})
		}
	}
}))}

// refusals are sentences with which a model refuses a task.
var refusals = []string{
	"I'm sorry, but I can't help with that.",
	"I am unable to assist with this request.",
	"I cannot fulfill this request as it goes against my guidelines.",
	"Sorry, I can't do that. Is there anything else that I can help you with?",
	"As a language model I am not able to provide this.",
}

// Refusal replaces the text by a refusal.
var Refusal = Operator{"refusal", "there is a refusal instead of the text", placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	if t.mentions("i can't help", "unable to assist", "cannot fulfill", "language model") {
		return
	}
	for _, sentence := range refusals {
		add(site{0, len(t.Content), sentence, "instead of the text: " + quote(sentence), Always})
	}
})}
