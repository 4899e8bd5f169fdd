package main

import (
	"context"
	"errors"
	"time"

	"github.com/seed61713e19/capstan/internal/mcpserver"
	"github.com/seed61713e19/capstan/internal/receipts"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/runner/tool"
)

// mcpReceipts returns the tools receipt and verify, if the operator has set the
// signing key and the trusted keys. A client cannot choose keys.
func (c *Command) mcpReceipts(ctx context.Context, s *kit, f mcpFlags) ([]mcpserver.Tool, error) {
	var list []mcpserver.Tool
	if f.signer.key != "" || f.signer.program != "" {
		signer, err := f.signer.open(ctx)
		if err != nil {
			return nil, err
		}
		if s.journal == nil {
			return nil, usage("receipts are of kept runs, and runs are not kept here")
		}
		type of struct {
			Run   string `json:"run" jsonschema:"the run, or last"`
			Phase string `json:"phase,omitempty" jsonschema:"the phase whose text it is; by default the last of the run"`
		}
		list = append(list, mcpserver.Tool{Tool: tool.New("receipt", "Sign which gates a text that a run has released has passed: the result is the receipt.", func(ctx context.Context, a of) (any, error) {
			text, err := c.receiptOf(ctx, s.journal, a.Run, a.Phase, signer, false)
			return string(text), err
		}).WithEffect(tool.Reads)})
	}
	if f.signer.pub == "" {
		return list, nil
	}
	trust, err := c.publicKeys(f.signer.pub)
	if err != nil {
		return nil, err
	}
	type these struct {
		Text    string   `json:"text" jsonschema:"the text, byte for byte"`
		Receipt string   `json:"receipt" jsonschema:"its receipt, byte for byte, with the line end that it ends with"`
		Require []string `json:"require,omitempty" jsonschema:"gates that must have passed the text: names, or name=sha256:…"`
	}
	return append(list, mcpserver.Tool{Tool: tool.New("verify", "Check that a text is the one that a receipt was made of, and that the receipt is signed by a key that is trusted here: passed, refused or cannot tell, with the field that does not hold.", func(_ context.Context, a these) (any, error) {
		want := receipts.Demand{Now: time.Now()}
		for _, name := range a.Require {
			g, err := signatures.ParseGateDemand(name)
			if err != nil {
				return nil, errors.Join(errors.New("require"), err)
			}
			want.Gates = append(want.Gates, g)
		}
		return receipts.Verify(receipts.Bytes([]byte(a.Text)), []byte(a.Receipt), trust, want), nil
	}).WithEffect(tool.None)}), nil
}
