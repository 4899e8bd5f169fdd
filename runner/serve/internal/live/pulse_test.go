package live

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestPulse holds that one asks for all, that nobody asks for nobody, and that
// a change is told of once.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, version atomic.Int64
		p := newPulse(func(context.Context) (int64, error) {
			asked.Add(1)
			if v := version.Load(); v >= 0 {
				return v, nil
			}
			return 0, errors.New("broken")
		}, 100*time.Millisecond)
		a, leaveA := p.beats()
		b, leaveB := p.beats()
		time.Sleep(950 * time.Millisecond)
		synctest.Wait()
		if n := asked.Load(); n != 10 {
			t.Errorf("asked %d times", n)
		}
		<-a // told at first
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
		c, leaveC := p.beats()
		synctest.Wait()
		if len(c) != 1 {
			t.Error("it does not beat again")
		}
		leaveC()
	})
}
