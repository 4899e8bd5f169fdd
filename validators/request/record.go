package request

import (
	"strings"
	"time"
)

// A Record is what happened to a task, in order, over all of its attempts.
type Record struct {
	TaskID  string  `json:"task_id"`
	Entries []Entry `json:"entries"`
	Dropped int     `json:"dropped,omitempty"` // entries that there was no room for: the oldest but the first
}

// An Entry of a record says who did what, when, with which evidence.
type Entry struct {
	Time      time.Time  `json:"time"`
	Attempt   int        `json:"attempt"`
	Event     Event      `json:"event"`
	By        string     `json:"by,omitempty"` // the validator_id of a response
	Note      string     `json:"note,omitempty"`
	Judgement *Judgement `json:"judgement,omitempty"`
	Response  *Response  `json:"response,omitempty"` // the one that was accepted
	Text      string     `json:"text,omitempty"`     // the first 4 KiB of a response that was not
}

// An Event is what an entry is about.
type Event string

// The events.
const (
	Opened    Event = "opened"    // a request opened an attempt
	Asked     Event = "asked"     // a fresh validator was asked
	Repair    Event = "repair"    // it was asked to mend its answer
	TimedOut  Event = "timed_out" // it did not answer in time
	Crashed   Event = "crashed"   // it broke
	Refused   Event = "refused"   // its answer was no response to the request
	Accepted  Event = "accepted"  // a response settled the attempt
	GivenUp   Event = "given_up"  // no validator is left to ask: a synthetic response settled the attempt
	Cancelled Event = "cancelled" // so did one because nobody waits any longer
	Duplicate Event = "duplicate" // a response came after another had settled the attempt
	TooLate   Event = "late"      // a response came after its validator's time
)

// maxEntries and maxKept bound a record.
const (
	maxEntries = 100
	maxKept    = 4 << 10
)

func (r *Record) add(e Entry) {
	if len(r.Entries) == maxEntries {
		copy(r.Entries[1:], r.Entries[2:])
		r.Entries = r.Entries[:maxEntries-1]
		r.Dropped++
	}
	e.Time = time.Now().UTC()
	e.By, e.Note = brief(e.By), clean(e.Note, maxText)
	r.Entries = append(r.Entries, e)
}

// kept is as much of a text as a record keeps.
func kept(text []byte) string {
	return strings.ToValidUTF8(string(text[:min(len(text), maxKept)]), "\ufffd")
}
