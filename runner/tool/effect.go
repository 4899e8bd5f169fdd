package tool

// An Effect is the effect of a tool outside the run.
type Effect string

// The effects, in the order of their risk. The default is Writes.
const (
	None   Effect = "none"   // the tool only computes; a call can be repeated
	Reads  Effect = "reads"  // the tool reads data and changes nothing
	Writes Effect = "writes" // the tool changes data; a call must not be repeated without a decision
)

// Worse returns the effect with the higher risk. An unknown effect counts as
// [Writes].
func (e Effect) Worse(other Effect) Effect {
	switch {
	case e == None && other == None:
		return None
	case (e == None || e == Reads) && (other == None || other == Reads):
		return Reads
	}
	return Writes
}
