//go:build !unix

package mcpserver

import "io"

// hungUp cannot tell here: it shows at the next message.
func hungUp(io.Writer) bool { return false }
