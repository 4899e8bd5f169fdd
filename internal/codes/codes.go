// Package codes has the codes of the diagnostics of cascade files.
package codes

// The codes of diagnostics. docs/reference/diagnostics.md explains them.
const (
	Syntax     = "syntax"
	Type       = "wrong-type"
	UnknownKey = "unknown-key"
	Missing    = "missing"
	Duplicate  = "duplicate"
	Value      = "invalid-value"
	Conflict   = "conflict"
	Validator  = "unknown-validator"
	Tool       = "unknown-tool"
	Phase      = "unknown-phase"
	Variable   = "unknown-variable"
	Template   = "invalid-template"
	Expression = "invalid-expression"
	Schema     = "invalid-schema"
	Pattern    = "invalid-pattern"
	Parameters = "invalid-parameters"
	File       = "unreadable-file"
	Cycle      = "cycle"
	TooLarge   = "too-large"

	Ungated     = "ungated-effect"        // a warning
	Undeclared  = "undeclared-input"      // a warning
	Keyword     = "unknown-keyword"       // a warning
	Unreached   = "unreachable-phase"     // a warning
	Endless     = "endless-loop"          // a warning
	Visits      = "too-many-phases"       // a warning
	Field       = "unknown-field"         // a warning
	Unproven    = "unproven-gate"         // a warning
	Unset       = "unset-state"           // a warning
	Ignored     = "ignored-key"           // a warning
	Meaning     = "different-meaning"     // a warning
	Unused      = "unused-database"       // a warning
	Password    = "plaintext-password"    // a warning
	TokenBudget = "token-budget-exceeded" // a warning
	Feedback    = "unused-feedback"       // a warning
	Program     = "missing-program"       // a warning of lint
	Price       = "unknown-price"         // a warning of lint

	UngatedWrite = "ungated-write"   // of lint --proof
	Unmeasured   = "unmeasured-gate" // of lint --proof=strict
)

// A Code is the code of a diagnostic with its meaning. A code keeps its meaning.
type Code struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// All lists every code, in the order of docs/reference/diagnostics.md.
func All() []Code {
	return []Code{
		{Syntax, "the file is not YAML or JSON, not UTF-8 text, empty, or more than one document"},
		{Type, "a value of the wrong type, such as a text instead of a list"},
		{UnknownKey, "an unknown key"},
		{Missing, "a required key or value is missing"},
		{Duplicate, "a duplicate name or key"},
		{Value, "a value that is not allowed"},
		{Conflict, "two keys that exclude each other, or a key without effect beside another"},
		{Validator, "an unknown validator"},
		{Tool, "an unknown tool"},
		{Phase, "an unknown phase; or a template reads the output of a phase that never runs before the reader"},
		{Variable, "a template variable that nothing sets"},
		{Template, "a template that does not parse"},
		{Expression, "an expression that does not parse or does not type-check"},
		{Schema, "an invalid JSON Schema"},
		{Pattern, "a regular expression that does not compile, or is too large"},
		{Parameters, "parameters that a validator or a tool does not accept"},
		{File, "a named file that cannot be read"},
		{Cycle, "a file or a value that contains itself"},
		{TooLarge, "a limit of cascade files is exceeded"},
		{Ungated, "a warning: no blocking or retrying `tool` ward checks a model's call of a tool that writes; or a phase writes a model's text with a tool, and no blocking pre-ward or other check sees that text"},
		{Undeclared, "a warning: a template reads an input that `inputs_schema` does not declare; or a sub-cascade gets an input that it neither declares nor reads"},
		{Keyword, "a warning: an unknown key of a JSON Schema that is similar to a known one; or a schema that only has unknown keys, such as fields without `properties`"},
		{Unreached, "a warning: a phase cannot be reached"},
		{Endless, "a warning: phases that only lead to each other, so that only the budget ends the run"},
		{Visits, "a warning: the shortest path to an end has more phases than `max_phases` allows"},
		{Field, "a warning: a template or an expression reads a field that the `output_schema` of the phase does not allow"},
		{Unproven, "a warning: a ward with `promote_when` runs in shadow, because it has no evidence for exactly this gate"},
		{Unset, "a warning: a template reads a key of the state that the cascade never sets"},
		{Ignored, "a warning: a key of Windlass or LARS without effect in Capstan. Keys that have no effect there either are reported once per file."},
		{Meaning, "a warning: a value that other programs interpret differently, with its meaning in Capstan"},
		{Unused, "a warning: a database that no phase uses"},
		{Password, "a warning: a password in the file"},
		{TokenBudget, "a warning: the instructions alone exceed the `token_budget`"},
		{Feedback, "a warning: a retry ward on a `tool:` phase whose `inputs` never read `validation_error`, `schema_error` or `attempt`, so that each attempt has the same arguments"},
		{Program, "a warning: a program of an `exec` is missing on this machine, or the script that is its first argument. `run` does not start without it."},
		{Price, "a warning: a model without a known price in a cascade with `max_cost_usd`. `run` does not start."},
		{UngatedWrite, "of `lint --proof`: a text of a model can reach a tool that writes without passing a gate"},
		{Unmeasured, "of `lint --proof=strict`: a gate before a tool that writes has no evidence for the required limit of false passes"},
	}
}
