// Package prompts has the texts that Capstan itself sends to a model, one file
// each. A prompt decides the model's answer, so a person must be able to read
// and judge it without reading code. Each file is a template of the package
// templates and begins in the first line. Code names a prompt and passes
// values. No sentence for a model is in Go.
//
// Quotations from other people's texts have tags with a mark ([Mark]), so that
// no text can close its own tags and speak as the prompt.
package prompts

import "embed"

//go:embed *.md
var files embed.FS

// Source returns the source of a prompt, by the name of its file without ".md";
// ok is false if the name is unknown. Each prompt is a template with these
// variables:
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
// The mark belongs to the tags around foreign text and occurs nowhere in that
// text, so the text cannot close the tags.
//
// The other prompts have no variables: loop_until_silent, mutations_approach,
// mutations_augment, mutations_rewrite (one mutation per line), grammar_check,
// content_safety, style_check and quality_check.
func Source(name string) (text string, ok bool) {
	data, err := files.ReadFile(name + ".md")
	return string(data), err == nil
}
