package shared

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Shuffled is a list in an order that hangs on the key alone: so that the place of
// a candidate says nothing of which try it comes from, and is the same whenever the
// run is done again.
func Shuffled[T any](list []T, key string) []T {
	h := fnv.New64a()
	h.Write([]byte(key))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	out := slices.Clone(list)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
