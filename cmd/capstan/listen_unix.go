//go:build unix

package main

import (
	"net"
	"syscall"
)

// listenPrivately opens a Unix socket with mode 0600. The umask applies from the
// moment the file exists, where a later chmod would leave a gap.
func listenPrivately(path string) (net.Listener, error) {
	defer syscall.Umask(syscall.Umask(0o177))
	return net.Listen("unix", path)
}
