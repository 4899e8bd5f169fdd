package runner

import (
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/receipts"
)

// verifyReceipt returns the function that verifies receipts for tools, by the
// clock of this machine.
func verifyReceipt(want cascades.Receipt) func(text, sealed string) error {
	return func(text, sealed string) error {
		demand := receipts.Demand{Gates: want.Gates, Cascade: want.Cascade, MaxAge: want.MaxAge, Now: time.Now()}
		r := receipts.Verify(receipts.Bytes([]byte(text)), []byte(sealed), want.Trust, demand)
		if r.Verdict != receipts.Passed {
			return fmt.Errorf("receipt: %s: %s %s", r.Verdict, r.Field, r.Reason)
		}
		return nil
	}
}
