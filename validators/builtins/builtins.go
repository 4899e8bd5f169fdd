// Package builtins contains the validators of the language, one in each file.
// [All] lists them. Each is made by [validators.New] from a struct of parameters and a
// function. A program may also use one alone:
//
//	length, err := builtins.Default().Find("max_length")
//	check, err := length.Bind(map[string]any{"max": 280})
//	verdict, err := check(ctx, validators.Subject{Content: text})
//
// Except for the judges, they compute the verdict from the subject alone,
// always with the same result, in time proportional to the text. They report at
// most twenty findings (issues.go), because a verdict goes into a prompt. Words
// of human languages, number formats and other special cases are rows of
// tables/*.tsv, each with a source and two test lines.
//
// [Default] returns the default set of a runner: these validators and those
// passed to [Register].
//
// Begin with All, then read any file.
package builtins

import "github.com/seed61713e19/capstan/validators"

// All returns the validators of the language. The judges come last.
func All() []validators.Validator {
	return append([]validators.Validator{
		nonEmptyValidator, maxLengthValidator, minLengthValidator, lengthCheckValidator, wordCountValidator,
		containsValidator, excludesValidator, regexpValidator, keywordsValidator, keywordValidator,
		jsonValidator, matchesSchemaValidator, markdownValidator, presentableValidator,
		noSecretsValidator, piiValidator, inputSanitizerValidator, similarToInputValidator, simpleValidator,
		citesValidator, languageValidator, numbersKeptValidator, linksKeptValidator, sameStructureValidator,
	}, judges()...)
}
