// Package keywords has the words of the cascade language that the parser, the engine and
// the editor share: values of keys, names of the engine's tools, and names of variables.
package keywords

// The words of a context that are not names of phases: the phase before, the first phase
// and all phases. A phase named first or all takes precedence.
const (
	Previous = "previous"
	First    = "first"
	All      = "all"
)

// EndOfRun is the target of a handoff that ends the run, unless a phase has this name.
const EndOfRun = "end"

// The values of handoff_default, for a model that chooses no phase.
const (
	ChooseFail  = "fail"
	ChooseFirst = "first"
)

// The values of on_exhausted, which applies when a check has used its budget. Any other
// value is the name of the next phase.
const (
	OnExhaustedFail = "fail"
	OnExhaustedLast = "last"
	OnExhaustedBest = "best"
)

// The mutations of later tries: a hint after the instructions, a text before them, or
// instructions that a model has rewritten.
const (
	Approach = "approach"
	Augment  = "augment"
	Rewrite  = "rewrite"
)

// The strategies for a conversation that exceeds the limit: the run ends, the oldest
// exchanges are removed, or the model summarizes them.
const (
	Fail        = "fail"
	PruneOldest = "prune_oldest"
	Summarize   = "summarize"
)

// The tools of the engine.
const (
	SetState = "set_state"
	RouteTo  = "route_to"
	AskHuman = "ask_human"
)

// Index is the variable with the index of an item, from 0.
const Index = "index"

// ValidatedOutput is the key of the state with the last output that followed an
// output_schema.
const ValidatedOutput = "validated_output"

// Tries is the name of the soundings of a file in paths and events.
const Tries = "soundings"

// The events of a coding agent that a hook judges.
const (
	OnWrite    = "write"    // a file is to be written: the text is the file after the write
	OnCommand  = "command"  // a shell command is to run
	OnStop     = "stop"     // the agent ends its turn: the text is its last message, or a changed file
	OnSubagent = "subagent" // a subagent ends: the text is its report
	OnPrompt   = "prompt"   // a person's prompt
)

// The values of on_exhausted and on_error of a hook.
const (
	HookHold   = "hold"        // refuse further attempts too
	HookMarked = "pass_marked" // let the text pass, and record that it did not pass its checks
	HookStop   = "stop"        // refuse, and end the session
	HookRefuse = "refuse"
	HookPass   = "pass"
)

// MaxRounds is the maximum number of requests for tools within one turn.
const MaxRounds = 16

// DefaultResult is the maximum size of a tool's result for a model, in bytes, unless the
// tool has a max_bytes of its own. Databases have their own limit.
const DefaultResult = 256 << 10
