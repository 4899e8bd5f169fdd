package main

import (
	"bufio"
	"context"
	"fmt"
	"os/user"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// asker returns the function that asks the person at the terminal. Without a
// terminal the run ends as waiting.
func (c *Command) asker(p *progress) func(context.Context, engine.Question) (engine.Answer, error) {
	in := bufio.NewReader(c.Stdin)
	return func(ctx context.Context, q engine.Question) (engine.Answer, error) {
		if !c.asks() {
			return engine.Answer{}, runner.ErrNobody
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.erase()
		reply, err := c.ask(ctx, in, &runPrinter{out: c.Stderr, cascade: p.cascade, all: showAll("last")}, q, q.Subject)
		if err != nil {
			return engine.Answer{}, err
		}
		value, _ := answered(q, reply)
		return engine.Answer{Value: value, By: c.person()}, nil
	}
}

// asks reports whether a person can be asked at the terminal.
func (c *Command) asks() bool { return c.terminal(c.Stdin) && c.terminal(c.Stderr) }

// ask puts a question with its text to the person at the terminal until the answer fits.
func (c *Command) ask(ctx context.Context, in *bufio.Reader, t *runPrinter, q engine.Question, about *trace.Subject) (string, error) {
	t.subject(q, about)
	for {
		fmt.Fprint(c.Stderr, question(q))
		reply, err := readAnswer(ctx, in, q)
		if err != nil {
			return "", err
		}
		if _, ok := answered(q, reply); ok {
			return reply, nil
		}
	}
}

// person returns the name of the user by the operating system.
func (c *Command) person() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return c.Getenv("USER")
}

// readAnswer reads one line, or, for a text to edit, all lines before a line
// with a single dot. If the dot comes first, the text stays as it is.
func readAnswer(ctx context.Context, in *bufio.Reader, q engine.Question) (string, error) {
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

// readLine reads a line. It returns an error when the run is over.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	return awaited(ctx, func() (string, error) {
		line, err := in.ReadString('\n')
		if err != nil {
			return "", runner.ErrNobody
		}
		return line, nil
	})
}

// awaited returns the result of read, or an error when ctx ends. The read
// itself cannot be interrupted and ends with the process.
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

// question returns the question for the terminal, which ends where the answer
// begins.
func question(q engine.Question) string {
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

// posed returns the question with its phase and its numbered options.
func posed(q engine.Question) string {
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

// answered parses an answer. It returns false for an answer that does not fit.
func answered(q engine.Question, text string) (any, bool) {
	value := q.ParseAnswer(text)
	return value, q.Problem(value) == ""
}
