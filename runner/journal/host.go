package journal

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A host keeps what the effects of one branch come to.
type host struct {
	engine.Host
	r    *recording
	late error // in a scope that ran out of time in an earlier start: no effect is made any more
}

func (h *host) over(inner engine.Host) *host { return &host{inner, h.r, h.late} }

// Model gives the recorded answer, or asks and records.
func (h *host) Model(at event.Path, req model.Request) (model.Response, error) {
	w := wanted{at: at, kind: modelEffect, print: func() (print, error) { return h.r.requestPrint(at, &req) }}
	asked := false
	c, err := h.do(w, func() (came, error) {
		asked = true
		resp, err := h.Host.Model(at, req)
		return came{
			Model: req.Model, Phase: req.Phase, Attempt: req.Attempt, Turn: req.Turn, Validator: req.Validator, Role: req.Role,
			Moment: momentOf(at, req.Validator), Response: &resp,
		}, err
	})
	if c.Response == nil {
		return model.Response{Usage: h.r.spentAt(at)}, err
	}
	if inner, ok := h.Host.(interface{ Recalled(model.Request) }); ok && !asked {
		inner.Recalled(req)
	}
	return *c.Response, err
}

// Tool gives the recorded result, or calls and records. A tool that writes is
// called when it is in the file that it will be: where an earlier start came so
// far and no further, nobody knows what came of it. One that may be called twice
// is, with the key that it was called with first.
func (h *host) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	w := wanted{at: at, kind: toolEffect, writes: job.Tool.Writes(), again: job.Tool.Repeatable(), print: func() (print, error) { return h.r.print(job.Call.Name, job.Call.Arguments) }}
	c, err := h.do(w, func() (came, error) {
		job.Call.Key = h.r.keyOf(at, job.Call.Key)
		result, err := h.Host.Tool(at, job)
		return came{Result: &result}, err
	})
	if c.Result == nil {
		return tool.Result{}, err
	}
	return *c.Result, err
}

// Validate gives the recorded finding, or judges and records.
func (h *host) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	w := wanted{at: at, kind: findingEffect, pure: v.Pure}
	if !v.Pure {
		w.print = func() (print, error) { return h.r.subjectPrint(v) }
	}
	c, err := h.do(w, func() (came, error) {
		found, err := h.Host.Validate(at, v)
		made := came{Finding: &found}
		if !v.Pure {
			made.Validator, made.Moment = v.Validator, momentOf(at, v.Validator)
		}
		return made, err
	})
	if c.Finding == nil {
		return engine.Finding{}, err
	}
	return *c.Finding, err
}

// Each keeps the branches too.
func (h *host) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(h.over(inner), i) })
}

// Within keeps that the body ran out of time. Where it did in an earlier start
// it does again, at the first effect that was not made then.
func (h *host) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	if _, timedOut := h.r.keptAt(at, timeoutEffect); timedOut {
		over := &engine.Overtime{At: at}
		if err := body(&host{h.Host, h.r, over}); err != nil {
			return over
		}
		return nil
	}
	if h.late != nil {
		return body(h)
	}
	err := h.Host.Within(at, d, func(inner engine.Host) error { return body(h.over(inner)) })
	if !engine.IsOver(err, at) {
		return err
	}
	h.r.keep(at, timeoutEffect, nil, nil, 0)
	if e := h.r.commit(); e != nil {
		return stopped(at, e)
	}
	return err
}

// Emit numbers and keeps an event, and passes it on.
func (h *host) Emit(e event.Event) { h.r.emit(h.Host, e) }

// wanted is an effect that is asked for.
type wanted struct {
	at     event.Path
	kind   string
	pure   bool
	writes bool                  // it is kept that it begins
	again  bool                  // it may be made again
	print  func() (print, error) // nil where the path says all
}

// do gives what is recorded of an effect, or has it made and records it.
func (h *host) do(w wanted, make func() (came, error)) (c came, err error) {
	var print print
	if w.print != nil {
		if print, err = w.print(); err != nil {
			return came{}, stopped(w.at, err)
		}
	}
	c, found, err := h.r.recall(w, print, h.late != nil)
	if found || err != nil {
		return c, err
	}
	if h.late != nil {
		return came{}, h.late
	}
	if w.writes {
		err = h.r.beforeWrite(w, print)
	} else {
		err = h.r.before(w.pure)
	}
	if err != nil {
		return came{}, stopped(w.at, err)
	}
	began := h.r.j.options.Now()
	if c, err = make(); err != nil {
		return h.r.cut(w, c), err
	}
	took := max(h.r.j.options.Now().Sub(began), 0)
	if c, err = h.r.made(w, print, c, took); err != nil {
		return came{}, stopped(w.at, err)
	}
	return c, nil
}

// recall finds what was recorded: in this run or, where it was the same, in
// its parent. In what ran out of time nothing was made again, so what was computed
// there stands.
func (r *recording) recall(w wanted, print print, late bool) (c came, found bool, err error) {
	k, found := r.keptAt(w.at, w.kind)
	if found && w.pure && r.replaces && !late {
		return c, false, nil // it may be of another text
	}
	if found && !k.print.same(print) {
		if r.replaces {
			return c, false, stopped(w.at, r.replace(w.at, k))
		}
		return c, false, stopped(w.at, fmt.Errorf("%s is not asked what it was asked before: the run cannot be gone on with", w.at))
	}
	if found {
		if c, err = r.j.readEffect(k.data); err != nil {
			return came{}, false, stopped(w.at, err)
		}
		r.mu.Lock()
		r.reply[w.at] = k.row
		r.mu.Unlock()
		return c, true, nil
	}
	if c, found, err = r.fromParent(w, print); err != nil || !found {
		return came{}, false, stopped(w.at, err)
	}
	if c, err = r.made(w, print, c, 0); err != nil {
		return came{}, false, stopped(w.at, err)
	}
	return c, true, nil
}

// replace lets an effect be made anew that is asked otherwise now. What it has spent
// stays spent.
func (r *recording) replace(at event.Path, k kept) error {
	if k.kind != modelEffect {
		return nil
	}
	c, err := r.j.readEffect(k.data)
	if err != nil || c.Response == nil {
		return err
	}
	r.mu.Lock()
	r.spent[at] = c.Response.Usage
	r.mu.Unlock()
	return nil
}

// keptAt is what earlier starts kept at a path.
func (r *recording) keptAt(at event.Path, kind string) (kept, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kept[at]
	return k, k.kind == kind
}

// before lets an effect begin while the run is this start's. What earlier
// effects came to is in the file; what pure validators found since then comes
// there with the effect, or is found again where that is cut.
func (r *recording) before(pure bool) error {
	if err := r.state(); err != nil || pure {
		return err
	}
	r.mu.Lock()
	r.later()
	r.mu.Unlock()
	return r.mine()
}

// beforeWrite lets a write begin when it is in the file that it has, unless an
// earlier start has let it, or the parent the same one, and it may not be made
// again.
func (r *recording) beforeWrite(w wanted, print print) error {
	if err := r.state(); err != nil {
		return err
	}
	r.mu.Lock()
	if _, begun := r.begun[w.at]; begun && !w.again {
		r.mu.Unlock()
		return engine.ErrUnfinished
	}
	by, taken := r.begunBy(w.at, print)
	begins := row{kind: writeBegins, path: string(w.at), print: print}
	if by != "" {
		begins.data = []byte(strconv.Quote(by))
	}
	delete(r.begun, w.at)
	if taken {
		r.begun[w.at] = writing{print, by}
	}
	r.put(begins)
	r.mu.Unlock()
	if err := r.commit(); err != nil || !taken || w.again {
		return err
	}
	return engine.ErrUnfinished
}

// begunBy names the run that has begun the same write first, "" for this one: an
// earlier start of it, or whom it shares with. It is called with r.mu held.
func (r *recording) begunBy(at event.Path, print print) (run string, taken bool) {
	if r.begun.has(at, print) {
		return r.begun[at].by, true
	}
	if p := r.shared.at(at); p != nil && p.begun.has(at, print) {
		return cmp.Or(p.begun[at].by, p.run), true
	}
	return "", false
}

// keyOf is the key of a call: where another run has begun it, that run's, so that a
// tool that knows it by its key does it once.
func (r *recording) keyOf(at event.Path, own string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if by := r.begun[at].by; by != "" {
		return engine.Key(by, at)
	}
	return own
}

// cut is what a call that was broken off came to: what it has spent is kept, also
// where nobody heard the answer.
func (r *recording) cut(w wanted, c came) came {
	if c.Response != nil && c.Response.Usage != (model.Usage{}) {
		w.kind = droppedEffect
		if kept, err := r.made(w, nil, c, 0); err == nil {
			return kept
		}
	}
	r.mu.Lock()
	r.later()
	r.mu.Unlock()
	if c.Response != nil {
		c.Response.Usage = c.Response.Usage.Add(r.spentAt(w.at))
	}
	return c
}

// spentAt is what earlier starts have spent at a path on what did not stand.
func (r *recording) spentAt(at event.Path) model.Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent[at]
}

// made records an effect and gives it as it will read back.
func (r *recording) made(w wanted, print print, c came, took time.Duration) (came, error) {
	if used := r.spentAt(w.at); c.Response != nil && used != (model.Usage{}) {
		resp := *c.Response
		resp.Usage = resp.Usage.Add(used)
		c.Response = &resp
	}
	raw, lossy, err := c.encode(w.pure)
	if err != nil {
		return c, fmt.Errorf("effect %s: %w", w.at, err)
	}
	if lossy {
		var read came
		if err := schema.Unmarshal(raw, &read); err != nil {
			return c, fmt.Errorf("effect %s: %w", w.at, err)
		}
		c = read
	}
	r.keep(w.at, w.kind, print, raw, took)
	if w.pure {
		return c, nil
	}
	return c, r.commit()
}

// keep adds an effect's row.
func (r *recording) keep(at event.Path, kind string, print print, raw []byte, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, again := r.kept[at]; again {
		r.piece.dropped = append(r.piece.dropped, old.row)
	}
	var data []byte
	if raw != nil {
		data = r.piece.pack(r.piece.secrets.redactAs(raw, came{}))
	}
	n := r.put(row{kind: kind, path: string(at), took: int64(took), print: print, data: data})
	if kind == modelEffect || kind == toolEffect {
		r.reply[at] = n
	}
	if kind == modelEffect {
		r.talks.reply(n, data)
	}
	if kind == answerEffect {
		r.closes(at)
	}
}

// momentOf is the moment of the check at a path, or above a judge's call there.
func momentOf(at event.Path, validator string) string {
	if validator == "" {
		return ""
	}
	at = asker(at)
	switch name, _, _ := strings.Cut(at.Last(), "["); name {
	case "ward":
		if strings.HasPrefix(at.Up().Last(), "tool[") {
			return "tool"
		}
		return "turn"
	case "result_ward":
		return "result"
	default:
		return name
	}
}
