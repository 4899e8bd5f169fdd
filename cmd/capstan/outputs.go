package main

import (
	"os"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
)

// sparing refuses to write a file anew that the command reads or keeps: the names
// are of these, "" for none. What is no regular file is spared by nobody.
func sparing(flag, out string, names ...string) error {
	at, err := os.Stat(out)
	if out == "" || err != nil || !at.Mode().IsRegular() {
		return nil
	}
	for _, name := range names {
		if other, err := os.Stat(name); err == nil && os.SameFile(at, other) {
			return usage("%s %s is a file that this command needs as it is: %s", flag, out, name)
		}
	}
	return nil
}

// spares holds what the flags say is written against the cascade's files, what the
// flags say is read, and more names.
func (c *Command) spares(f runFlags, chosen string, files []cascades.File, more ...string) error {
	names := append(more, f.inputFile, f.proof.signer.key)
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
	if err := sparing("--events", f.events, append(names, f.receipt)...); err != nil {
		return err
	}
	return sparing("--receipt", f.receipt, names...)
}
