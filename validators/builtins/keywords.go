package builtins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators"
)

type keywords struct {
	All []string `json:"all,omitempty" jsonschema:"required keywords"`
	Any []string `json:"any,omitempty" jsonschema:"keywords, at least one required"`

	all, any []keyword
}

// A keyword is a word or phrase, as written and in folded form.
type keyword struct{ word, folded string }

// Prepare implements [validators.Prepared].
func (p *keywords) Prepare() (err error) {
	if len(p.All)+len(p.Any) == 0 {
		return errors.New("set all, any or both")
	}
	p.all, p.any, err = foldBoth(p.All, p.Any)
	return err
}

func foldBoth(some, others []string) (a, b []keyword, err error) {
	var out []keyword
	for _, word := range slices.Concat(some, others) {
		k := keyword{word, fold(strings.TrimSpace(word)).text}
		if k.folded == "" {
			return nil, nil, errors.New("a keyword must not be empty")
		}
		out = append(out, k)
	}
	return out[:len(some)], out[len(some):], nil
}

// keywordsValidator accepts text that contains words or phrases. They must be whole
// words; case, composition and white space do not count.
var keywordsValidator = validators.New("keywords", "Validates that the text mentions all, or any, of the given keywords",
	func(_ context.Context, p keywords, s validators.Subject) (validators.Verdict, error) {
		text := fold(s.Content)
		found := findings{check: "keywords"}
		missing(&found, text, p.all)
		if len(p.any) > 0 && !hasAny(text, p.any) {
			found.add("", "none of these is mentioned: %s", quoteAll(p.any))
		}
		return found.verdict("the keywords are there"), nil
	})

func missing(found *findings, text folded, all []keyword) {
	for _, k := range all {
		if text.find(k.folded) < 0 {
			found.add("", "%s is not mentioned", quote(k.word))
		}
	}
}

func hasAny(text folded, list []keyword) bool {
	return slices.ContainsFunc(list, func(k keyword) bool { return text.find(k.folded) >= 0 })
}

func quoteAll(list []keyword) string {
	var out []string
	for i, k := range list {
		if i == maxIssues {
			out = append(out, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		out = append(out, quote(k.word))
	}
	return strings.Join(out, ", ")
}
