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

// effects lists them in order.
func effects() []Effect { return []Effect{None, Reads, Writes} }

// Worse is the worse of two effects.
func (e Effect) Worse(other Effect) Effect {
	if e.rank() >= other.rank() {
		return e.known()
	}
	return other.known()
}

// known is the effect, [Writes] where none is told.
func (e Effect) known() Effect { return effects()[e.rank()] }

func (e Effect) rank() int {
	switch e {
	case None:
		return 0
	case Reads:
		return 1
	default:
		return 2
	}
}
