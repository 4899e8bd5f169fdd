// Package builtins are the validators that come with the language, a file each:
// [All] is the list of them. Each is a value, made by [validators.New] of a struct of
// parameters and a function, that a program may also use by itself.
//
// All but the judges are computed from the subject alone, give the same verdict twice, and
// take time in proportion to the text. They collect at most twenty findings (issues.go),
// since a verdict goes into a prompt. Words of human languages, number formats and other
// special cases are rows of tables/*.tsv, each with a source and two test lines.
//
// [Default] is what a runner has where nothing else is said: these, and what a
// program has given to [Register].
//
// Begin with the list, then any of its files.
package builtins

import "github.com/seed61713e19/capstan/validators"

// All lists the validators that come with the language, the computed ones
// first, then the judges.
func All() []validators.Validator {
	return append([]validators.Validator{
		NonEmpty, MaxLength, MinLength, LengthCheck, WordCount,
		Contains, Excludes, Regexp, Keywords, KeywordValidator,
		JSON, MatchesSchema, Markdown, Presentable,
		NoSecrets, PII, InputSanitizer, SimilarToInput, SimpleValidator,
		Cites, Language, NumbersKept, LinksKept, SameStructure,
	}, judges()...)
}
