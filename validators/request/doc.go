// Package request is the validation request protocol: it judges a validator's
// response against the request that it answers, and dispatches requests to
// validators, by task_id.
//
// A request says what was promised, in criteria, and who validates it; a response
// says of each whether it holds, with evidence. Both come in as JSON, by itself or in
// a model's prose (document.go, parse.go), and are read by the forms of the protocol
// (form.go), which know how models misspell them. [Judge] then computes the verdict
// (judge.go): every criterion once, no PASS without evidence that shows it
// (evidence.go, hollow.go, statuses.go, failures.go, summaries.go, pictures.go), what was required
// held, what was skipped not counted as held. A [Judgement] goes out, with a flag for
// everything that was not as it should be. As gates they are [Validator],
// [JudgeValidator] and [PromiseValidator]; faults.go plants what they have to find.
//
// A response is not trusted: its verdict is computed again from its criteria and its
// evidence, and is never made better, neither than it claims nor than they come to.
// A missing file, a picture of nothing and words that say nothing are no evidence.
//
// A [Dispatcher] makes a fresh [Runner] for each try, asks it once more to mend an
// answer that cannot be read, sends a second one where the first timed out or
// crashed, and keeps the record (dispatcher.go, attempt.go, record.go). It never
// takes a crash for a verdict.
//
// Nothing of a response is run or rendered; files that it names are looked at below
// one root and nowhere else. Package inspectors is a validator that looks for itself.
//
// Begin with judge.go.
package request
