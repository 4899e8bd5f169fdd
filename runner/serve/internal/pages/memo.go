package pages

import (
	"context"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/serve/internal/live"
)

// A memo stores the last result that a page computed from the whole store.
type memo[V any] struct {
	mu      sync.Mutex
	key     string
	version int64
	at      time.Time
	value   V
}

// get returns the result for a key. It computes the result again if the store has changed
// and the stored result is older than maxAge. Nobody may change a result.
func (m *memo[V]) get(ctx context.Context, store live.Store, key string, maxAge time.Duration, compute func() (V, error)) (V, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := time.Now()
	version, err := store.Version(ctx)
	if err != nil || m.key == key && !m.at.IsZero() && (m.version == version || at.Sub(m.at) < maxAge) {
		return m.value, err
	}
	value, err := compute()
	if err == nil {
		m.key, m.version, m.at, m.value = key, version, at, value
	}
	return value, err
}
