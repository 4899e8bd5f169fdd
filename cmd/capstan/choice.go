package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// A choice is a flag that accepts one of several words. Its help lists them, a
// shell completes them, and any other word is an error.
type choice struct {
	value *string
	words []string
}

// choose adds a choice to a command, with the current value as the default. Its help is
// the text with the words.
func choose(cmd *cobra.Command, value *string, name, text string, words ...string) {
	f := choice{value, words}
	cmd.Flags().Var(f, name, text+": "+f.list())
}

// list returns the words as a list, such as "text, json or junit".
func (f choice) list() string {
	last := len(f.words) - 1
	return strings.Join(f.words[:last], ", ") + " or " + f.words[last]
}

// String returns the word.
func (f choice) String() string {
	if f.value == nil { // the zero value of pflag
		return ""
	}
	return *f.value
}

// Type returns the type that help shows.
func (f choice) Type() string { return "string" }

// Set accepts a word of the list.
func (f choice) Set(word string) error {
	if !slices.Contains(f.words, word) {
		return fmt.Errorf("must be %s, not %q", f.list(), word)
	}
	*f.value = word
	return nil
}

// A count is a flag that counts from 0.
type count int

// countedFrom0 adds a count to a command, with the current value as the
// default.
func countedFrom0(cmd *cobra.Command, value *int, name, usage string) {
	cmd.Flags().Var((*count)(value), name, usage)
}

// String returns the number.
func (n *count) String() string { return strconv.Itoa(int(*n)) }

// Type returns the type that help shows.
func (n *count) Type() string { return "int" }

// Set accepts a number from 0.
func (n *count) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil || v < 0 {
		return errors.New("want a whole number, from 0")
	}
	*n = count(v)
	return nil
}
