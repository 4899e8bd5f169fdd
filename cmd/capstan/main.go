//go:build !manual

// Capstan runs cascades: phases of language model work whose texts must pass
// wards before anything downstream may see them.
//
// A command line comes in, with three streams and an environment, which are all
// that a [Command] has of the world; out go results on standard output, everything
// else on standard error, and an exit status that says what kind of end it was
// (command.go). Programs read what is written here: its shapes are promises, held by
// the scripts in testdata, and what could not be written is a failure too.
//
// A verb is a method of Command in the file of its name, which makes its flags and
// what it does with them; verbs, in command.go, lists them in the order of the
// help. What several say alike stands by itself: how inputs are read (inputs.go),
// how model, store and runner are made of the flags (chosen.go, store.go, kit.go),
// what names in a file may mean (names.go), how a run's progress is shown
// (progress.go), how files are looked at again as they change (watch.go).
//
// A verb decides nothing that a library could: what it tells was computed by a
// package that a Go program can call as well. So there is one package of verbs and
// not one for each, which would only have these common parts to share. Secrets of
// the environment are taken out of all that is shown, before a verb can forget it
// (command.go), and the process hides its own from the programs that it starts
// (conceal_linux.go).
//
// Begin with command.go, then run.go.
package main

import "os"

func main() {
	conceal()
	collectSeldom(os.Getenv)
	c := &Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Environ: os.Environ(), Restrict: restrict}
	os.Exit(c.Run(untilInterrupted(), os.Args[1:]))
}
