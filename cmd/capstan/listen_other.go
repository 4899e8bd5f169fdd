//go:build !unix

package main

import "net"

// listenPrivately refuses: the file of a socket has no mode here.
func listenPrivately(string) (net.Listener, error) {
	return nil, usage("--addr unix:PATH needs Unix; use --token-file FILE")
}
