package reading

import (
	"context"
	"sync"
)

// maxShared is how many bytes of text one attempt shares the documents of.
const maxShared = 8 << 20

type cacheKey struct{}

// A Cache has the documents of the texts of one attempt. The zero value is ready to use.
type Cache struct {
	mu        sync.Mutex
	documents map[string]func() (*Document, error)
	bytes     int
}

// In returns a context in which [Of] reads each text only once. Several contexts may
// share a cache.
func (c *Cache) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, cacheKey{}, c)
}

// Of is [Read] with the cache of the context, if it has one. It is safe for concurrent
// use.
func Of(ctx context.Context, source string) (*Document, error) {
	c, ok := ctx.Value(cacheKey{}).(*Cache)
	if !ok {
		return Read(source)
	}
	return c.read(source)()
}

// Shared returns a function that returns what [Of] returns.
func Shared(ctx context.Context) func(source string) (*Document, error) {
	return func(source string) (*Document, error) { return Of(ctx, source) }
}

func (c *Cache) read(source string) func() (*Document, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if read, ok := c.documents[source]; ok {
		return read
	}
	read := sync.OnceValues(func() (*Document, error) { return Read(source) })
	if c.documents == nil {
		c.documents = map[string]func() (*Document, error){}
	}
	if c.bytes+len(source) <= maxShared {
		c.bytes += len(source)
		c.documents[source] = read
	}
	return read
}
