package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/internal/signatures"
)

// signerFlags select the signer: a key in a file, or a program.
type signerFlags struct{ key, program, pub string }

func (f *signerFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.key, "signing-key", "", "file of the private key, with mode 0600")
	flags.StringVar(&f.program, "signer", "", "program that signs bytes from standard input and prints base64: exec:PROGRAM ARGS")
	flags.StringVar(&f.pub, "pub", "", flagTexts["pub"])
}

func (f *signerFlags) any() bool { return f.key != "" || f.program != "" || f.pub != "" }

func (f *signerFlags) open(ctx context.Context) (signatures.Signer, error) {
	switch {
	case f.key != "" && f.program != "":
		return nil, usage("--signing-key and --signer: want one of them")
	case f.key != "":
		return privateKey(f.key)
	case f.program != "":
		return f.outside(ctx)
	}
	return nil, usage("a receipt is signed: --signing-key names the private.pem of capstan receipt keygen, or --signer a program")
}

// privateKey reads a private key. Only its owner may have access to the file.
func privateKey(file string) (signatures.Signer, error) {
	text, err := readSecretFile("--signing-key", file)
	if err != nil {
		return nil, err
	}
	key, err := signatures.ParseKey(text)
	if err != nil {
		return nil, usage("--signing-key: %s: %w", file, err)
	}
	return key, nil
}

// outside returns the signer for a program.
func (f *signerFlags) outside(ctx context.Context) (signatures.Signer, error) {
	line, ok := strings.CutPrefix(f.program, "exec:")
	argv := strings.Fields(line)
	if !ok || len(argv) == 0 {
		return nil, usage("--signer must be exec:PROGRAM and its arguments, not %q", f.program)
	}
	if f.pub == "" {
		return nil, usage("--signer needs --pub, the public key of what it signs with")
	}
	text, err := os.ReadFile(f.pub)
	if err != nil {
		return nil, usage("--pub: %w", err)
	}
	keys, err := signatures.ParseKeys(text)
	if err == nil && len(keys) != 1 {
		err = fmt.Errorf("there are %d public keys, and --signer has one", len(keys))
	}
	if err != nil {
		return nil, usage("--pub: %s: %w", f.pub, err)
	}
	s := &outsideSigner{ctx: ctx, argv: argv, keys: keys}
	for id := range keys {
		s.id = id
	}
	return s, nil
}

// An outsideSigner signs with a program.
type outsideSigner struct {
	ctx  context.Context // of the command
	argv []string
	keys signatures.Keys
	id   string
}

// ID returns the id of the public key.
func (s *outsideSigner) ID() string { return s.id }

// SignBytes returns the program's signature, which must be valid for the key.
func (s *outsideSigner) SignBytes(data []byte) ([]byte, error) {
	out, err := process.Run(s.ctx, process.Command{Argv: s.argv, Stdin: data})
	if err != nil {
		return nil, fmt.Errorf("signer %s: %w", s.argv[0], err)
	}
	if out.ExitCode != 0 {
		return nil, fmt.Errorf("signer %s: it ended with status %d: %s", s.argv[0], out.ExitCode, oneLine(string(out.Stderr)))
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(out.Stdout)))
	if err != nil {
		return nil, fmt.Errorf("signer %s: its output is not base64", s.argv[0])
	}
	if !s.keys.SignedBytes(s.id, data, raw) {
		return nil, fmt.Errorf("signer %s: its output is not a signature of the key %s", s.argv[0], s.id)
	}
	return raw, nil
}

// publicKeys reads the keys that a verifier trusts.
func (c *Command) publicKeys(file string) (signatures.Trust, error) {
	if file == "" {
		return signatures.Trust{}, usage("--pub names the public key of who made the receipt: it cannot come from the receipt")
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(file, "-----BEGIN") {
		return signatures.Trust{}, usage("--pub names a file")
	}
	if err != nil {
		return signatures.Trust{}, usage("--pub: %w", err)
	}
	if bytes.Contains(text, []byte("PRIVATE KEY")) {
		return signatures.Trust{}, usage("--pub: %s holds a private key: whoever checks a receipt needs the public one alone", file)
	}
	trust, err := signatures.ParseTrust(text)
	if err != nil {
		return trust, usage("--pub: %s: %w", file, err)
	}
	return trust, nil
}
