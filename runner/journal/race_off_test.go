//go:build !race

package journal

// racing tells that races are looked for.
const racing = false
