package windlass

// Value tells what to write in the place of a value that stands under a key and is
// of no kind that it may be, or none of those that it may be; "" where nothing is
// known of it. A mapping is "{}".
func Value(key, value string) string { return values[key+": "+value] }

const asked = "text asks for it in words; capstan convert FILE writes it so"

var values = map[string]string{
	"human_input: false": "without it nobody is asked",
	"tackle: manifest":   "no model chooses among all the tools there are: name those that it may use",
	"on_error: {}":       "it names the phase that mends it",
	"validator: {}":      "a validator in place stands in the ward itself, {expr: …} or {judge: …}; " + byExec,
	"type: multi_choice": asked,
	"type: rating":       asked,
	"type: form":         asked,
	"type: auto":         asked,
	"type: htmx":         asked,
}

// Reads is the value of ours that one of theirs under a key is read as, since it
// means the same; "" of any other.
func Reads(key, value string) string { return reads[key+": "+value] }

var reads = map[string]string{
	"strategy: sliding_window": "prune_oldest",
	"format: code":             "text",
	"type: review":             "confirmation",
	"from: prev":               "previous",
}

// LeftOut tells whether a value of a list is one of theirs that nothing here is
// like, so that the file is read without it.
func LeftOut(key, value string) bool {
	return key == "include" && (value == "images" || value == "messages")
}

// Variable tells what takes the place of a variable of their templates that none
// here is called like; "" of any other.
func Variable(name string) string { return variables[name] }

const byTry = "no text knows which try it is for: mutations ask each otherwise"

var variables = map[string]string{
	"sounding_index": byTry, "candidate_index": byTry, "take_index": byTry,
	"sounding_factor": byTry, "candidate_factor": byTry, "take_factor": byTry,
	"original_input": "what the run was given is input",
}
