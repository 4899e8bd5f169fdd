// Package request is the validation request protocol: it judges a validator's
// response against the request that it answers, and dispatches requests to
// validators, by task_id.
//
// A request lists criteria, and a response has a status and evidence for each. Both are
// JSON, as a whole text or in the last fence of a model's prose (document.go). They are
// read strictly, by the forms of the protocol (parse.go, form.go). [Judge] computes the
// verdict from the statuses (judge.go), from the entries of evidence_collected
// (evidence.go, output.go, pictures.go), and from the entries that each PASS names
// (references.go). It interprets no sentences. As gates these are [Validator],
// [JudgeValidator] and [PromiseValidator]. The tables folder has the result lines of
// tools, the names of other formats, and the faults that the gates must find.
//
// The effective verdict is the worse of the claimed and the computed one.
//
// A [Dispatcher] makes a fresh [Runner] for each try, returns an unreadable answer once,
// sends a second runner after a timeout or a crash, and records what happened
// (dispatcher.go, attempt.go, record.go). A crash is no verdict.
//
// The gates execute and render no part of a response. They read the files that it names
// below one root only. Package inspectors is a validator that checks the criteria itself.
//
// Begin with judge.go.
package request
