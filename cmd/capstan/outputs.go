package main

import (
	"os"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
)

// sparing returns an error if an output file is one of the files that the
// command reads or stores. Empty names are ignored. Only regular files are
// protected.
func sparing(flag, out string, names ...string) error {
	if out == "-" {
		return usage("%s - names no file; ./- does", flag)
	}
	for _, name := range names {
		if areOne(out, name) {
			return usage("%s %s is a file that this command needs as it is: %s", flag, out, name)
		}
	}
	return nil
}

// areOne reports whether two names refer to the same regular file.
func areOne(name, other string) bool {
	a, err := os.Stat(name)
	b, wrong := os.Stat(other)
	return err == nil && wrong == nil && a.Mode().IsRegular() && os.SameFile(a, b)
}

// spares returns an error if the output files of the flags, or out of --out,
// are files of the cascade or inputs of the flags.
func (c *Command) spares(f runFlags, out, chosen string, files []cascades.File) error {
	names := []string{f.inputFile, f.proof.signer.key}
	for _, file := range files {
		names = append(names, file.Name)
	}
	for line := range strings.SplitSeq(chosen, "\n") {
		if _, file, ok := strings.Cut(line, "scripted:"); ok {
			names = append(names, file)
		}
	}
	for _, one := range f.inputs {
		if _, file, ok := strings.Cut(one, "=@"); ok {
			names = append(names, file)
		}
	}
	if store, _, err := c.storeFile(f.store); err == nil {
		names = append(names, store)
	}
	if err := sparing("--out", out, names...); err != nil {
		return err
	}
	if err := sparing("--receipt", f.receipt, names...); err != nil {
		return err
	}
	return sparing("--events", f.events, append(names, f.receipt, out)...)
}
