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
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/process"
)

// Notices tell programs and URLs of questions, as human_input's notify has it.
// Each is given in a goroutine of its own: no run waits for it, and what becomes
// of it does not matter to any. It is safe for concurrent use.
type Notices struct {
	o    NoticeOptions
	ctx  context.Context
	stop context.CancelFunc
	all  sync.WaitGroup
	once chan struct{} // a place for each that is being given
}

// NoticeOptions say how notices are given.
type NoticeOptions struct {
	// Link gives the address of a run's page; nil where nobody knows one.
	Link func(run string) string
	// Clean takes the secrets out of a text; nil leaves all as it is.
	Clean func(string) string
	// Warn is told of a notice that could not be given; nil tells nobody.
	Warn func(run string, err error)

	pause time.Duration // before the second try; doubled before the third. 0 is a second
	each  time.Duration // how long a try may take. 0 is five seconds
}

const (
	noticeTries   = 3
	noticesAtOnce = 8
	maxNoticeText = 64 << 10 // bytes of each text of a notice
)

// NewNotices makes notices that nobody has given yet.
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

// WithNotices has questions told by n, which its owner closes; without it the
// runner's own are, for which nobody waits.
func WithNotices(n *Notices) Option { return func(r *Runner) { r.notices = n } }

// Close waits for the notices that are being given, until ctx ends: those that
// are left then are given up.
func (n *Notices) Close(ctx context.Context) {
	release := context.AfterFunc(ctx, n.stop)
	defer release()
	n.all.Wait()
	n.stop()
}

// told is what is told of a question.
type told struct {
	Key       string   `json:"key"` // of the question: the same where it is told twice
	RunID     string   `json:"run_id"`
	Path      string   `json:"path"`
	Phase     string   `json:"phase"`
	Type      string   `json:"type"`
	Question  string   `json:"question"`
	Options   []string `json:"options,omitempty"`
	Text      string   `json:"text"`
	TextBytes int      `json:"text_bytes"` // of the whole text, where it was cut
	Cut       bool     `json:"cut,omitempty"`
	Expires   string   `json:"expires,omitempty"`
	Link      string   `json:"link,omitempty"`
	Answer    string   `json:"answer"` // the command that answers
}

// give tells of a question in the background.
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
			err = errors.New("notify: there was no time to tell of the question")
		case err != nil:
			err = errors.New(n.o.Clean("notify: " + err.Error()))
		}
		if !late && q.Notice.Done != nil { // else it is for the next start to give
			q.Notice.Done(err)
		}
		if err != nil && n.o.Warn != nil {
			n.o.Warn(q.Notice.Run, err)
		}
	})
}

func (n *Notices) body(q engine.Question) ([]byte, error) {
	text := func(s string) string {
		s = n.o.Clean(s) // before it is cut: of half a secret nobody knows that it is one
		return strings.ToValidUTF8(s[:min(len(s), maxNoticeText)], "")
	}
	t := told{
		Key: q.Notice.Key, RunID: q.Notice.Run, Path: string(q.Notice.Path), Phase: q.Phase, Type: q.Type, Question: text(q.Prompt),
		Text: text(q.Notice.Text), TextBytes: len(q.Notice.Text), Cut: len(q.Notice.Text) > maxNoticeText,
		Answer: AnswerCommand(q.Notice.Run, q.Notice.Path),
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

// AnswerCommand returns the command that answers a question of a run, which its key
// names: with VALUE in place of the answer.
func AnswerCommand(run string, question event.Path) string {
	key := string(question)
	if strings.ContainsFunc(key, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/_-.", r)
	}) {
		key = "'" + strings.ReplaceAll(key, "'", `'\''`) + "'" // shells read [ as a pattern
	}
	return "capstan answer " + run + " VALUE --question " + key
}

// tries gives a notice, three times in all where it might help.
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
		said := strings.TrimSpace(strings.ToValidUTF8(process.Conceal(notice.To.Env, string(out.Stdout)), ""))
		return true, fmt.Errorf("program %s: exit status %d; it said: %s", notice.To.Argv[0], out.ExitCode, said)
	}
	return false, nil
}

// straight goes nowhere but where it was sent: what is told of a question is not
// for whoever a redirect names.
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

// request is what is posted. In errors the URL stands as the cascade has it: what
// the environment puts into it may be a secret.
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

// bare is an error of a request without the URL in it.
func bare(err error) error { return cmp.Or(errors.Unwrap(err), err) }
