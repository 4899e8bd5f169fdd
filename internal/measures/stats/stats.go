// Package stats computes rates, intervals and drift of verdicts, and reads labels and evidence. It
// is arithmetic with counts: it reads no file and no clock, and calls no model.
//
// A [Rate] is K of N with an exact interval. A rate without trials is unknown and not 0 %. A
// [Confusion] compares verdicts with labels. A [Tally] counts labelled texts by the weights of
// their draws, and returns an [Estimate] with an interval that holds at every look. A [Chart] finds
// a change of a rate. [Paired] compares two batches of the same rows.
//
// A [Label] is one line of JSON, and a [Ledger] combines the labels of several people. [Evidence]
// is the measurement of one gate, with the digest of the gate. A ward with promote_when may reject
// texts only if its evidence allows it:
//
//	f, err := stats.ParseEvidence(text)
//	e, found, stale := f.For(cascade.ID, gate.Digest, gate.Phase, string(gate.Moment))
//	ok, reason := e.Allows(0.95, 0.05, 0.02)
package stats
