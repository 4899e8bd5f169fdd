package windlass

import "sync"

// What takes the place of things that several keys are about.
const (
	byPerson   = "no person chooses among soundings: let a judge evaluate, and ask with human_input of the phase behind it"
	byCost     = "what a text costs is measured by capstan cost, and does not choose it: say what is better in evaluator_instructions"
	byScreen   = "there are no screens: a phase with compose shows a text, and its human_input asks; capstan convert FILE writes it so"
	byExec     = "code that judges is a program: {exec: [python3, check.py]}, which reads {content, input, …} and prints {valid, reason}; capstan convert FILE writes it so"
	byServer   = "an MCP server or a program takes its place: tools: {search: {mcp: {command: […]}}}"
	byTraining = "examples of earlier runs are not put before a model by themselves: write them into the instructions"
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
		"the cascade":        ofCascade(),
		"a phase":            ofPhase(),
		"soundings":          ofSoundings(),
		"reforge":            ofReforge(),
		"context":            ofContext(),
		"a phase of context": ofSource(),
		"token_budget":       ofBudget(),
		"human_input":        ofQuestion(),
		"a validator":        ofValidator(),
		"a validator in place": {
			"python": instead(LARS, byExec), "javascript": instead(LARS, byExec), "clojure": instead(LARS, byExec),
			"bash": instead(LARS, byExec), "sql": instead(LARS, byExec), "tool": instead(LARS, byExec), "inputs": ignored(LARS),
			"instructions": calls(LARS, "judge"), "max_turns": ignored(LARS),
			"mode": without(Windlass, byPlace), "max_attempts": without(Windlass, byPlace),
		},
		"models by name": {"temperature": without(Windlass, byList), "max_tokens": without(Windlass, byList)},
		"a sub-cascade":  {"trigger": ignored(Windlass)},
	}
})

func ofCascade() map[string]Word {
	return map[string]Word{
		"cells": calls(LARS, "phases"), "takes": calls(LARS, "soundings"), "candidates": calls(LARS, "soundings"),

		"memory":       instead(Windlass, "nothing is remembered from run to run: "+byServer),
		"rag":          instead(Windlass, "no folder is searched by meaning: "+byServer),
		"research_db":  instead(LARS, "a database is named by databases: {research: {url: …}}, and sql_query asks it"),
		"tool_caching": without(Windlass, "every call acts: a program that keeps its results takes its place where a tool is slow"),
		"auto_context": without(LARS, byFrom+", and token_budget says what a conversation may weigh"),
		"triggers":     without(LARS, "a run is started by capstan run or over HTTP: cron, or whatever sees the event, takes its place"),
		"sql_function": without(LARS, "a cascade is called by capstan run, over HTTP or as a tool of an MCP server (capstan mcp), and not from SQL"),
		"max_parallel": without(LARS, "phases run one after the other, and those of a together side by side"),

		"tags": ignored(Windlass), "version": ignored(Windlass), "author": ignored(Windlass), "metadata": ignored(Windlass),
		"narrator": ignored(Windlass), "audibles": ignored(Windlass), "callouts": ignored(Windlass), "ui_mode": ignored(Windlass),
		"internal": ignored(LARS), "pure": ignored(LARS), "manifest": ignored(LARS), "explorer": ignored(LARS), "ui": ignored(LARS),
		"use_native_tools": ignored(Windlass), "category": ignored(LARS), "title": ignored(LARS), "icon": ignored(LARS),
		"notes": ignored(LARS), "comment": ignored(LARS), "created_at": ignored(LARS), "updated_at": ignored(LARS), "enabled": ignored(LARS),
		"name": ignored(LARS), "inputs_example": ignored(LARS), "examples": ignored(LARS), "outputs_schema": ignored(LARS),
	}
}

func ofPhase() map[string]Word {
	return map[string]Word{
		"skills": calls(LARS, "tackle"), "traits": calls(LARS, "tackle"),
		"takes": calls(LARS, "soundings"), "candidates": calls(LARS, "soundings"),
		"condition": calls(LARS, "when"),

		"memory":          instead(Windlass, "nothing is remembered from run to run: "+byServer),
		"rag":             instead(Windlass, "no folder is searched by meaning: "+byServer),
		"async_cascades":  instead(Windlass, "nothing runs beside the run: together runs phases side by side, and capstan run another run"),
		"htmx":            instead(LARS, byScreen),
		"hitl":            instead(LARS, byScreen),
		"for_each_row":    instead(LARS, "a phase with each is done for every item of a list, and sql_query gives a list of rows"),
		"routing":         instead(LARS, "handoffs with when lead on by what came out: handoffs: [{target: fix, when: \"output.status == 'error'\"}]; capstan convert FILE writes it so"),
		"on_error":        instead(LARS, "it stands in rules: rules: {on_error: PHASE}; capstan convert FILE writes it so"),
		"timeout":         instead(LARS, "it stands in rules: rules: {timeout: 90s}; capstan convert FILE writes it so"),
		"retry":           without(LARS, "what fails for reasons of the network is tried again by itself"),
		"browser":         instead(LARS, "an MCP server drives a browser: tools: {browse: {mcp: {command: [npx, \"@playwright/mcp\"]}}}"),
		"image_config":    instead(LARS, "models give texts here: a program or an MCP server that makes pictures is a tool"),
		"decision_points": instead(LARS, "ask_human in tackle lets the model ask a person"),

		"use_training": without(LARS, byTraining), "training_limit": ignored(LARS), "training_strategy": ignored(LARS),
		"training_min_confidence": ignored(LARS), "training_verified_only": ignored(LARS), "training_format": ignored(LARS),
		"intra_context":    without(LARS, "token_budget says what a conversation may weigh"),
		"hitl_title":       ignored(LARS),
		"hitl_description": ignored(LARS),
		"await_input":      ignored(LARS),

		"use_native_tools": ignored(Windlass), "parallel_tools": ignored(LARS), "audibles": ignored(Windlass),
		"callouts": ignored(Windlass), "narrator": ignored(Windlass), "ui_mode": ignored(Windlass), "ui": ignored(LARS),
		"manifest_context": ignored(Windlass), "manifest_limit": ignored(Windlass), "manifest_refresh": ignored(LARS),
		"tags": ignored(Windlass), "description": ignored(Windlass), "title": ignored(LARS), "notes": ignored(LARS), "comment": ignored(LARS),
	}
}

func ofSoundings() map[string]Word {
	return map[string]Word{
		"evaluator":                  instead(Windlass, byPerson),
		"human_eval":                 instead(Windlass, byPerson),
		"llm_prefilter":              instead(Windlass, byPerson),
		"llm_prefilter_instructions": instead(Windlass, byPerson),
		"cost_aware_evaluation":      without(Windlass, byCost),
		"pareto_frontier":            without(Windlass, byCost),
		"downstream_model":           without(LARS, "a cascade among the tools has its own model, or --model's"),
		"aggregator_model":           without(LARS, "the phase's model puts them together"),
		"enabled":                    ignored(LARS),
	}
}

func ofReforge() map[string]Word {
	return map[string]Word{
		"mutate":             without(Windlass, "what is refined is not varied besides: honing_prompt says how"),
		"evaluator_override": without(Windlass, "evaluator_instructions choose in every step"),
		"enabled":            ignored(LARS),
	}
}

func ofContext() map[string]Word {
	return map[string]Word{
		"mode":      without(LARS, byFrom),
		"anchors":   without(LARS, byFrom),
		"selection": without(LARS, byFrom),
		"include":   ignored(Windlass),
		"enabled":   ignored(LARS),
	}
}

func ofSource() map[string]Word {
	return map[string]Word{
		"cell":            calls(LARS, "phase"),
		"images_filter":   ignored(Windlass),
		"images_count":    ignored(Windlass),
		"messages_filter": without(Windlass, "output is what the phase released"),
		"as_role":         ignored(Windlass),
		"condition":       instead(Windlass, "a phase with when sees what it is for: split the phase"),
	}
}

func ofBudget() map[string]Word {
	return map[string]Word{
		"warning_threshold": ignored(Windlass),
		"summarizer":        without(Windlass, "the phase's own model summarises"),
		"phase_overrides":   without(Windlass, "a phase may have a token_budget of its own"),
		"cell_overrides":    without(LARS, "a phase may have a token_budget of its own"),
		"enabled":           ignored(Windlass),
	}
}

func ofQuestion() map[string]Word {
	return map[string]Word{
		"condition":          instead(Windlass, "a phase that asks has when"),
		"timeout_seconds":    instead(Windlass, byExpiry),
		"on_timeout":         instead(Windlass, byExpiry),
		"default_value":      instead(Windlass, byExpiry),
		"escalate_to":        instead(Windlass, "notify tells somebody of the question"),
		"hint":               ignored(Windlass),
		"generator_prompt":   ignored(Windlass),
		"max_rating":         without(Windlass, byAnswer),
		"rating_labels":      without(Windlass, byAnswer),
		"fields":             without(Windlass, byAnswer),
		"capture_reasoning":  without(Windlass, byAnswer),
		"capture_confidence": without(Windlass, byAnswer),
	}
}

func ofValidator() map[string]Word {
	return map[string]Word{
		"instructions": calls(Windlass, "judge"), "max_turns": ignored(Windlass),
		"python": instead(LARS, byExec), "javascript": instead(LARS, byExec), "clojure": instead(LARS, byExec),
		"bash": instead(LARS, byExec), "sql": instead(LARS, byExec), "tool": instead(LARS, byExec), "inputs": ignored(LARS),
	}
}
