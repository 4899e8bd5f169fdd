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
// people's labels are compared by the same table. [Ceiling] turns a gate's false
// passes into the share of released texts that are bad. A [Chart] follows a
// gate's verdicts and tells when their rate has left what it was. [Paired]
// compares two ways of doing the same rows.
//
// Distributions are gonum's.
package measure
