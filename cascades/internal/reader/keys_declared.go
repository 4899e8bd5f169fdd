// Code generated from cascade.schema.json by TestKeysAreDeclared; DO NOT EDIT.

package reader

import "sync"

// declared returns the keys of each kind of mapping.
var declared = sync.OnceValue(func() map[string][]key {
	return map[string][]key{
		"a database":           {{name: "url"}, {name: "description"}, {name: "read_only"}, {name: "max_rows"}, {name: "max_bytes"}, {name: "timeout"}},
		"a handoff":            {{name: "target"}, {name: "description"}, {name: "when"}},
		"a hook":               {{name: "on"}, {name: "files"}, {name: "match"}, {name: "wards"}, {name: "phase"}, {name: "max_attempts"}, {name: "on_exhausted"}, {name: "on_error"}},
		"a model":              {{name: "name"}, {name: "attempts"}, {name: "temperature"}, {name: "top_p"}, {name: "max_output_tokens"}, {name: "effort"}, {name: "seed"}, {name: "stop"}, {name: "response_format"}, {name: "extra"}},
		"a phase":              {{name: "name"}, {name: "system"}, {name: "examples"}, {name: "instructions"}, {name: "tool"}, {name: "inputs"}, {name: "compose"}, {name: "together"}, {name: "each"}, {name: "model"}, {name: "tackle"}, {name: "context"}, {name: "rules"}, {name: "output_schema"}, {name: "wards"}, {name: "expect"}, {name: "output_extraction"}, {name: "handoffs"}, {name: "handoff_default"}, {name: "when"}, {name: "sub_cascades"}, {name: "soundings"}, {name: "token_budget"}, {name: "human_input"}, {name: "queue"}},
		"a phase of context":   {{name: "phase"}, {name: "include"}},
		"a price":              {{name: "input"}, {name: "cached"}, {name: "cache_write"}, {name: "output"}},
		"a provider":           {{name: "base_url"}, {name: "api"}, {name: "key_env"}, {name: "headers"}, {name: "prices"}, {name: "finish"}, {name: "requests_per_minute"}, {name: "concurrency"}, {name: "timeout"}, {name: "tries"}},
		"a sub-cascade":        {{name: "ref"}, {name: "input_map"}, {name: "context_in"}, {name: "context_out"}},
		"a tool":               {{name: "description"}, {name: "exec"}, {name: "cascade"}, {name: "mcp"}, {name: "parameters"}, {name: "timeout"}, {name: "env"}, {name: "subject"}, {name: "effect"}, {name: "idempotent"}, {name: "queue"}, {name: "max_bytes"}, {name: "requires_receipt"}},
		"a validator":          {{name: "use"}, {name: "expr"}, {name: "schema"}, {name: "judge"}, {name: "exec"}, {name: "cascade"}, {name: "mcp"}, {name: "name"}, {name: "description"}, {name: "reason", beside: []string{"expr"}}, {name: "with", beside: []string{"use", "exec", "mcp"}}, {name: "model", beside: []string{"use", "judge"}}, {name: "votes", beside: []string{"judge"}}, {name: "confirm", beside: []string{"judge"}}, {name: "after", beside: []string{"judge"}}, {name: "timeout", beside: []string{"exec"}}, {name: "env", beside: []string{"exec"}}, {name: "verdict", beside: []string{"exec"}}, {name: "cwd", beside: []string{"exec"}}, {name: "subject", beside: []string{"exec"}}, {name: "input_map", beside: []string{"cascade"}}},
		"a validator in place": {{name: "validator"}, {name: "use"}, {name: "expr"}, {name: "schema"}, {name: "judge"}, {name: "exec"}, {name: "cascade"}, {name: "mcp"}, {name: "name"}, {name: "description"}, {name: "reason", beside: []string{"expr"}}, {name: "with", beside: []string{"validator", "use", "exec", "mcp"}}, {name: "model", beside: []string{"validator", "use", "judge"}}, {name: "votes", beside: []string{"judge"}}, {name: "confirm", beside: []string{"judge"}}, {name: "after", beside: []string{"judge"}}, {name: "timeout", beside: []string{"exec"}}, {name: "env", beside: []string{"exec"}}, {name: "verdict", beside: []string{"exec"}}, {name: "cwd", beside: []string{"exec"}}, {name: "subject", beside: []string{"exec"}}, {name: "input_map", beside: []string{"cascade"}}},
		"a ward":               {{name: "validator"}, {name: "use"}, {name: "expr"}, {name: "schema"}, {name: "judge"}, {name: "exec"}, {name: "cascade"}, {name: "mcp"}, {name: "mode"}, {name: "max_attempts"}, {name: "promote_when"}, {name: "name"}, {name: "description"}, {name: "reason", beside: []string{"expr"}}, {name: "with", beside: []string{"validator", "use", "exec", "mcp"}}, {name: "model", beside: []string{"validator", "use", "judge"}}, {name: "votes", beside: []string{"judge"}}, {name: "confirm", beside: []string{"judge"}}, {name: "after", beside: []string{"judge"}}, {name: "timeout", beside: []string{"exec"}}, {name: "env", beside: []string{"exec"}}, {name: "verdict", beside: []string{"exec"}}, {name: "cwd", beside: []string{"exec"}}, {name: "subject", beside: []string{"exec"}}, {name: "input_map", beside: []string{"cascade"}}},
		"a ward around tools":  {{name: "validator"}, {name: "use"}, {name: "expr"}, {name: "schema"}, {name: "judge"}, {name: "exec"}, {name: "cascade"}, {name: "mcp"}, {name: "mode"}, {name: "max_attempts"}, {name: "promote_when"}, {name: "name"}, {name: "description"}, {name: "reason", beside: []string{"expr"}}, {name: "with", beside: []string{"validator", "use", "exec", "mcp"}}, {name: "model", beside: []string{"validator", "use", "judge"}}, {name: "votes", beside: []string{"judge"}}, {name: "confirm", beside: []string{"judge"}}, {name: "after", beside: []string{"judge"}}, {name: "timeout", beside: []string{"exec"}}, {name: "env", beside: []string{"exec"}}, {name: "verdict", beside: []string{"exec"}}, {name: "cwd", beside: []string{"exec"}}, {name: "subject", beside: []string{"exec"}}, {name: "input_map", beside: []string{"cascade"}}, {name: "tools"}},
		"an example":           {{name: "user"}, {name: "assistant"}},
		"budget":               {{name: "max_calls"}, {name: "max_tokens"}, {name: "max_cost_usd"}, {name: "max_seconds"}, {name: "max_phases"}},
		"context":              {{name: "from"}, {name: "exclude"}, {name: "include_input"}},
		"each":                 {{name: "in"}, {name: "as"}, {name: "max_items"}, {name: "max_parallel"}, {name: "on_failure"}},
		"expect":               {{name: "caught"}},
		"feedback":             {{name: "keep"}, {name: "max_chars"}},
		"human_input":          {{name: "prompt"}, {name: "type"}, {name: "options"}, {name: "store_as"}, {name: "expires"}, {name: "on_expired"}, {name: "notify"}},
		"mcp":                  {{name: "tool"}, {name: "command"}, {name: "env"}, {name: "url"}, {name: "headers"}},
		"notify":               {{name: "exec"}, {name: "env"}, {name: "url"}, {name: "headers"}},
		"output_extraction":    {{name: "pattern"}, {name: "store_as"}, {name: "required"}, {name: "format"}},
		"promote_when":         {{name: "false_pass"}, {name: "false_block"}, {name: "confidence"}},
		"reforge":              {{name: "steps"}, {name: "honing_prompt"}, {name: "factor_per_step"}, {name: "threshold"}},
		"requires_receipt":     {{name: "gates"}, {name: "pub"}, {name: "cascade"}, {name: "max_age"}},
		"rules":                {{name: "max_turns"}, {name: "max_attempts"}, {name: "loop_until"}, {name: "loop_until_prompt"}, {name: "loop_until_silent"}, {name: "turn_prompt"}, {name: "retry_instructions"}, {name: "feedback"}, {name: "on_exhausted"}, {name: "on_error"}, {name: "timeout"}},
		"soundings":            {{name: "factor"}, {name: "max_parallel"}, {name: "models"}, {name: "model_strategy"}, {name: "weights"}, {name: "validator"}, {name: "evaluator_instructions"}, {name: "evaluator_model"}, {name: "mode"}, {name: "aggregator_instructions"}, {name: "mutate"}, {name: "mutations"}, {name: "mutation_mode"}, {name: "reforge"}},
		"the cascade":          {{name: "cascade_id"}, {name: "description"}, {name: "inputs_schema"}, {name: "model"}, {name: "system"}, {name: "examples"}, {name: "providers"}, {name: "databases"}, {name: "validators"}, {name: "tools"}, {name: "protect"}, {name: "budget"}, {name: "token_budget"}, {name: "soundings"}, {name: "phases"}, {name: "hooks"}, {name: "$schema"}},
		"token_budget":         {{name: "max_total"}, {name: "reserve_for_output"}, {name: "strategy"}},
		"wards":                {{name: "pre"}, {name: "tool"}, {name: "result"}, {name: "turn"}, {name: "post"}},
	}
})
