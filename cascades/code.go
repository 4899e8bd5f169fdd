package cascades

// The codes of diagnostics. They are stable: a code keeps its meaning.
const (
	CodeSyntax     = "syntax"
	CodeType       = "wrong-type"
	CodeUnknownKey = "unknown-key"
	CodeMissing    = "missing"
	CodeDuplicate  = "duplicate"
	CodeValue      = "bad-value"
	CodeConflict   = "conflict"
	CodeValidator  = "unknown-validator"
	CodeTool       = "unknown-tool"
	CodePhase      = "unknown-phase"
	CodeVariable   = "unknown-variable"
	CodeTemplate   = "bad-template"
	CodeExpression = "bad-expression"
	CodeSchema     = "bad-schema"
	CodePattern    = "bad-pattern"
	CodeParameters = "bad-parameters"
	CodeFile       = "unreadable-file"
	CodeCycle      = "cycle"
	CodeTooLarge   = "too-large"

	CodeUngated    = "ungated-effect"    // a warning
	CodeUndeclared = "undeclared-input"  // a warning
	CodeStray      = "unknown-keyword"   // a warning
	CodeUnreached  = "unreachable-phase" // a warning
	CodeEndless    = "endless-circle"    // a warning
	CodeVisits     = "too-many-phases"   // a warning
	CodeField      = "unknown-field"     // a warning
	CodeUnproven   = "unproven-gate"     // a warning
	CodeUnset      = "unset-state"       // a warning
	CodeIgnored    = "ignored-key"       // a warning
	CodeOtherwise  = "read-otherwise"    // a warning
	CodeUnasked    = "unasked-database"  // a warning
	CodePlain      = "plain-password"    // a warning
	CodeTooHeavy   = "too-heavy"         // a warning

	CodeBare       = "bare-write"      // of lint --proof
	CodeUnmeasured = "unmeasured-gate" // of lint --proof=strict
)

// A Code is the code of a diagnostic with what it means.
type Code struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// Codes lists every code, in the order of docs/reference/diagnostics.md.
func Codes() []Code {
	return []Code{
		{CodeSyntax, "the file is not YAML or JSON, not UTF-8 text, empty, or more than one document"},
		{CodeType, "a value of the wrong kind: a text where a list must stand"},
		{CodeUnknownKey, "a key that means nothing where it stands"},
		{CodeMissing, "something required is not there"},
		{CodeDuplicate, "a name or a key that stands twice"},
		{CodeValue, "the right kind, but not a value it may have"},
		{CodeConflict, "two things that exclude each other, or one that means nothing beside the other"},
		{CodeValidator, "a validator named nowhere"},
		{CodeTool, "a tool named nowhere"},
		{CodePhase, "a phase named nowhere"},
		{CodeVariable, "a template variable that nothing sets"},
		{CodeTemplate, "a template that does not parse"},
		{CodeExpression, "an expression that does not parse or does not type-check"},
		{CodeSchema, "a JSON Schema that is itself wrong"},
		{CodePattern, "a regular expression that does not compile, or is too large"},
		{CodeParameters, "parameters that a validator or a tool does not take"},
		{CodeFile, "a file that is named here and cannot be read"},
		{CodeCycle, "a file or a value that contains itself"},
		{CodeTooLarge, "more than a cascade file may hold"},
		{CodeUngated, "a warning: a model may call a tool that writes, and no blocking or retrying `tool` ward looks at the call; or a phase writes with a tool what a model said, and neither a blocking pre-ward nor a check of that text looks at it, where it is said or on the way"},
		{CodeUndeclared, "a warning: a template reads an input that `inputs_schema` does not have: nobody can give it; or a cascade within this one is given one that it neither declares nor reads"},
		{CodeStray, "a warning: a key of a JSON Schema that JSON Schema has no meaning for, and that is nearly one of its words; or a schema of nothing but such keys: fields without `properties`"},
		{CodeUnreached, "a warning: no way leads to a phase"},
		{CodeEndless, "a warning: phases that lead to each other and nowhere else, so that the run goes on until its budget ends it"},
		{CodeVisits, "a warning: the shortest way to an end visits more phases than `max_phases` allows"},
		{CodeField, "a warning: a template or an expression reads a field that the phase's `output_schema` leaves no room for"},
		{CodeUnproven, "a warning: a ward with `promote_when` has no evidence for exactly the gate that it is, and is in shadow"},
		{CodeUnset, "a warning: a template reads a key of the state that nothing of the cascade sets"},
		{CodeIgnored, "a warning: a key of Windlass or LARS that changes nothing here; those that change nothing there either are told once in a file"},
		{CodeOtherwise, "a warning: what another program reads otherwise, with how it is read here"},
		{CodeUnasked, "a warning: a database of the file that no phase asks"},
		{CodePlain, "a warning: a password that stands in the file"},
		{CodeTooHeavy, "a warning: a `token_budget` that the instructions alone weigh more than"},
		{CodeBare, "of `lint --proof`: a text of a model may get into a call of a tool that writes, and no gate has judged it on the way"},
		{CodeUnmeasured, "of `lint --proof=strict`: a gate on a way to a tool that writes has no evidence of a false pass as low as is asked for"},
	}
}
