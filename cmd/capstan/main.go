//go:build !manual

// Capstan runs cascades: phases of language model work whose texts must pass
// wards before a later phase may read them.
// A [Command] has a command line, three streams and an environment, and no
// other input. Results go to standard output and everything else to standard
// error. The exit status classifies the end (command.go). Programs parse the
// output, so its formats are promises that the scripts in testdata test. Output
// that could not be written is a failure too.
// Each verb is a method of Command in the file of its name. The method creates
// the flags and the action. verbs, in command.go, lists the verbs in the order
// of the help. Common parts have their own files: inputs.go reads inputs,
// chosen.go, store.go and kit.go create model, store and runner from the flags,
// names.go resolves names in files, progress.go shows the progress of a run,
// and watch.go watches files.
// A verb decides nothing that a library could. Its results come from packages
// that a Go program can also call. So all verbs are in one package. Secrets of
// the environment are removed from all output in one place (command.go), and
// the process hides its own environment from the programs that it starts
// (conceal_linux.go).
// Begin with command.go, then run.go.
package main

import "os"

func main() {
	conceal()
	collectSeldom(os.Getenv)
	c := &Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Environ: os.Environ(), Restrict: restrict}
	os.Exit(c.Run(untilInterrupted(), os.Args[1:]))
}
