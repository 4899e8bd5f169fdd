package main

import (
	"bufio"
	"context"
	"fmt"
	"os/user"
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
			said, err := readAnswer(ctx, in, q)
			if err != nil {
				return runner.Answer{}, err
			}
			if value, ok := answered(q, said); ok {
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

// readAnswer reads a line, or of a text that is changed all lines up to one that
// holds a dot alone. That one at once leaves the text as it is.
func readAnswer(ctx context.Context, in *bufio.Reader, q runner.Question) (string, error) {
	if q.Type != cascades.Edit {
		return readLine(ctx, in)
	}
	var lines []string
	for {
		line, err := readLine(ctx, in)
		switch {
		case err != nil:
			return "", err
		case strings.TrimRight(line, "\r\n") != ".":
			lines = append(lines, line)
		case len(lines) == 0:
			return q.Text, nil
		default:
			return strings.TrimSuffix(strings.Join(lines, ""), "\n"), nil
		}
	}
}

// readLine reads a line, or gives up when the run is over.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	return awaited(ctx, func() (string, error) {
		line, err := in.ReadString('\n')
		if err != nil {
			return "", runner.ErrNobody
		}
		return line, nil
	})
}

// awaited gives what is read, or gives up when ctx ends. The read itself cannot be
// interrupted; it ends with the process.
func awaited[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	got := make(chan result, 1)
	go func() {
		value, err := read()
		got <- result{value, err}
	}()
	select {
	case r := <-got:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// question is what a person at the terminal is asked, up to where the answer begins.
func question(q runner.Question) string {
	switch q.Type {
	case cascades.Confirmation:
		return posed(q) + " "
	case cascades.Choice:
		return posed(q) + "\nyour choice: "
	case cascades.Edit:
		return posed(q) + "\n\n" + q.Text + "\n\nthe whole text, changed, and then a line with a dot alone (a dot at once leaves it as it is):\n"
	}
	return posed(q) + "\n> "
}

// posed tells of a question to somebody who does not answer it here.
func posed(q runner.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", q.Phase, q.Prompt)
	if q.Type == cascades.Confirmation {
		b.WriteString(" [y/n]")
	}
	for i, o := range q.Options {
		fmt.Fprintf(&b, "\n  %d. %s", i+1, o)
	}
	return b.String()
}

// answered reads what the person typed; false asks again.
func answered(q runner.Question, said string) (any, bool) {
	value := q.Said(said)
	return value, q.Unfit(value) == ""
}
