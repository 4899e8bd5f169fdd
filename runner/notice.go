package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/internal/textdiff"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// Notices send questions to programs and URLs, as the key notify of human_input
// requires. Each notice has its own goroutine, and no run waits for it or
// depends on it. Notices are safe for concurrent use.
type Notices struct {
	o    NoticeOptions
	ctx  context.Context
	stop context.CancelFunc
	all  sync.WaitGroup
	once chan struct{} // a slot for each running delivery
}

// NoticeOptions configure how notices are sent.
type NoticeOptions struct {
	// Link returns the address of a run's page. It may be nil.
	Link func(run string) string
	// Clean removes the secrets from a text. It may be nil.
	Clean func(string) string
	// Warn receives the error of a notice that could not be sent. It may be
	// nil.
	Warn func(run string, err error)

	pause time.Duration // before the second try, doubled before the third. Default: 1 s.
	each  time.Duration // time limit of a try. Default: 5 s.
}

const (
	noticeTries   = 3
	noticesAtOnce = 8
	maxNoticeText = 64 << 10 // maximum of each text, in bytes
)

// NewNotices returns a sender of notices.
func NewNotices(o NoticeOptions) *Notices {
	o.pause = cmp.Or(o.pause, time.Second)
	if o.each == 0 {
		o.each = 5 * time.Second
	}
	if o.Clean == nil {
		o.Clean = func(text string) string { return text }
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Notices{o: o, ctx: ctx, stop: stop, once: make(chan struct{}, noticesAtOnce)}
}

// WithNotices sends notices by n, which its owner must close. Default: notices
// of the runner, which are not awaited.
func WithNotices(n *Notices) Option { return func(r *Runner) { r.notices = n } }

// Close waits for running deliveries until ctx ends. It then cancels the
// remaining ones.
func (n *Notices) Close(ctx context.Context) {
	release := context.AfterFunc(ctx, n.stop)
	defer release()
	n.all.Wait()
	n.stop()
}

// A noticeBody is the content of a notice.
type noticeBody struct {
	Key       string          `json:"key"` // of the question; equal for a repeated notice
	RunID     string          `json:"run_id"`
	Path      string          `json:"path"`
	Phase     string          `json:"phase"`
	Type      string          `json:"type"`
	Question  string          `json:"question"`
	Options   []string        `json:"options,omitempty"`
	Text      string          `json:"text"`
	TextBytes int             `json:"text_bytes"` // of the complete text, if it was shortened
	Cut       bool            `json:"cut,omitempty"`
	Verdicts  []noticeVerdict `json:"verdicts,omitempty"` // on the text
	Diff      string          `json:"diff,omitempty"`     // from the previous version to the text
	Expires   string          `json:"expires,omitempty"`
	Link      string          `json:"link,omitempty"`
	Answer    string          `json:"answer"` // the command that answers
}

// A noticeVerdict is a verdict in a notice.
type noticeVerdict struct {
	Phase     string `json:"phase"`
	Moment    string `json:"moment"`
	Validator string `json:"validator"`
	Mode      string `json:"mode"`
	Valid     *bool  `json:"valid"` // null if the validator gave no verdict
	Reason    string `json:"reason"`
}

// give sends a notice in the background.
func (n *Notices) give(q engine.Question) {
	body, err := n.body(q)
	n.all.Go(func() {
		select {
		case n.once <- struct{}{}:
			defer func() { <-n.once }()
		case <-n.ctx.Done():
		}
		if err == nil {
			err = n.tries(q.Notice, body)
		}
		late := err != nil && n.ctx.Err() != nil
		switch {
		case late:
			err = errors.New("notify: no time was left to report the question")
		case err != nil:
			err = errors.New(n.o.Clean("notify: " + err.Error()))
		}
		if !late && q.Notice.Done != nil { // otherwise the next start sends it
			q.Notice.Done(err)
		}
		if err != nil && n.o.Warn != nil {
			n.o.Warn(q.Notice.Run, err)
		}
	})
}

func (n *Notices) body(q engine.Question) ([]byte, error) {
	text := func(s string) string {
		s = n.o.Clean(s) // before it is shortened: part of a secret cannot be recognized
		return strings.ToValidUTF8(s[:min(len(s), maxNoticeText)], "")
	}
	subject := cmp.Or(q.Subject, &trace.Subject{})
	t := noticeBody{
		Key: q.Notice.Key, RunID: q.Notice.Run, Path: string(q.Notice.Path), Phase: q.Phase, Type: q.Type, Question: text(q.Prompt),
		Text: text(subject.Text), TextBytes: len(subject.Text), Cut: len(subject.Text) > maxNoticeText,
		Answer: AnswerCommand(q.Notice.Run, q.Notice.Path),
	}
	for _, v := range subject.Verdicts {
		reason := v.Reason
		if v.Error != nil {
			reason = *v.Error
		}
		t.Verdicts = append(t.Verdicts, noticeVerdict{v.Phase, v.CheckMoment(), v.Validator, v.Mode, v.Valid, text(reason)})
	}
	if subject.Before != "" {
		t.Diff = text(textdiff.Unified("previous version", "this version", n.o.Clean(subject.Previous), n.o.Clean(subject.Text)))
	}
	for _, o := range q.Options {
		t.Options = append(t.Options, text(o))
	}
	if !q.Notice.Expires.IsZero() {
		t.Expires = q.Notice.Expires.Format(time.RFC3339)
	} else if q.Expires > 0 {
		t.Expires = time.Now().Add(q.Expires).UTC().Format(time.RFC3339)
	}
	if n.o.Link != nil {
		t.Link = n.o.Link(q.Notice.Run)
	}
	return json.Marshal(t)
}

// AnswerCommand returns the command that answers a question of a run, with
// VALUE in place of the answer.
func AnswerCommand(run string, question event.Path) string {
	key := string(question)
	if strings.ContainsFunc(key, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/_-.", r)
	}) {
		key = "'" + strings.ReplaceAll(key, "'", `'\''`) + "'" // shells read [ as a pattern
	}
	return "capstan answer " + run + " VALUE --question " + key
}

// tries sends a notice, and tries up to three times if a repetition may help.
func (n *Notices) tries(notice *engine.Notice, body []byte) error {
	pause := n.o.pause
	for try := 1; ; try++ {
		ctx, cancel := context.WithTimeout(n.ctx, n.o.each)
		again, err := n.try(ctx, notice, body)
		cancel()
		if err == nil || !again || try == noticeTries || n.ctx.Err() != nil {
			return err
		}
		_ = model.Wait(n.ctx, pause)
		pause *= 2
	}
}

func (n *Notices) try(ctx context.Context, notice *engine.Notice, body []byte) (again bool, err error) {
	if notice.To.URL != "" {
		return post(ctx, notice, body)
	}
	out, err := process.Run(ctx, process.Command{
		Argv: notice.To.Argv, Dir: notice.To.Dir, Env: notice.To.Env, Stdin: body, Timeout: -1, Tail: 2048,
	})
	switch {
	case err != nil:
		return !errors.Is(err, process.ErrNotStarted), err
	case out.ExitCode != 0:
		printed := strings.TrimSpace(strings.ToValidUTF8(process.Conceal(notice.To.Env, string(out.Stdout)), ""))
		return true, fmt.Errorf("program %s: exit status %d; it said: %s", notice.To.Argv[0], out.ExitCode, printed)
	}
	return false, nil
}

// straight follows no redirects, because the notice is only for the configured
// address.
var straight = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func post(ctx context.Context, notice *engine.Notice, body []byte) (again bool, err error) {
	req, err := request(ctx, notice.To, body)
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", notice.Key)
	resp, err := straight.Do(req)
	if err != nil {
		return true, fmt.Errorf("%s: %w", notice.To.URL, bare(err))
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	switch status := resp.StatusCode; {
	case status < 300:
		return false, nil
	case status < 400:
		return false, fmt.Errorf("%s answers %s, and a redirect is not followed", notice.To.URL, resp.Status)
	default:
		return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout, fmt.Errorf("%s answers %s", notice.To.URL, resp.Status)
	}
}

// request returns the HTTP request. Errors contain the URL of the cascade
// without the values of environment variables, which may be secret.
func request(ctx context.Context, to *cascades.Notify, body []byte) (*http.Request, error) {
	where, err := process.Expand(to.URL)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, where, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", to.URL, bare(err))
	}
	for name, text := range to.Headers {
		value, err := process.Expand(text)
		if err != nil {
			return nil, err
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

// bare returns an error of a request without the URL.
func bare(err error) error { return cmp.Or(errors.Unwrap(err), err) }
