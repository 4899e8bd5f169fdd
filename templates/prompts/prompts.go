// Package prompts has every text that Capstan itself says to a model: a file each, in plain sight, because what a model is
// told decides what comes back, and a person must be able to read and judge it without reading code. Each is a template of
// the package templates and begins in its file's first line. Code names a prompt and gives it values; no sentence to a
// model stands in Go.
//
// What is quoted of other people's texts stands in tags that carry a mark ([Mark]), so that no text can close its own tags
// and speak as the prompt.
package prompts

import "embed"

//go:embed *.md
var files embed.FS

// Source returns the source of a prompt, by the name of its file without ".md"; ok is false when there is none of that
// name. Each is a template that begins in its file's first line; these are the variables:
//
//	judge               criteria, content, mark
//	sounding_evaluator  task, instructions, candidates: [{number, text}], mark
//	sounding_aggregator task, instructions, candidates, mark
//	sounding_reforge    task, answer, honing, whole, mark
//	sounding_rewrite    task, mutation, mark
//	retry_feedback      attempt, max_attempts, silent, failed: failed_checks, rendered; checks: [{check, reason, issues: [{path, message, expected, got}]}]
//	failed_checks       checks, as above
//	unusable_reply      problem, shape
//	turn_default        turn, max_turns, failed
//	loop_until          validator, description, attempts; or sentence, attempts
//	capy_claims         findings: [{validator, check, message, location}] of the checks before it
//
// A mark stands in the tags around foreign text, which must not be able to close them: it is a word that stands in none of it.
//
// The others have none: loop_until_silent, mutations_approach, mutations_augment and mutations_rewrite, one to a line, and the criteria grammar_check, content_safety, style_check and quality_check.
func Source(name string) (text string, ok bool) {
	data, err := files.ReadFile(name + ".md")
	return string(data), err == nil
}
