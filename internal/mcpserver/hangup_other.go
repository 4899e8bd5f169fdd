//go:build !unix

package mcpserver

import "io"

// hungUp returns false on this system: the next write fails instead.
func hungUp(io.Writer) bool { return false }
