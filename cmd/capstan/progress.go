package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A progress prints the progress of a run: one line for each finished step. On
// a terminal, an additional line at the bottom shows the current step.
type progress struct {
	out   io.Writer
	width func() int // of the terminal; nil for plain lines, which have no style
	now   func() time.Time

	mu        sync.Mutex
	started   time.Time
	phase     string
	doing     string
	tail      string // the end of the model's current text
	usage     model.Usage
	omissions []string // notes about omitted request fields, each printed once
	fans      map[event.Path]*fan
	contests  map[event.Path]contest
	open      map[event.Path]bool   // unfinished visits to phases
	members   map[event.Path]string // visits to phases of groups, with the names of the phases
	cascade   *cascades.Cascade     // of the run; nil if it is unknown
	shown     bool                  // the status line is on the screen
	show      func() string         // the status line of another task than a run; nil for a run
	waited    map[string]time.Time  // the last time at which the waits of an endpoint were printed
	rerun     *rerun                // set if the run shares results with another one
	ticks     *time.Ticker
	done      chan struct{}
}

func (c *Command) progress(quiet bool) *progress {
	p := &progress{
		out: io.Discard, now: time.Now, done: make(chan struct{}), fans: map[event.Path]*fan{}, contests: map[event.Path]contest{},
		open: map[event.Path]bool{}, members: map[event.Path]string{},
	}
	p.started = p.now()
	if quiet {
		return p
	}
	p.out = unescaped(c.Stderr)                              // to write escape sequences
	if !c.terminal(c.Stderr) || c.Getenv("NO_COLOR") != "" { // no bold text and no status line
		return p
	}
	f, _ := file(c.Stderr)
	p.width = func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil || w < 20 {
			return 80
		}
		return w
	}
	p.ticks = time.NewTicker(100 * time.Millisecond)
	go p.live()
	return p
}

// live redraws the status line.
func (p *progress) live() {
	for {
		select {
		case <-p.ticks.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		case <-p.done:
			return
		}
	}
}

// quiet reports whether the progress is not printed.
func (p *progress) quiet() bool { return p.out == io.Discard }

func (p *progress) draw() {
	if p.width != nil && p.show != nil {
		p.alive(firstCells(p.show(), p.width()-1))
		return
	}
	if p.width == nil || p.phase == "" {
		return
	}
	elapsed := p.now().Sub(p.started)
	frame := string([]rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[int(elapsed/(100*time.Millisecond))%10])
	line := firstCells(reports.VisibleLine(fmt.Sprintf("%s %s %s  %s", frame, p.phase, p.doing, spent(p.usage, elapsed))), p.width()-1)
	if room := p.width() - 3 - cellsOf(line); room > 10 && p.tail != "" {
		line += "  " + string(p.styled(faint, lastCells(p.tail, room)))
	}
	p.alive(line)
}

// alive prints the status line.
func (p *progress) alive(line string) {
	fmt.Fprint(p.out, "\r\x1b[K"+line)
	p.shown = true
}

func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}

// line prints a line. It escapes control characters in all arguments except
// those of styled.
func (p *progress) line(format string, args ...any) {
	p.erase()
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = reports.VisibleLine(text)
		}
	}
	out := p.out
	if p.rerun != nil && p.rerun.phase != "" {
		out = &p.rerun.lines
	}
	fmt.Fprintf(out, format+"\n", args...)
}

// text adds text that arrives from the model.
func (p *progress) text(_, piece string) {
	if p.width == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if piece == "" { // the answer starts again
		p.tail = ""
	}
	p.tail += strings.Map(flat, piece)
	if len(p.tail) > 1000 {
		p.tail = clips.Tail(p.tail, 500)
	}
}

// flat maps characters that move the cursor, end the line or change the
// direction of text to spaces.
func flat(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}

// Emit prints an event of the run.
func (p *progress) Emit(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.contested(e)
	p.grouped(e)
	p.hold(e)
	defer p.settle(e)
	if p.fanned(e) {
		p.briefly(e)
		return
	}
	switch e.Kind {
	case event.PhaseStarted:
		p.phase, p.doing, p.tail = e.Phase, "", ""
		p.line("%s", p.styled(bold, heading(e)))
	case event.AttemptStarted:
		p.doing = fmt.Sprintf("%sattempt %d", p.label(e.Path), e.Attempt)
		if e.Attempt > 1 {
			p.line("  %sattempt %d", p.label(e.Path), e.Attempt)
		}
	case event.TurnStarted:
		if turn := *e.Turn; turn > 0 {
			p.doing = fmt.Sprintf("%sattempt %d turn %d", p.label(e.Path), e.Attempt, turn)
			p.line("  %sturn %d", p.label(e.Path), turn)
		}
	case event.ModelCalled:
		p.tail = ""
		if e.Validator != "" {
			p.doing = "judge " + e.Validator
		}
	case event.ModelReplied:
		p.usage = p.usage.Add(e.Response.Usage)
		p.without(e.Response)
		if e.Response.Thinking != "" && e.Validator == "" {
			p.line("  %s", p.styled(faint, p.label(e.Path)+thinkingLine(e.Response)))
		}
	case event.ToolCalled:
		p.doing = "tool " + e.Call.Name
		p.line("  %s", p.styled(faint, p.label(e.Path)+"tool "+oneLine(e.Call.Name)))
	case event.VerdictGiven:
		p.verdict(e.Verdict)
	case event.PhaseFinished:
		p.finished(e)
	}
}

// thinkingLine describes the thinking of a reply in one line.
func thinkingLine(r *model.Response) string {
	return "thinking: " + reports.Fit(r.Thinking, maxThinking)
}

// maxThinking is the maximum length of printed thinking, in characters.
const maxThinking = 100

// briefly prints an event of one of many items, if the item failed a check.
func (p *progress) briefly(e event.Event) {
	switch {
	case e.Kind == event.ModelReplied:
		p.usage = p.usage.Add(e.Response.Usage)
		p.without(e.Response)
	case e.Kind == event.VerdictGiven && !e.Verdict.Skipped() && (e.Verdict.Valid == nil || !*e.Verdict.Valid):
		p.verdict(e.Verdict)
	}
}

// without prints a note, once, for each request field that an endpoint does not
// accept.
func (p *progress) without(r *model.Response) {
	for _, what := range r.Without {
		note := oneLine(fmt.Sprintf("%s of %s was left out: the endpoint does not accept it", what, cmp.Or(r.Model, "the request")))
		if !slices.Contains(p.omissions, note) && len(p.omissions) < 100 {
			p.omissions = append(p.omissions, note)
			p.line("  note: %s", p.styled(faint, note))
		}
	}
}

func (p *progress) verdict(v *event.Verdict) {
	what, mode := v.CheckMoment()+" "+checkName(p.cascade, v), " ("+v.Mode+")"
	switch {
	case v.CheckMoment() != v.Moment:
		mode = "" // checks of soundings reject no attempt
	case v.Moment == v.Validator:
		what = v.Moment
	}
	if strings.Contains(string(v.Path), "/turn[") {
		what = fmt.Sprintf("turn %d %s", v.Turn, strings.TrimPrefix(what, "turn "))
	}
	what = p.label(v.Path) + what
	switch {
	case v.Error != nil:
		p.line("  %s %s: error: %s", p.styled(yellow, "!"), what, oneLine(*v.Error))
	case v.Skipped():
		p.line("  %s", p.styled(faint, fmt.Sprintf("· %s%s: %s", what, mode, oneLine(v.Reason))))
	case *v.Valid:
		p.line("  %s %s", p.styled(green, "✓"), what)
	default:
		p.line("  %s %s%s: %s", p.styled(red, "✗"), what, mode, oneLine(v.Reason))
	}
}

func (p *progress) finished(e event.Event) {
	p.doing, p.tail = "", ""
	p.won(e)
	switch e.Status {
	case engine.Succeeded:
	case "skipped":
		p.line("%s %s", p.styled(bold, e.Phase), p.styled(faint, "skipped"))
	default:
		label := ""
		if f := p.fans[e.Path]; f != nil {
			label = " (" + f.String() + ")"
		} else if _, item := itemOf(e.Path); item != "" {
			label = " " + item
		}
		name := p.member(e.Path)
		if name != "" {
			name += ": "
		}
		p.line("  %s%s%s", name, p.styled(yellow, e.Status), label)
	}
}

// stop removes the status line.
func (p *progress) stop() {
	if p.ticks != nil {
		p.ticks.Stop()
		close(p.done)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.show = "", nil // stops drawing
}

// close prints a line about the whole run.
func (p *progress) close(r engine.Result) {
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printShared()
	how := green
	if r.Status != engine.Succeeded {
		how = red
	}
	p.line("%s %s  %s", p.styled(how, r.Status), p.styled(faint, oneLine(r.RunID)), spent(r.Usage, p.now().Sub(p.started)))
	for _, d := range r.Degraded {
		p.line("%s phase %s was released, but did not pass %s", p.styled(yellow, "degraded:"), d.Phase, strings.Join(d.Checks, ", "))
	}
}

// spent returns usage and time in a few words.
func spent(u model.Usage, elapsed time.Duration) string {
	s := reports.Count(u.Calls, "call")
	if u.Tokens() > 0 {
		s += ", " + tokens(u)
	}
	if u.CostUSD > 0 {
		s += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	return s + fmt.Sprintf(", %.1fs", elapsed.Seconds())
}

// tokens returns the number of tokens, with the cached and the thinking ones,
// and whether it is an estimate.
func tokens(u model.Usage) string {
	s := fmt.Sprintf("%d tokens", u.Tokens())
	if u.Estimated {
		s = "about " + s
	}
	var parts []string
	if u.Cached > 0 {
		parts = append(parts, fmt.Sprintf("%d cached", u.Cached))
	}
	if u.CacheWrite > 0 {
		parts = append(parts, fmt.Sprintf("%d written to the cache", u.CacheWrite))
	}
	if u.Reasoning > 0 {
		parts = append(parts, fmt.Sprintf("%d thought", u.Reasoning))
	}
	if len(parts) > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	return s
}

// oneLine shortens an untrusted text to one line of progress.
func oneLine(s string) string { return reports.Fit(s, 300) }

// heading returns the title of a visit: its phase, with the number of its item
// or the number of items.
func heading(e event.Event) string {
	at := string(e.Path)
	switch last := at[strings.LastIndexByte(at, '/')+1:]; {
	case strings.HasPrefix(last, "item["):
		return e.Phase + " " + last
	case e.Items > 0:
		return fmt.Sprintf("%s, %d items", e.Phase, e.Items)
	default:
		return e.Phase
	}
}
