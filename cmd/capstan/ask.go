package main

import (
	"bufio"
	"context"
	"fmt"
	"os/user"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
)

// asker puts a run's questions to the person at the terminal. Without one the
// run ends as waiting.
func (c *Command) asker(p *progress) func(context.Context, runner.Question) (runner.Answer, error) {
	in := bufio.NewReader(c.Stdin)
	return func(ctx context.Context, q runner.Question) (runner.Answer, error) {
		if !c.terminal(c.Stdin) || !c.terminal(c.Stderr) {
			return runner.Answer{}, runner.ErrNobody
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.erase()
		for {
			fmt.Fprint(c.Stderr, question(q))
			line, err := readLine(ctx, in)
			if err != nil {
				return runner.Answer{}, err
			}
			if value, ok := answered(q, strings.TrimSpace(line)); ok {
				return runner.Answer{Value: value, By: c.person()}, nil
			}
		}
	}
}

// person is who the system says is at the command line.
func (c *Command) person() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return c.Getenv("USER")
}

// readLine reads a line, or gives up when the run is over. The read itself
// cannot be interrupted; it ends with the process.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1)
	go func() {
		line, err := in.ReadString('\n')
		got <- read{line, err}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			return "", runner.ErrNobody
		}
		return r.line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func question(q runner.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", q.Phase, strings.Map(printable, q.Prompt))
	switch q.Type {
	case cascades.Confirmation:
		b.WriteString(" [y/n] ")
	case cascades.Choice:
		for i, o := range q.Options {
			fmt.Fprintf(&b, "\n  %d. %s", i+1, o)
		}
		b.WriteString("\nyour choice: ")
	default:
		b.WriteString("\n> ")
	}
	return b.String()
}

// printable keeps a prompt's lines but no control sequences.
func printable(r rune) rune {
	if r == '\n' || r == '\t' {
		return r
	}
	return flat(r)
}

// answered reads what the person typed; false asks again.
func answered(q runner.Question, said string) (any, bool) {
	switch q.Type {
	case cascades.Confirmation:
		switch strings.ToLower(said) {
		case "y", "yes":
			return true, true
		case "n", "no":
			return false, true
		}
		return nil, false
	case cascades.Choice:
		if n, err := strconv.Atoi(said); err == nil && n >= 1 && n <= len(q.Options) {
			return q.Options[n-1], true
		}
		return said, q.Unfit(said) == ""
	default:
		return said, said != ""
	}
}
