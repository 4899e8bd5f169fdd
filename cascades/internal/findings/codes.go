package findings

// The codes of diagnostics. They are stable: a code keeps its meaning.
const (
	CodeSyntax     = "syntax"
	CodeType       = "wrong-type"
	CodeUnknownKey = "unknown-key"
	CodeMissing    = "missing"
	CodeDuplicate  = "duplicate"
	CodeValue      = "invalid-value"
	CodeConflict   = "conflict"
	CodeValidator  = "unknown-validator"
	CodeTool       = "unknown-tool"
	CodePhase      = "unknown-phase"
	CodeVariable   = "unknown-variable"
	CodeTemplate   = "invalid-template"
	CodeExpression = "invalid-expression"
	CodeSchema     = "invalid-schema"
	CodePattern    = "invalid-pattern"
	CodeParameters = "invalid-parameters"
	CodeFile       = "unreadable-file"
	CodeCycle      = "cycle"
	CodeTooLarge   = "too-large"

	CodeUngated     = "ungated-effect"        // a warning
	CodeUndeclared  = "undeclared-input"      // a warning
	CodeKeyword     = "unknown-keyword"       // a warning
	CodeUnreached   = "unreachable-phase"     // a warning
	CodeEndless     = "endless-loop"          // a warning
	CodeVisits      = "too-many-phases"       // a warning
	CodeField       = "unknown-field"         // a warning
	CodeUnproven    = "unproven-gate"         // a warning
	CodeUnset       = "unset-state"           // a warning
	CodeIgnored     = "ignored-key"           // a warning
	CodeMeaning     = "different-meaning"     // a warning
	CodeUnused      = "unused-database"       // a warning
	CodePassword    = "plaintext-password"    // a warning
	CodeTokenBudget = "token-budget-exceeded" // a warning
	CodeFeedback    = "unused-feedback"       // a warning
	CodeProgram     = "missing-program"       // a warning of lint
	CodePrice       = "unknown-price"         // a warning of lint

	CodeUngatedWrite = "ungated-write"   // of lint --proof
	CodeUnmeasured   = "unmeasured-gate" // of lint --proof=strict
)

// A Code is the code of a diagnostic with its meaning.
type Code struct{ Name, Meaning string }

// Codes lists every code, in the order of docs/reference/diagnostics.md.
func Codes() []Code {
	return []Code{
		{CodeSyntax, "the file is not YAML or JSON, not UTF-8 text, empty, or more than one document"},
		{CodeType, "a value of the wrong type, such as a text instead of a list"},
		{CodeUnknownKey, "an unknown key"},
		{CodeMissing, "a required key or value is missing"},
		{CodeDuplicate, "a duplicate name or key"},
		{CodeValue, "a value that is not allowed"},
		{CodeConflict, "two keys that exclude each other, or a key without effect beside another"},
		{CodeValidator, "an unknown validator"},
		{CodeTool, "an unknown tool"},
		{CodePhase, "an unknown phase; or a template reads the output of a phase that never runs before the reader"},
		{CodeVariable, "a template variable that nothing sets"},
		{CodeTemplate, "a template that does not parse"},
		{CodeExpression, "an expression that does not parse or does not type-check"},
		{CodeSchema, "an invalid JSON Schema"},
		{CodePattern, "a regular expression that does not compile, or is too large"},
		{CodeParameters, "parameters that a validator or a tool does not accept"},
		{CodeFile, "a named file that cannot be read"},
		{CodeCycle, "a file or a value that contains itself"},
		{CodeTooLarge, "a limit of cascade files is exceeded"},
		{CodeUngated, "a warning: no blocking or retrying `tool` ward checks a model's call of a tool that writes; or a phase writes a model's text with a tool, and no blocking pre-ward or other check sees that text"},
		{CodeUndeclared, "a warning: a template reads an input that `inputs_schema` does not declare; or a sub-cascade gets an input that it neither declares nor reads"},
		{CodeKeyword, "a warning: an unknown key of a JSON Schema that is similar to a known one; or a schema that only has unknown keys, such as fields without `properties`"},
		{CodeUnreached, "a warning: a phase cannot be reached"},
		{CodeEndless, "a warning: phases that only lead to each other, so that only the budget ends the run"},
		{CodeVisits, "a warning: the shortest path to an end has more phases than `max_phases` allows"},
		{CodeField, "a warning: a template or an expression reads a field that the `output_schema` of the phase does not allow"},
		{CodeUnproven, "a warning: a ward with `promote_when` runs in shadow, because it has no evidence for exactly this gate"},
		{CodeUnset, "a warning: a template reads a key of the state that the cascade never sets"},
		{CodeIgnored, "a warning: a key of Windlass or LARS without effect in Capstan. Keys that have no effect there either are reported once per file."},
		{CodeMeaning, "a warning: a value that other programs interpret differently, with its meaning in Capstan"},
		{CodeUnused, "a warning: a database that no phase uses"},
		{CodePassword, "a warning: a password in the file"},
		{CodeTokenBudget, "a warning: the instructions alone exceed the `token_budget`"},
		{CodeFeedback, "a warning: a retry ward on a `tool:` phase whose `inputs` never read `validation_error`, `schema_error` or `attempt`, so that each attempt has the same arguments"},
		{CodeProgram, "a warning: a program of an `exec` is missing on this machine, or the script that is its first argument. `run` does not start without it."},
		{CodePrice, "a warning: a model without a known price in a cascade with `max_cost_usd`. `run` does not start."},
		{CodeUngatedWrite, "of `lint --proof`: a text of a model can reach a tool that writes without passing a gate"},
		{CodeUnmeasured, "of `lint --proof=strict`: a gate before a tool that writes has no evidence for the required limit of false passes"},
	}
}
