// Package request implements the validation request protocol. It judges a
// validator's response to a request, and dispatches requests to validators by
// task_id.
//
// A request lists criteria, and a response has a status and evidence for each.
// Both are JSON, as a whole text or in the last fence of a model's prose
// (document.go). They are parsed strictly, by the forms of the protocol
// (parse.go, form.go).
//
// [Judge] computes the verdict from the statuses (judge.go) and from the
// entries of evidence_collected (evidence.go, output.go, pictures.go). Each
// PASS may name its entries (references.go). It interprets no sentences.
// [Validator], [JudgeValidator] and [PromiseValidator] are gates. The tables
// folder has the result lines of tools, the names of other formats, and the
// faults that the gates must find.
//
// The effective verdict is the worse of the claimed and the computed one.
//
// A [Dispatcher] creates a [Runner] for each try and returns an unreadable
// answer once. After a timeout or a crash it starts a second runner. It records
// each try (dispatcher.go, attempt.go, record.go). A crash is not a verdict.
//
// The gates execute and render no part of a response. They only read files
// below one root. Package inspectors is a validator that checks the criteria
// itself.
//
// Begin with judge.go.
package request
