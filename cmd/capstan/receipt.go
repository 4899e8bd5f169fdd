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
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/receipt"
	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/runner/trace"
)

// receiptFlags say what a receipt is signed with, and what stands in it.
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
				out = "" // as other tools name standard output
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
	told, err := trace.Fold(j.Events(ctx, run.RunID, 0, journal.Marked))
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	claim, err := receipt.Of(receipt.Run{Run: told, Cascade: cascade, Gates: gates, Program: thisProgram(), Texts: true, Evidence: runner.ReadFile}, phase)
	if err != nil {
		return nil, usage("run %s: %w", run.RunID, err)
	}
	switch place := secretIn(claim.Texts, journal.Redacted); place {
	case "":
	case theText:
		return nil, usage("run %s: %w", run.RunID, errSecretText)
	default:
		return nil, usage("run %s: a secret stood in %s, and the run was kept without it: capstan run --receipt makes one while it is there", run.RunID, place)
	}
	return c.issued(signer, claim, texts)
}

// errSecretText says why a text with a secret in it has no receipt: nobody has it.
var errSecretText = errors.New("a secret stood in the text, which is printed and kept without it: there is nothing that a receipt could be of")

const theText = "the text"

// secretIn names the first of the texts of a receipt that has a secret in it, "" for
// none.
func secretIn(t *receipt.Texts, has func(string) bool) string {
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

// issued signs a claim, with the texts where these are wanted and no secret of the
// environment is among them: a receipt goes anywhere.
func (c *Command) issued(signer signatures.Signer, claim receipt.Claim, texts bool) ([]byte, error) {
	if !texts {
		claim.Texts = nil
	} else if place := secretIn(claim.Texts, c.secret); place != "" {
		return nil, usage("--with-texts: a secret stands in %s: a receipt without the texts has its digest alone", place)
	}
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
	go thisProgram() // while the model answers
	return m, nil
}

// Emit takes an event in.
func (m *receiptMaker) Emit(e event.Event) { m.folder.Add(e) }

// finish prints what a run that has succeeded gave, so that it is what the receipt is
// of, and writes the receipt.
func (m *receiptMaker) finish(result runner.Result, asJSON bool) error {
	run := receipt.Run{Run: m.folder.Run(), Cascade: m.cascade, Gates: m.gates, Program: thisProgram(), Texts: true, Evidence: runner.ReadFile}
	claim, wrong := receipt.Of(run, "")
	said, err := released(result.Output, claim.Output != "")
	if err == nil && asJSON {
		err = printJSON(m.c.Stdout, result)
	} else if err == nil {
		_, err = m.c.Stdout.Write(said)
	}
	switch {
	case err != nil:
		return &exit{exitBroken, err}
	case wrong != nil:
		return usage("--receipt: %w", wrong)
	case m.c.secret(string(said)):
		return usage("--receipt: %w", errSecretText)
	}
	sealed, err := m.c.issued(m.signer, claim, m.f.texts)
	if err == nil {
		err = m.c.putReceipt(m.file, sealed, m.f.texts)
	}
	return err
}

// released is an output as run --receipt prints it: a text byte for byte, and a value
// of JSON, which may be a text too, as JSON.
func released(output any, isJSON bool) ([]byte, error) {
	if text, ok := output.(string); ok && !isJSON {
		return []byte(text), nil
	}
	var b bytes.Buffer
	err := printJSON(&b, output)
	return b.Bytes(), err
}
