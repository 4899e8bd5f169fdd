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
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/validators"
)

// A progress tells a person what a run does: a line for each thing that is
// over, and on a terminal one more that lives, with what goes on now.
type progress struct {
	out   io.Writer
	width func() int // of the terminal; nil for plain lines, which have no style
	now   func() time.Time

	mu       sync.Mutex
	started  time.Time
	phase    string
	doing    string
	tail     string // the end of what the model is saying
	usage    model.Usage
	told     []string // what was left out of requests
	fans     map[event.Path]*fan
	contests map[event.Path]contest
	open     map[event.Path]bool   // visits to phases that are not over
	members  map[event.Path]string // visits to phases of groups, with their names
	cascade  *cascades.Cascade     // of the run; nil where it is not known
	shown    bool                  // the living line is on the screen
	show     func() string         // the living line of what is no run; nil for a run's
	waited   map[string]time.Time  // when the waits of an endpoint were last shown
	ticks    *time.Ticker
	done     chan struct{}
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
	p.out = unescaped(c.Stderr)                              // for its own escape sequences
	if !c.terminal(c.Stderr) || c.Getenv("NO_COLOR") != "" { // no bold and no living line either
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

// live redraws the living line.
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

// alive puts the living line on the screen.
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

// line prints a line. It escapes control characters in all texts but those of styled.
func (p *progress) line(format string, args ...any) {
	p.erase()
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = reports.VisibleLine(text)
		}
	}
	fmt.Fprintf(p.out, format+"\n", args...)
}

// text takes what a model says as it says it.
func (p *progress) text(_, said string) {
	if p.width == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if said == "" { // the answer begins anew
		p.tail = ""
	}
	p.tail += strings.Map(flat, said)
	if len(p.tail) > 1000 {
		p.tail = strings.ToValidUTF8(p.tail[len(p.tail)-500:], "")
	}
}

// flat keeps what a model says from moving the cursor, ending the line, or turning
// the direction in which all of it is read.
func flat(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}

// Emit takes an event of the run.
func (p *progress) Emit(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.contested(e)
	p.grouped(e)
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
	return "thinking: " + validators.OneLine(r.Thinking, maxThinking)
}

// maxThinking bounds the thinking that a line shows, in characters.
const maxThinking = 100

// briefly takes an event of one of many items: only what went wrong has a line.
func (p *progress) briefly(e event.Event) {
	switch {
	case e.Kind == event.ModelReplied:
		p.usage = p.usage.Add(e.Response.Usage)
		p.without(e.Response)
	case e.Kind == event.VerdictGiven && !e.Verdict.Skipped() && (e.Verdict.Valid == nil || !*e.Verdict.Valid):
		p.verdict(e.Verdict)
	}
}

// without tells once what an endpoint did not take.
func (p *progress) without(r *model.Response) {
	for _, what := range r.Without {
		note := oneLine(fmt.Sprintf("%s of %s was left out: the endpoint does not accept it", what, cmp.Or(r.Model, "the request")))
		if !slices.Contains(p.told, note) && len(p.told) < 100 {
			p.told = append(p.told, note)
			p.line("  note: %s", p.styled(faint, note))
		}
	}
}

func (p *progress) verdict(v *event.Verdict) {
	what, mode := v.Asked()+" "+checkName(p.cascade, v), " ("+v.Mode+")"
	switch {
	case v.Asked() != v.Moment:
		mode = "" // of what soundings ask, which refuses no attempt
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
	case runner.Succeeded:
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

// stop ends the living line.
func (p *progress) stop() {
	if p.ticks != nil {
		p.ticks.Stop()
		close(p.done)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.show = "", nil // nothing is drawn any more
}

// close ends the progress with a line about the whole run.
func (p *progress) close(r runner.Result) {
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	how := green
	if r.Status != runner.Succeeded {
		how = red
	}
	p.line("%s %s  %s", p.styled(how, r.Status), p.styled(faint, oneLine(r.RunID)), spent(r.Usage, p.now().Sub(p.started)))
	for _, d := range r.Degraded {
		p.line("%s phase %s was released, but did not pass %s", p.styled(yellow, "degraded:"), d.Phase, strings.Join(d.Checks, ", "))
	}
}

// spent tells usage and time in a few words.
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

// tokens tells how many, which of them cost less or were not said, and whether
// they were counted.
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

// oneLine makes foreign text fit into a line of progress.
func oneLine(s string) string { return validators.OneLine(s, 300) }

// heading names a visit: its phase, and of an item of each its number, or how
// many there are.
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
