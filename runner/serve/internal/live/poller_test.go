package live

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestPoller checks that one goroutine polls for all subscribers, that it ends with the last,
// and that each change is reported once.
func TestPoller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, version atomic.Int64
		p := newPoller(func(context.Context) (int64, error) {
			asked.Add(1)
			if v := version.Load(); v >= 0 {
				return v, nil
			}
			return 0, errors.New("broken")
		}, 100*time.Millisecond)
		a, leaveA := p.subscribe()
		b, leaveB := p.subscribe()
		time.Sleep(950 * time.Millisecond)
		synctest.Wait()
		if n := asked.Load(); n != 10 {
			t.Errorf("asked %d times", n)
		}
		<-a // the first version
		<-b
		version.Store(7)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if len(a) != 1 || len(b) != 1 {
			t.Errorf("%d and %d beats", len(a), len(b))
		}
		<-a
		version.Store(-1)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(a) != 0 {
			t.Error("a store that cannot tell has told")
		}
		leaveA()
		leaveA()
		version.Store(8)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(a) != 0 || len(b) != 1 {
			t.Errorf("%d and %d beats", len(a), len(b))
		}
		leaveB()
		synctest.Wait()
		n := asked.Load()
		time.Sleep(time.Minute)
		if asked.Load() != n {
			t.Error("somebody asks for nobody")
		}
		c, leaveC := p.subscribe()
		synctest.Wait()
		if len(c) != 1 {
			t.Error("it does not beat again")
		}
		leaveC()
	})
}
