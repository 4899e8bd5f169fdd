package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"github.com/seed61713e19/capstan/runner"
)

// An opinion is the answer of a person: y, n, s or q, and the reason.
type opinion struct{ word, reason string }

// opinions are the possible answers.
const opinions = "ynsq"

// opinion asks for one: on a terminal by a single key, and for the reason of a no
// by a line; elsewhere by lines, "n no greeting". Who ends the input ends with q.
func (c *Command) opinion(ctx context.Context, in *bufio.Reader, about string) (o opinion, err error) {
	living := c.terminal(c.Stdin)
	for !strings.Contains(opinions, o.word) || o.word == "" {
		if living {
			o, err = c.byKey(ctx, in, about)
		} else {
			o, err = c.inLine(ctx, in, about)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, runner.ErrNobody) {
			return opinion{word: "q"}, nil
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

func (c *Command) inLine(ctx context.Context, in *bufio.Reader, about string) (opinion, error) {
	fmt.Fprintf(c.Stdout, "%s? [y, n REASON, s skip, q quit] ", about)
	line, err := readLine(ctx, in)
	word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	return opinion{strings.ToLower(word), strings.TrimSpace(reason)}, err
}

func (c *Command) byKey(ctx context.Context, in *bufio.Reader, about string) (o opinion, err error) {
	fmt.Fprintf(c.Stdout, "%s? [y, n, s skip, q quit] ", about)
	key, err := c.key(ctx, in)
	if err != nil {
		fmt.Fprintln(c.Stdout)
		return o, err
	}
	o.word = strings.ToLower(string(key))
	if o.word != "n" {
		fmt.Fprintln(c.visible(), o.word)
		return o, nil
	}
	fmt.Fprint(c.Stdout, "n, why? ")
	line, err := readLine(ctx, in)
	o.reason = strings.TrimSpace(line)
	return o, err
}

// What a terminal gives for the keys that end things, while it does not heed them.
const (
	interrupted = 0x03
	inputEnds   = 0x04
)

// key reads one key of the terminal. The read itself cannot be interrupted; the
// terminal is as it was whatever comes.
func (c *Command) key(ctx context.Context, in *bufio.Reader) (key rune, err error) {
	f, _ := file(c.Stdin)
	was, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, term.Restore(int(f.Fd()), was)) }()
	key, err = awaited(ctx, func() (rune, error) {
		r, _, err := in.ReadRune()
		return r, err
	})
	switch key {
	case interrupted:
		return 0, context.Canceled
	case inputEnds:
		return 0, io.EOF
	}
	return key, err
}
