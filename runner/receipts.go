package runner

import (
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/receipt"
)

// receipts checks the texts of tools that want a receipt, by the clock of this
// machine.
func receipts(want cascades.Receipt) func(text, sealed string) error {
	return func(text, sealed string) error {
		demand := receipt.Demand{Gates: want.Gates, Cascade: want.Cascade, MaxAge: want.MaxAge, Now: time.Now()}
		r := receipt.Verify(receipt.Bytes([]byte(text)), []byte(sealed), want.Trust, demand)
		if r.Verdict != receipt.Passed {
			return fmt.Errorf("receipt: %s: %s %s", r.Verdict, r.Field, r.Reason)
		}
		return nil
	}
}
