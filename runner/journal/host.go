package journal

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A host stores the results of the effects of one branch.
type host struct {
	engine.Host
	r    *recording
	late error // set in a scope that exceeded its time limit in an earlier start; no effect is made there
}

func (h *host) wrap(inner engine.Host) *host { return &host{inner, h.r, h.late} }

// Model returns the recorded reply, or calls the model and records its reply.
func (h *host) Model(at event.Path, req model.Request) (model.Response, error) {
	w := effectRequest{at: at, kind: codec.ModelEffect, print: func() (codec.Fingerprint, error) { return h.r.requestPrint(at, &req) }}
	asked := false
	c, err := h.do(w, func() (codec.Effect, error) {
		asked = true
		resp, err := h.Host.Model(at, req)
		return codec.Effect{
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

// Tool returns the recorded result, or calls the tool and records its result.
// The start of a call to a writing tool is stored before the call. If an
// earlier start stored only the start of a call, its result is unknown. A
// repeatable tool is then called again with the same key.
func (h *host) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	w := effectRequest{at: at, kind: codec.ToolEffect, writes: job.Tool.Writes(), again: job.Tool.Repeatable(), print: func() (codec.Fingerprint, error) { return h.r.j.secrets.Fingerprint(job.Call.Name, job.Call.Arguments) }}
	c, err := h.do(w, func() (codec.Effect, error) {
		job.Call.Key = h.r.keyOf(at, job.Call.Key)
		result, err := h.Host.Tool(at, job)
		return codec.Effect{Result: &result}, err
	})
	if c.Result == nil {
		return tool.Result{}, err
	}
	return *c.Result, err
}

// Validate returns the recorded finding, or runs the validator and records its
// finding.
func (h *host) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	w := effectRequest{at: at, kind: codec.FindingEffect, pure: v.Pure}
	if !v.Pure {
		w.print = func() (codec.Fingerprint, error) { return h.r.subjectPrint(v) }
	}
	c, err := h.do(w, func() (codec.Effect, error) {
		found, err := h.Host.Validate(at, v)
		made := codec.Effect{Finding: &found}
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

// Each records the branches too.
func (h *host) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(h.wrap(inner), i) })
}

// Within records that the body exceeded its time limit. In later starts the
// body then ends at the first effect without a result.
func (h *host) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	if _, timedOut := h.r.storedAt(at, codec.TimeoutEffect); timedOut {
		over := &engine.Overtime{At: at}
		if err := body(&host{h.Host, h.r, over}); err != nil {
			return over
		}
		return nil
	}
	if h.late != nil {
		return body(h)
	}
	err := h.Host.Within(at, d, func(inner engine.Host) error { return body(h.wrap(inner)) })
	if !engine.IsOver(err, at) {
		return err
	}
	h.r.storeEffect(at, codec.TimeoutEffect, nil, nil, 0)
	if e := h.r.commit(); e != nil {
		return stopped(at, e)
	}
	return err
}

// Emit numbers and stores an event, and passes it on.
func (h *host) Emit(e event.Event) { h.r.emit(h.Host, e) }

// effectRequest is a requested effect.
type effectRequest struct {
	at     event.Path
	kind   string
	pure   bool
	writes bool                              // its start is stored before the call
	again  bool                              // it may be repeated
	print  func() (codec.Fingerprint, error) // nil if the path alone identifies the effect
}

// do returns the recorded result of an effect, or makes the effect and records
// it.
func (h *host) do(w effectRequest, make func() (codec.Effect, error)) (c codec.Effect, err error) {
	var print codec.Fingerprint
	if w.print != nil {
		if print, err = w.print(); err != nil {
			return codec.Effect{}, stopped(w.at, err)
		}
	}
	c, found, err := h.r.recall(w, print, h.late != nil)
	if found || err != nil {
		return c, err
	}
	if h.late != nil {
		return codec.Effect{}, h.late
	}
	if w.writes {
		err = h.r.checkWrite(w, print)
	} else {
		err = h.r.checkEffect(w.pure)
	}
	if err != nil {
		return codec.Effect{}, stopped(w.at, err)
	}
	began := h.r.j.db.Options.Now()
	if c, err = make(); err != nil {
		return h.r.storeCut(w, c), err
	}
	took := max(h.r.j.db.Options.Now().Sub(began), 0)
	if c, err = h.r.storeResult(w, print, c, took); err != nil {
		return codec.Effect{}, stopped(w.at, err)
	}
	return c, nil
}

// recall returns the recorded result from this run or, if the request was the same,
// from its parent. In a scope that exceeded its time limit, recorded pure results are
// used too, because the scope is never repeated.
func (r *recording) recall(w effectRequest, print codec.Fingerprint, late bool) (c codec.Effect, found bool, err error) {
	k, found := r.storedAt(w.at, w.kind)
	if found && w.pure && r.replaces && !late {
		return c, false, nil // it may be for another text
	}
	if found && !k.print.Same(print) {
		if r.replaces {
			return c, false, stopped(w.at, r.keepSpent(w.at, k))
		}
		return c, false, stopped(w.at, fmt.Errorf("%s: the request differs from the recorded one: the run cannot be resumed", w.at))
	}
	if found {
		if c, err = r.j.readEffect(k.data); err != nil {
			return codec.Effect{}, false, stopped(w.at, err)
		}
		r.mu.Lock()
		r.reply[w.at] = k.row
		r.mu.Unlock()
		return c, true, nil
	}
	if c, found, err = r.fromParent(w, print); err != nil || !found {
		return codec.Effect{}, false, stopped(w.at, err)
	}
	if c, err = r.storeResult(w, print, c, 0); err != nil {
		return codec.Effect{}, false, stopped(w.at, err)
	}
	return c, true, nil
}

// keepSpent allows a changed request to replace a recorded effect. The cost of
// the recorded one still counts.
func (r *recording) keepSpent(at event.Path, k storedEffect) error {
	if k.kind != codec.ModelEffect {
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

// storedAt returns the effect that earlier starts stored at a path.
func (r *recording) storedAt(at event.Path, kind string) (storedEffect, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	effect := r.stored[at]
	return effect, effect.kind == kind
}

// checkEffect returns an error if the run no longer belongs to this start.
// Results of earlier effects are already stored. Results of pure validators are
// written with the next effect; if that is interrupted, they are computed
// again.
func (r *recording) checkEffect(pure bool) error {
	if err := r.err(); err != nil || pure {
		return err
	}
	r.mu.Lock()
	r.scheduleWrite()
	r.mu.Unlock()
	return r.checkOwned()
}

// checkWrite stores the start of a writing call. It returns
// [engine.ErrUnfinished] if an earlier start, or the parent, has already
// started the same call and it may not be repeated.
func (r *recording) checkWrite(w effectRequest, print codec.Fingerprint) error {
	if err := r.err(); err != nil {
		return err
	}
	r.mu.Lock()
	if _, begun := r.startedWrites[w.at]; begun && !w.again {
		r.mu.Unlock()
		return engine.ErrUnfinished
	}
	by, taken := r.startedBy(w.at, print)
	begins := codec.Row{Kind: codec.WriteStarts, Path: string(w.at), Fingerprint: print}
	if by != "" {
		begins.Data = []byte(strconv.Quote(by))
	}
	delete(r.startedWrites, w.at)
	if taken {
		r.startedWrites[w.at] = startedWrite{print, by}
	}
	r.put(begins)
	r.mu.Unlock()
	if err := r.commit(); err != nil || !taken || w.again {
		return err
	}
	return engine.ErrUnfinished
}

// startedBy returns the run that first started the same writing call: "" for
// this run, or the run that it shares with. The caller must hold r.mu.
func (r *recording) startedBy(at event.Path, print codec.Fingerprint) (run string, taken bool) {
	if r.startedWrites.has(at, print) {
		return r.startedWrites[at].run, true
	}
	if p := r.shared.find(at); p != nil && p.startedWrites.has(at, print) {
		return cmp.Or(p.startedWrites[at].run, p.run), true
	}
	return "", false
}

// keyOf returns the key of a call. If another run has started the same call,
// its key is used, so that the tool can recognize the repetition.
func (r *recording) keyOf(at event.Path, own string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if by := r.startedWrites[at].run; by != "" {
		return engine.Key(by, at)
	}
	return own
}

// storeCut stores the cost of an interrupted call, even without an answer.
func (r *recording) storeCut(w effectRequest, c codec.Effect) codec.Effect {
	if c.Response != nil && c.Response.Usage != (model.Usage{}) {
		w.kind = codec.DroppedEffect
		if stored, err := r.storeResult(w, nil, c, 0); err == nil {
			return stored
		}
	}
	r.mu.Lock()
	r.scheduleWrite()
	r.mu.Unlock()
	if c.Response != nil {
		c.Response.Usage = c.Response.Usage.Add(r.spentAt(w.at))
	}
	return c
}

// spentAt returns the cost of discarded calls of earlier starts at a path.
func (r *recording) spentAt(at event.Path) model.Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent[at]
}

// storeResult records an effect and returns it in the form in which it will be
// read.
func (r *recording) storeResult(w effectRequest, print codec.Fingerprint, c codec.Effect, took time.Duration) (codec.Effect, error) {
	if used := r.spentAt(w.at); c.Response != nil && used != (model.Usage{}) {
		resp := *c.Response
		resp.Usage = resp.Usage.Add(used)
		c.Response = &resp
	}
	raw, lossy, err := encodings.Lossy(c)
	if err != nil {
		return c, fmt.Errorf("effect %s: %w", w.at, err)
	}
	if lossy {
		var read codec.Effect
		if err := schema.Unmarshal(raw, &read); err != nil {
			return c, fmt.Errorf("effect %s: %w", w.at, err)
		}
		c = read
	}
	r.storeEffect(w.at, w.kind, print, raw, took)
	if w.pure {
		return c, nil
	}
	return c, r.commit()
}

// storeEffect adds the row of an effect.
func (r *recording) storeEffect(at event.Path, kind string, print codec.Fingerprint, raw []byte, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, again := r.stored[at]; again {
		r.piece.dropped = append(r.piece.dropped, old.row)
	}
	var data []byte
	if raw != nil {
		data = r.piece.Pack(r.piece.Secrets.RedactAs(raw, codec.Effect{}), codec.LongFrom(kind))
	}
	n := r.put(codec.Row{Kind: kind, Path: string(at), Took: int64(took), Fingerprint: print, Data: data})
	if kind == codec.ModelEffect || kind == codec.ToolEffect {
		r.reply[at] = n
	}
	if kind == codec.ModelEffect {
		r.conversations.AddReply(n, data)
	}
	if kind == codec.AnswerEffect {
		r.closeQuestion(at)
	}
}

// momentOf returns the moment of the check at a path. The path may be that of a
// judge's call below the check.
func momentOf(at event.Path, validator string) string {
	if validator == "" {
		return ""
	}
	at = asker(at)
	switch name, _, _ := strings.Cut(at.Last(), "["); name {
	case "ward":
		if strings.HasPrefix(at.Parent().Last(), "tool[") {
			return "tool"
		}
		return "turn"
	case "result_ward":
		return "result"
	default:
		return name
	}
}
