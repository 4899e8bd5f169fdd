package expressions

import (
	"errors"
	"testing"
)

// TestAsksNowAndThen checks that the stop function ends an expression. For all operations, the
// meter calls it every askEvery units until the last unit.
func TestAsksNowAndThen(t *testing.T) {
	errStopped := errors.New("stopped")
	for _, units := range []int{1, 7, askEvery - 1, askEvery, 3 * askEvery} {
		asked, since, most := 0, 0, 0
		m := newMeter(func() error { asked, most, since = asked+1, max(most, since), 0; return nil })
		spent := 0
		for ; m.left >= units; spent += units {
			since += units
			if err := m.spend(units); err != nil {
				t.Fatal(err)
			}
		}
		if most = max(most, since); most >= askEvery+units || asked < budget/(askEvery+units)-1 {
			t.Errorf("%d units at a time: asked %d times, at most %d units apart", units, asked, most)
		}
		if m.left != budget-spent {
			t.Errorf("%d units at a time: %d left of %d after %d", units, m.left, budget, spent)
		}
		if err := m.spend(budget - spent + 1); err != errBudget || m.left != 0 {
			t.Errorf("%d units at a time: more than there is gave %v, %d left", units, err, m.left)
		}
	}
	m := newMeter(func() error { return errStopped })
	if err := m.spend(askEvery); err != errStopped {
		t.Errorf("got %v", err)
	}
	if err := newMeter(nil).spend(-1); err != errBudget {
		t.Errorf("what is less than nothing: got %v", err)
	}
}
