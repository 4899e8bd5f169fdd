package live

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// quiet is a store that never changes.
type quiet struct{ Store }

func (quiet) Version(context.Context) (int64, error) { return 1, nil }

// TestFollow checks that a stream without changes sends signs of life, and that it ends
// with its reader and with the server.
func TestFollow(t *testing.T) {
	for _, by := range []string{"reader", "server"} {
		synctest.Test(t, func(t *testing.T) {
			closing := make(chan struct{})
			s := New(quiet{}, time.Second, closing)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			sent, idle := 0, 0
			done := make(chan error, 1)
			go func() {
				r := httptest.NewRequest("GET", "/", nil).WithContext(ctx)
				done <- s.Follow(r, "", nil, func() error { sent++; return nil }, func() error { idle++; return nil })
			}()
			time.Sleep(3*heartbeat + time.Second)
			synctest.Wait()
			if sent != 2 || idle != 3 {
				t.Errorf("sent %d times, idle %d times", sent, idle)
			}
			want := context.Canceled
			if by == "server" {
				want = ErrEnd
				close(closing)
			} else {
				cancel()
			}
			if err := <-done; !errors.Is(err, want) {
				t.Errorf("%s: %v", by, err)
			}
			synctest.Wait()
		})
	}
}
