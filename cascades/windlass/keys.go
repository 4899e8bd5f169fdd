package windlass

import (
	"sync"
)

// What takes the place of things that several keys are about.
const (
	byPerson   = "no person chooses among soundings: let a judge evaluate, and ask with human_input of the phase behind it"
	byCost     = "what a text costs is measured by capstan measure cost, and does not choose it: say what is better in evaluator_instructions"
	byScreen   = "there are no screens: a phase with compose shows a text, and its human_input asks; capstan convert FILE writes it so"
	byExec     = "code that judges is a program: {exec: [python3, check.py]}, which reads {content, input, …} and prints {valid, reason}; capstan convert FILE writes it so"
	byServer   = "an MCP server or a program takes its place: tools: {search: {mcp: {command: […]}}}"
	byTraining = "examples of earlier runs are not put before a model by themselves: write them under examples"
	byFrom     = "what a phase sees is what context.from names"
	byPlace    = "what stands here is asked, and has no mode or tries of its own"
	byList     = "a list of models has it: [{name: a, temperature: 0.2, max_output_tokens: 800}]; capstan convert FILE writes it so"
	byAnswer   = "an answer is a text, a choice or a yes: what else is to be known is asked for in the prompt"
	byExpiry   = "expires and on_expired say how long a question waits, and what comes then"
)

// keys are what Windlass and LARS have and we have not, by the kind of mapping
// that they stand in. What their loaders read past, because they read past every
// key that they do not know, stands here where their examples have it.
var keys = sync.OnceValue(func() map[string]map[string]Word {
	return map[string]map[string]Word{
		"the cascade": ofCascade(),
		"a phase":     ofPhase(),
		"soundings":   ofSoundings(),
		"reforge": with(map[string]Word{
			"mutate":             without("what is refined is not varied besides: honing_prompt says how"),
			"evaluator_override": without("evaluator_instructions choose in every step"),
		}, "enabled"),
		"context": with(map[string]Word{
			"mode":      without(byFrom),
			"anchors":   without(byFrom),
			"selection": without(byFrom),
		}, "include", "enabled"),
		"a phase of context": with(map[string]Word{
			"cell":            calls("LARS", "phase"),
			"messages_filter": without("output is what the phase released"),
			"condition":       instead("a phase with when sees what it is for: split the phase"),
		}, "images_filter", "images_count", "as_role"),
		"token_budget": with(map[string]Word{
			"summarizer":      without("the phase's own model summarises"),
			"phase_overrides": without("a phase may have a token_budget of its own"),
			"cell_overrides":  without("a phase may have a token_budget of its own"),
		}, "warning_threshold", "enabled"),
		"human_input":          ofQuestion(),
		"a validator":          ofValidator(),
		"a validator in place": inPlace(),
		"models by name":       {"temperature": without(byList), "max_tokens": without(byList)},
		"a sub-cascade":        with(map[string]Word{}, "trigger"),
	}
})

func ofCascade() map[string]Word {
	return with(map[string]Word{
		"cells": calls("LARS", "phases"), "takes": calls("LARS", "soundings"), "candidates": calls("LARS", "soundings"),
		"memory":       instead("nothing is remembered from run to run: " + byServer),
		"rag":          instead("no folder is searched by meaning: " + byServer),
		"research_db":  instead("a database is named by databases: {research: {url: …}}, and sql_query asks it"),
		"tool_caching": without("every call acts: a program that keeps its results takes its place where a tool is slow"),
		"auto_context": without(byFrom + ", and token_budget says what a conversation may weigh"),
		"triggers":     without("a run is started by capstan run or over HTTP: cron, or whatever sees the event, takes its place"),
		"sql_function": without("a cascade is called by capstan run, over HTTP or as a tool of an MCP server (capstan mcp), and not from SQL"),
		"max_parallel": without("phases run one after the other, and those of a together side by side"),
	}, "tags", "version", "author", "metadata", "narrator", "audibles", "callouts", "ui_mode", "internal", "pure", "manifest", "explorer", "ui",
		"use_native_tools", "category", "title", "icon", "notes", "comment", "created_at", "updated_at", "enabled", "name", "inputs_example",
		"outputs_schema")
}

func ofPhase() map[string]Word {
	return with(map[string]Word{
		"skills": calls("LARS", "tackle"), "traits": calls("LARS", "tackle"),
		"takes": calls("LARS", "soundings"), "candidates": calls("LARS", "soundings"),
		"condition":       calls("LARS", "when"),
		"memory":          instead("nothing is remembered from run to run: " + byServer),
		"rag":             instead("no folder is searched by meaning: " + byServer),
		"async_cascades":  instead("nothing runs beside the run: together runs phases side by side, and capstan run another run"),
		"htmx":            instead(byScreen),
		"hitl":            instead(byScreen),
		"for_each_row":    instead("a phase with each is done for every item of a list, and sql_query gives a list of rows"),
		"routing":         instead("handoffs with when lead on by what came out: handoffs: [{target: fix, when: \"output.status == 'error'\"}]; capstan convert FILE writes it so"),
		"on_error":        instead("it stands in rules: rules: {on_error: PHASE}; capstan convert FILE writes it so"),
		"timeout":         instead("it stands in rules: rules: {timeout: 90s}; capstan convert FILE writes it so"),
		"retry":           without("what fails for reasons of the network is tried again by itself"),
		"browser":         instead("an MCP server drives a browser: tools: {browse: {mcp: {command: [npx, \"@playwright/mcp\"]}}}"),
		"image_config":    instead("models give texts here: a program or an MCP server that makes pictures is a tool"),
		"decision_points": instead("ask_human in tackle lets the model ask a person"),
		"use_training":    without(byTraining),
		"intra_context":   without("token_budget says what a conversation may weigh"),
	}, "training_limit", "training_strategy", "training_min_confidence", "training_verified_only", "training_format", "hitl_title", "hitl_description",
		"await_input", "use_native_tools", "parallel_tools", "audibles", "callouts", "narrator", "ui_mode", "ui", "manifest_context", "manifest_limit",
		"manifest_refresh", "tags", "description", "title", "notes", "comment")
}

func ofSoundings() map[string]Word {
	return with(map[string]Word{
		"evaluator":                  instead(byPerson),
		"human_eval":                 instead(byPerson),
		"llm_prefilter":              instead(byPerson),
		"llm_prefilter_instructions": instead(byPerson),
		"cost_aware_evaluation":      without(byCost),
		"pareto_frontier":            without(byCost),
		"downstream_model":           without("a cascade among the tools has its own model, or --model's"),
		"aggregator_model":           without("the phase's model puts them together"),
	}, "enabled")
}

func ofQuestion() map[string]Word {
	return with(map[string]Word{
		"condition":          instead("a phase that asks has when"),
		"timeout_seconds":    instead(byExpiry),
		"on_timeout":         instead(byExpiry),
		"default_value":      instead(byExpiry),
		"escalate_to":        instead("notify tells somebody of the question"),
		"max_rating":         without(byAnswer),
		"rating_labels":      without(byAnswer),
		"fields":             without(byAnswer),
		"capture_reasoning":  without(byAnswer),
		"capture_confidence": without(byAnswer),
	}, "hint", "generator_prompt")
}

func ofValidator() map[string]Word {
	return with(map[string]Word{
		"instructions": calls("Windlass", "judge"),
		"python":       instead(byExec), "javascript": instead(byExec), "clojure": instead(byExec),
		"bash": instead(byExec), "sql": instead(byExec), "tool": instead(byExec),
	}, "max_turns", "inputs")
}

// inPlace are those of a validator that stands where it is asked.
func inPlace() map[string]Word {
	words := ofValidator()
	words["instructions"] = calls("LARS", "judge")
	words["mode"], words["max_attempts"] = without(byPlace), without(byPlace)
	return words
}

// with are words with those besides that change nothing here.
func with(words map[string]Word, ignored ...string) map[string]Word {
	for _, word := range ignored {
		words[word] = Word{Fate: Ignored}
	}
	return words
}
