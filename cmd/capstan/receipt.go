package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/receipt"
	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// receiptFlags say what a receipt is signed with, and what stands in it.
type receiptFlags struct {
	signer signerFlags
	texts  bool
}

func (f *receiptFlags) add(cmd *cobra.Command) {
	f.signer.add(cmd)
	cmd.Flags().BoolVar(&f.texts, "with-texts", false, "put the text, the inputs and the gates' reasons into the receipt, not their digests alone")
}

func (c *Command) receipt() *cobra.Command {
	var f receiptFlags
	var store storeFlags
	var phase, out string
	cmd := &cobra.Command{
		Use:   "receipt RUN",
		Short: "Sign which gates a released text has passed",
		Long: `Make a receipt of a text that a run has released: a signed statement of the
exact text, the cascade, the gates that judged it with what each of them is, the
inputs and the models. Whoever has the text, the receipt and the public key can
check it with capstan verify, without a network and without this machine.

A receipt does not prove that the text is true, that a model was the one it
calls itself, or that the program that made it was unchanged. RUN may be the
beginning of a run's name, or last; --phase names a phase, or the path of an
item like summaries/item[3].`,
		Example: `  capstan keygen --dir keys
  capstan receipt last --key keys/private.pem > post.receipt.json
  capstan receipt last --phase draft --signer "exec:./kms-sign" --pub keys/public.pem`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			signer, err := f.signer.open(cmd.Context())
			if err != nil {
				return err
			}
			if err := sparing("--out", out, f.signer.key); err != nil {
				return err
			}
			return c.look(store, func(j *journal.Journal) error {
				text, err := c.receiptOf(cmd.Context(), j, args[0], phase, signer, f.texts)
				if err != nil {
					return err
				}
				return c.putReceipt(out, text)
			})
		},
	}
	store.add(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&phase, "phase", "", "the phase whose text it is; by default the last of the run")
	cmd.Flags().StringVarP(&out, "out", "o", "", "the file to write; by default standard output")
	return cmd
}

// putReceipt writes a receipt to a file, "" being standard output.
func (c *Command) putReceipt(file string, text []byte) error {
	if file == "" {
		_, err := c.Stdout.Write(text)
		return err
	}
	return notWritten(os.WriteFile(file, text, 0o644))
}

// receiptOf makes the receipt of a kept run.
func (c *Command) receiptOf(ctx context.Context, j *journal.Journal, id, phase string, signer signatures.Signer, texts bool) ([]byte, error) {
	run, err := j.Run(ctx, id)
	if err != nil {
		return nil, found(err, id)
	}
	cascade, err := c.ran(run)
	if err != nil {
		return nil, err
	}
	gates, err := run.Start.Gates(cascade)
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	told, err := trace.Fold(j.Events(ctx, run.RunID, 0, journal.Whole))
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	claim, err := receipt.Of(receipt.Run{Run: told, Cascade: cascade, Gates: gates, Program: thisProgram(), Texts: texts, Evidence: runner.ReadFile}, phase)
	if err != nil {
		return nil, usage("run %s: %w", run.RunID, err)
	}
	if hidden().MatchString(said(told, claim.Path)) {
		return nil, usage("run %s: a secret stood in the text, and the run was kept without it: capstan run --receipt makes one while the text is there", run.RunID)
	}
	return issued(signer, claim)
}

// hidden finds what stands for a secret in a kept text.
var hidden = patterns.Lazy(`\[redacted [^\[\]"\\]+\]`)

// said is the text of an attempt.
func said(run *trace.Run, path string) string {
	for p := range run.All() {
		for _, a := range p.Texts() {
			if string(a.Path) == path {
				return a.Text
			}
		}
	}
	return ""
}

func issued(signer signatures.Signer, claim receipt.Claim) ([]byte, error) {
	text, err := receipt.Issue(signer, claim, time.Now())
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	return text, nil
}

// thisProgram is what makes receipts here, with the digest of its file, which is
// long and is read once.
var thisProgram = sync.OnceValue(func() receipt.Program {
	p := receipt.Program{Version: versionName()}
	file, err := os.Executable()
	if err != nil {
		return p
	}
	f, err := os.Open(file)
	if err != nil {
		return p
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err == nil {
		p.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	}
	return p
})

// A receiptMaker makes the receipt of the run that it is told of: from what
// happens, not from what is kept, so that it holds the exact text.
type receiptMaker struct {
	c       *Command
	f       receiptFlags
	file    string
	signer  signatures.Signer
	folder  *trace.Folder
	gates   []cascades.Gate
	cascade *cascades.Cascade
}

// receiptMaker is nil where run is to make none.
func (c *Command) receiptMaker(ctx context.Context, file string, f receiptFlags) (*receiptMaker, error) {
	if file == "" {
		if f.signer.any() || f.texts {
			return nil, usage("--key, --signer and --with-texts are for --receipt FILE")
		}
		return nil, nil
	}
	signer, err := f.signer.open(ctx)
	if err != nil {
		return nil, err
	}
	m := &receiptMaker{c: c, f: f, file: file, signer: signer, folder: trace.NewFolder()}
	go thisProgram() // while the model answers
	return m, nil
}

// Emit takes an event in.
func (m *receiptMaker) Emit(e event.Event) { m.folder.Add(e) }

// begin notes what the gates are before the run begins.
func (m *receiptMaker) begin(cascade *cascades.Cascade, chosen string, open cascades.Opener) (err error) {
	m.cascade = cascade
	if m.gates, err = cascade.Gates(cascades.Chosen(chosen), open); err != nil {
		return usage("--receipt: %w", err)
	}
	return nil
}

// finish prints what a run that has succeeded gave, a text byte for byte, so
// that it is what the receipt is of, and writes the receipt.
func (m *receiptMaker) finish(result runner.Result, asJSON bool) error {
	var err error
	if text, ok := result.Output.(string); ok && !asJSON {
		_, err = io.WriteString(m.c.Stdout, text)
	} else if asJSON {
		err = printJSON(m.c.Stdout, result)
	} else {
		err = printJSON(m.c.Stdout, result.Output)
	}
	if err != nil {
		return &exit{exitBroken, err}
	}
	run := receipt.Run{Run: m.folder.Run(), Cascade: m.cascade, Gates: m.gates, Program: thisProgram(), Texts: m.f.texts, Evidence: runner.ReadFile}
	claim, err := receipt.Of(run, "")
	if err != nil {
		return usage("--receipt: %w", err)
	}
	sealed, err := issued(m.signer, claim)
	if err == nil {
		err = m.c.putReceipt(m.file, sealed)
	}
	return err
}
