//go:build race

package journal

const racing = true
