//go:build !race

package journal

// racing is true under the race detector.
const racing = false
