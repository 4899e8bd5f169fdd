//go:build !race

package validatorstest

const slowdown = 1
