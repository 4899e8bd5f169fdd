// Package orders starts, resumes, answers and cancels runs in this process for a server,
// and maps errors to answers in HTTP.
//
// An [Order] asks for a new run, a [Change] for a run that is made from a stored run. A
// [Pool] accepts both. It returns when the store has stored the run, which then
// continues in the background (pool.go). It forwards the unfinished text of a model while
// there is a reader (drafts.go). A [Service] recognizes repeated requests (service.go).
//
// A [Problem] is the answer to a request that fails. It has a status, a code that stays
// the same, and a text. [ProblemOf] returns the problem of an error. An error of the
// server goes to the log, and the client gets no details.
package orders

// An Order describes a new run.
type Order struct {
	Cascade string         // the name under which the operator offers it
	Input   map[string]any // plain values
	Model   string         // one of the offered models; "" is the default
	RunID   string         // the name of the run; "" makes one
	Watched bool           // a person is about to view the run: its models stream from the first call
}
