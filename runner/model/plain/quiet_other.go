//go:build !unix

package plain

// watches says that no connection can be looked at without reading from it: all
// goes over [http.Transport].
const watches = false

func (c *conn) quiet() bool { return false }
