package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/receipts"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// receiptFlags are the flags for the signature and the contents of a receipt.
type receiptFlags struct {
	signer signerFlags
	texts  bool
}

func (f *receiptFlags) add(cmd *cobra.Command) {
	f.signer.add(cmd)
	cmd.Flags().BoolVar(&f.texts, "with-texts", false, "text, inputs and reasons in the receipt, in addition to the digests")
}

func (c *Command) sign() *cobra.Command {
	var f receiptFlags
	var store storeFlags
	var phase, out string
	cmd := &cobra.Command{
		Use:   "sign RUN",
		Short: "Sign a receipt for a released text of a run",
		Long: `Sign which text a run released, which gates passed it, and its cascade, inputs and
models. Anybody with the text, the receipt and the public key can check it with capstan
receipt verify. A receipt does not prove that the text is true or that this machine is
honest. RUN is the name of a run, the beginning of a name, or last.`,
		Example: `  capstan receipt keygen --dir keys
  capstan receipt sign last --signing-key keys/private.pem > post.receipt.json
  capstan receipt sign last --phase draft --signer "exec:./kms-sign" --pub keys/public.pem`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			signer, err := f.signer.open(cmd.Context())
			if err != nil {
				return err
			}
			if out == "-" {
				out = "" // - is a common name for standard output
			}
			if err := sparing("--out", out, f.signer.key); err != nil {
				return err
			}
			return c.look(store, func(j *journal.Journal) error {
				text, err := c.receiptOf(cmd.Context(), j, args[0], phase, signer, f.texts)
				if err != nil {
					return err
				}
				return c.putReceipt(out, text, f.texts)
			})
		},
	}
	store.add(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&phase, "phase", "", flagTexts["phase"])
	cmd.Flags().StringVarP(&out, "out", "o", "", flagTexts["out"])
	return cmd
}

// putReceipt writes a receipt to a file, or to standard output if file is "". A new
// file has [privateMode] if the receipt contains texts. An existing file keeps its mode.
func (c *Command) putReceipt(file string, receipt []byte, texts bool) error {
	if file == "" {
		_, err := c.Stdout.Write(receipt)
		return err
	}
	mode := fs.FileMode(0o666)
	if texts {
		mode = privateMode
	}
	return notWritten(os.WriteFile(file, receipt, mode))
}

// receiptOf makes the receipt of a stored run.
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
	folded, err := trace.Fold(j.Events(ctx, run.RunID, 0, journal.Marked))
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	claim, err := receipts.ClaimOf(receipts.Run{Run: folded, Cascade: cascade, Gates: gates, Program: thisProgram(),
		Texts: true, Evidence: runner.ReadFile}, phase)
	if err != nil {
		return nil, usage("run %s: %w", run.RunID, err)
	}
	switch place := secretIn(claim.Texts, journal.Redacted); place {
	case "":
	case theText:
		return nil, usage("run %s: %w", run.RunID, errSecretText)
	default:
		return nil, usage("run %s: a secret was removed from %s before it was stored: use capstan run --receipt instead", run.RunID, place)
	}
	return c.issued(signer, claim, texts)
}

// errSecretText is the error for a receipt of a text with a secret. The stored
// text differs from the released one.
var errSecretText = errors.New("the text contained a secret, which was removed before the text was stored: there is no receipt for such a text")

const theText = "the text"

// secretIn returns the name of the first text of a receipt that contains a
// secret, or "".
func secretIn(t *receipts.Texts, has func(string) bool) string {
	if has(t.Text) {
		return theText
	}
	for _, kind := range []struct {
		is   string
		list map[string]string
	}{{"the input", t.Inputs}, {"the reason of", t.Reasons}} {
		for _, name := range slices.Sorted(maps.Keys(kind.list)) {
			if has(kind.list[name]) {
				return kind.is + " " + name
			}
		}
	}
	return ""
}

// issued signs a claim. It includes the texts on request. Receipts may be
// public, so a text with a secret of the environment is an error.
func (c *Command) issued(signer signatures.Signer, claim receipts.Claim, texts bool) ([]byte, error) {
	if !texts {
		claim.Texts = nil
	} else if place := secretIn(claim.Texts, c.secret); place != "" {
		return nil, usage("--with-texts: a secret stands in %s: a receipt without the texts has its digest alone", place)
	}
	text, err := receipts.Issue(signer, claim, time.Now())
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	return text, nil
}

// thisProgram returns the version and the digest of the running program. The
// file is large, so it is read once.
var thisProgram = sync.OnceValue(func() receipts.Program {
	p := receipts.Program{Version: versionName()}
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

// A receiptMaker makes the receipt of a run from its events. Unlike the stored
// run, the events have the exact text.
type receiptMaker struct {
	c       *Command
	f       receiptFlags
	file    string
	signer  signatures.Signer
	folder  *trace.Folder
	gates   []cascades.Gate
	cascade *cascades.Cascade
}

// receiptMaker returns nil if run writes no receipt.
func (c *Command) receiptMaker(ctx context.Context, file string, f receiptFlags) (*receiptMaker, error) {
	if file == "" {
		if f.signer.any() || f.texts {
			return nil, usage("--signing-key, --signer, --pub and --with-texts are for --receipt FILE")
		}
		return nil, nil
	}
	if err := canBe(file); err != nil {
		return nil, usage("--receipt: %w", err)
	}
	signer, err := f.signer.open(ctx)
	if err != nil {
		return nil, err
	}
	m := &receiptMaker{c: c, f: f, file: file, signer: signer, folder: trace.NewFolder()}
	go thisProgram() // concurrently with the model
	return m, nil
}

// Emit adds an event.
func (m *receiptMaker) Emit(e event.Event) { m.folder.Add(e) }

// finish prints the output of a successful run, which the receipt is about, and
// writes the receipt.
func (m *receiptMaker) finish(result engine.Result, asJSON bool) error {
	run := receipts.Run{Run: m.folder.Run(), Cascade: m.cascade, Gates: m.gates, Program: thisProgram(), Texts: true, Evidence: runner.ReadFile}
	claim, wrong := receipts.ClaimOf(run, "")
	text, err := released(result.Output, claim.Output != "")
	if err == nil && asJSON {
		err = printJSON(m.c.Stdout, result)
	} else if err == nil {
		_, err = m.c.Stdout.Write(text)
	}
	switch {
	case err != nil:
		return &exit{exitBroken, err}
	case wrong != nil:
		return usage("--receipt: %w", wrong)
	case m.c.secret(string(text)):
		return usage("--receipt: %w", errSecretText)
	}
	sealed, err := m.c.issued(m.signer, claim, m.f.texts)
	if err == nil {
		err = m.c.putReceipt(m.file, sealed, m.f.texts)
	}
	return err
}

// released returns an output in the form that run --receipt prints: a text byte
// for byte, or any other value as JSON.
func released(output any, isJSON bool) ([]byte, error) {
	if text, ok := output.(string); ok && !isJSON {
		return []byte(text), nil
	}
	var b bytes.Buffer
	err := printJSON(&b, output)
	return b.Bytes(), err
}
