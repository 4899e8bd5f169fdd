package reading

import (
	"context"
	"sync"
)

// maxShared is how many bytes of text one attempt shares the documents of.
const maxShared = 8 << 20

type cacheKey struct{}

// A cache has the documents of the texts of one attempt.
type cache struct {
	sync.Mutex
	documents map[string]func() (*Document, error)
	bytes     int
}

// Shared returns a context in which [Of] reads each text once. The runner calls it once
// for each attempt.
func Shared(ctx context.Context) context.Context {
	return context.WithValue(ctx, cacheKey{}, &cache{documents: map[string]func() (*Document, error){}})
}

// Of returns what [Read] returns, from the cache of the context if it has one. It is safe
// for concurrent use.
func Of(ctx context.Context, source string) (*Document, error) {
	c, ok := ctx.Value(cacheKey{}).(*cache)
	if !ok {
		return Read(source)
	}
	return c.read(source)()
}

func (c *cache) read(source string) func() (*Document, error) {
	c.Lock()
	defer c.Unlock()
	if read, ok := c.documents[source]; ok {
		return read
	}
	read := sync.OnceValues(func() (*Document, error) { return Read(source) })
	if c.bytes+len(source) <= maxShared {
		c.bytes += len(source)
		c.documents[source] = read
	}
	return read
}
