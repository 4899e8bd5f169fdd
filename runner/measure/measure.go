// Package measure makes numbers of verdicts: how often a gate lets a bad text by
// and refuses a good one, how sure that is, what of it reaches whoever reads the
// released texts, and when a gate has become another.
//
// It is arithmetic over counts. It reads no file, asks no model, knows no clock
// and nothing of cascades: whoever has verdicts and labels counts them here.
//
// A [Rate] is a count of so many of so many, never a bare quotient, and comes
// with an exact interval; of nothing it is unknown, which is not 0 %. A
// [Confusion] holds a gate's verdicts against what is true of the texts; two
// people's labels are compared by the same table. A [Tally] counts labelled texts by
// how they were drawn, and its [Estimate]s have intervals that hold at every look. A [Chart] follows a
// gate's verdicts and tells when their rate has left what it was. [Paired]
// compares two ways of doing the same rows.
//
// A [Label] is a person's word on a text, one line of JSON, and a [Ledger] what
// people's labels come to. [Evidence] is what was measured of one gate as it is,
// bound to its digest (cascades.Gate has it). Who lets a gate block only while
// that is earned reads the file that [EvidenceName] names with [ParseEvidence],
// asks it [EvidenceFile.For] the gate's digest, phase and moment, and that
// [Evidence.Allows] the rates that are wanted:
//
//	f, err := measure.ParseEvidence(text)
//	e, found, stale := f.For(cascade.ID, gate.Digest, gate.Phase, string(gate.Moment))
//	ok, why := e.Allows(0.95, 0.05, 0.02)
//
// Distributions are gonum's.
package measure
