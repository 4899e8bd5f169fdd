package parallel

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Shuffled returns the list in an order that depends only on the key. The
// position of a candidate therefore does not reveal its try, and a repeated run
// uses the same order.
func Shuffled[T any](list []T, key string) []T {
	h := fnv.New64a()
	h.Write([]byte(key))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	out := slices.Clone(list)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
