//go:build race

package validatorstest

// slowdown is what the race detector costs.
const slowdown = 8
