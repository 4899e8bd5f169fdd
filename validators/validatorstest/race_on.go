//go:build race

package validatorstest

// slowdown is the factor by which the race detector slows a check.
const slowdown = 8
