package templates

import "embed"

//go:embed prompts/*.md
var prompts embed.FS

// Prompt returns the source of a prompt that Capstan ships, by the name of its file in prompts without ".md"; ok is false
// when there is none of that name. Each is a template that begins in its file's first line; these are the variables:
//
//	judge               criteria, content, mark
//	sounding_evaluator  task, instructions, candidates: [{number, text}], mark
//	retry_feedback      attempt, max_attempts, silent, failed: failed_checks, rendered; checks: [{check, reason, issues: [{path, message, expected, got}]}]
//	failed_checks       checks, as above
//	turn_default        turn, max_turns, failed
//	loop_until          validator, description, attempts; or sentence, attempts
//
// A mark stands in the tags around foreign text, which must not be able to close them: it is a word that stands in none of it.
//
// The others have none: loop_until_silent, and the criteria grammar_check, content_safety, style_check and quality_check.
func Prompt(name string) (text string, ok bool) {
	data, err := prompts.ReadFile("prompts/" + name + ".md")
	return string(data), err == nil
}
