package pages

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner/serve/internal/live"
)

// quiet is a store in which nothing happens.
type quiet struct{ live.Store }

func (quiet) Version(context.Context) (int64, error) { return 1, nil }

// TestHeartbeat holds that a stream shows that it is there, and ends with its
// reader.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Site{o: Options{Feeds: live.New(quiet{}, time.Second), Closing: make(chan struct{})}}
		ctx, cancel := context.WithCancel(t.Context())
		news, idle := 0, 0
		done := make(chan error, 1)
		go func() {
			done <- s.follow(httptest.NewRequest("GET", "/", nil).WithContext(ctx), "", nil, func() error { news++; return nil }, func() error { idle++; return nil })
		}()
		time.Sleep(3*live.Heartbeat + time.Second)
		synctest.Wait()
		if news != 2 || idle != 3 {
			t.Errorf("news %d times, idle %d times", news, idle)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		synctest.Wait()
	})
}
