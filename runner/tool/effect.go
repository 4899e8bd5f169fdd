package tool

// An Effect is what a tool does to the world outside the run.
type Effect string

// The effects, from the harmless on. A tool that says nothing of its own is
// taken to write.
const (
	None   Effect = "none"   // computes; the same call may be made any number of times
	Reads  Effect = "reads"  // looks at what is outside and changes nothing there
	Writes Effect = "writes" // changes something outside, which may not happen twice by accident
)

// Worse is the worse of two effects, [Writes] where one is not told.
func (e Effect) Worse(other Effect) Effect {
	switch {
	case e == None && other == None:
		return None
	case (e == None || e == Reads) && (other == None || other == Reads):
		return Reads
	}
	return Writes
}
