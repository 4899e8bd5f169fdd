package journal

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
)

// Four kinds of rows are most of what a run tells. Their JSON is made of their
// shapes' pieces, to the byte as [encodings.Of] makes it, for a tenth of the time.

// quickly is the JSON of an event of these kinds that has no more to it.
func quickly(e *event.Event, b *body) ([]byte, bool) {
	switch {
	case !b.short():
	case e.Kind == event.TurnStarted && b.inTurn() && b.Effect == 0:
		return shapeBy("t").of(b.Phase, b.Attempt, *b.Turn)
	case e.Kind == event.ModelReplied && b.inTurn() && b.Effect != 0:
		return shapeBy("r").of(b.Phase, b.Attempt, *b.Turn, b.Effect)
	case e.Kind == event.VerdictGiven && b.Verdict != nil && b.Phase == "" && b.Attempt == 0 && b.Turn == nil && b.Effect == 0:
		v := b.Verdict
		if !plainVerdict(v) || v.Path != e.Path {
			return nil, false
		}
		return shapeBy("v").of(string(v.Path), v.Phase, v.Attempt, v.Turn, v.Moment, v.Validator, v.Mode, *v.Valid, v.Reason)
	}
	return nil, false
}

// short tells of a body that has no other fields than those of such events.
func (b *body) short() bool {
	return b.RunID == "" && b.CascadeID == "" && b.Input == nil && b.Validator == "" && b.Request == nil && b.Response == nil && b.Call == nil &&
		b.Result == nil && b.By == "" && b.Status == "" && b.Text == "" && b.Message == "" && b.Output == nil && b.From == "" && b.To == "" && b.Usage == nil &&
		b.Error == nil && b.Items == 0 && b.Failures == nil && b.Pruning == nil && b.Released == ""
}

func (b *body) inTurn() bool {
	return b.Verdict == nil && b.Phase != "" && b.Attempt != 0 && b.Turn != nil
}

// plainVerdict tells of one that says yes or no and why, and no more.
func plainVerdict(v *event.Verdict) bool {
	return v.Valid != nil && v.Error == nil && v.Score == nil && v.Issues == nil && v.Warnings == nil && v.Fix == "" && v.Evidence == nil &&
		v.Status == "" && v.Details == nil
}

// quickFinding is the JSON of what a pure validator found, where that is yes or
// no and why.
func quickFinding(f *engine.Finding) ([]byte, bool) {
	v := &f.Verdict
	if f.Failure != "" || v.Score != nil || v.Issues != nil || v.Warnings != nil || v.Fix != "" || v.Evidence != nil || v.Status != "" || v.Details != nil {
		return nil, false
	}
	return shapeBy("f").of(v.Valid, v.Reason)
}

// encode is the JSON of what an effect came to, and whether it reads back
// otherwise.
func (c *came) encode(pure bool) (raw []byte, lossy bool, err error) {
	if pure && c.Finding != nil {
		if raw, ok := quickFinding(c.Finding); ok {
			return raw, false, nil
		}
	}
	if raw, ok := quickReply(c); ok {
		return raw, false, nil
	}
	return encodings.Lossy(c)
}

// quickReply is the JSON of what a model answered that is a text and no more.
func quickReply(c *came) ([]byte, bool) {
	r := c.Response
	if r == nil || c.Result != nil || c.Finding != nil || c.Answer != nil || r.Thinking != "" || r.ToolCalls != nil || r.Extra != "" || r.Without != nil || r.Failure != nil || !plainCost(r.Usage.CostUSD) {
		return nil, false
	}
	o := object(append(make([]byte, 0, len(r.Text)+len(r.Text)/16+512), '{'))
	o.text("model", c.Model).text("phase", c.Phase).number("attempt", c.Attempt).number("turn", c.Turn).text("validator", c.Validator).text("moment", c.Moment).text("role", c.Role)
	o.field("response")
	o = append(o, `{"text":`...)
	o = object(model.AppendText(o, r.Text))
	o.text("model", r.Model).text("finish", r.Finish).text("id", r.ID).text("provider", r.Provider).text("server", r.Server)
	u := &r.Usage
	o.field("usage")
	o = append(strconv.AppendInt(append(o, `{"model_calls":`...), int64(u.Calls), 10), `,"input_tokens":`...)
	o = append(strconv.AppendInt(o, int64(u.InputTokens), 10), `,"output_tokens":`...)
	o = strconv.AppendInt(o, int64(u.OutputTokens), 10)
	o.number("cached_tokens", u.Cached).number("cache_write_tokens", u.CacheWrite).number("reasoning_tokens", u.Reasoning)
	o = strconv.AppendFloat(append(o, `,"cost_usd":`...), u.CostUSD, 'f', -1, 64)
	if u.Estimated {
		o = append(o, `,"estimated":true`...)
	}
	return append(o, "}}}"...), !bytes.Contains(o, []byte(`\ufffd`)) // in which what is no UTF-8 would be lost
}

// plainCost tells of an amount that JSON has without an exponent.
func plainCost(usd float64) bool { return usd == 0 && !math.Signbit(usd) || 1e-6 <= usd && usd < 1e21 }

// An object is JSON that is being written: its fields without those that are nothing.
type object []byte

func (o *object) field(name string) {
	if (*o)[len(*o)-1] != '{' {
		*o = append(*o, ',')
	}
	*o = append(model.AppendText(*o, name), ':')
}

func (o *object) text(name, value string) *object {
	if value != "" {
		o.field(name)
		*o = model.AppendText(*o, value)
	}
	return o
}

func (o *object) number(name string, value int) *object {
	if value != 0 {
		o.field(name)
		*o = strconv.AppendInt(*o, int64(value), 10)
	}
	return o
}

// quickMessage is the JSON of a message that has a text and no more.
func quickMessage(m *model.Message) ([]byte, bool) {
	if m.ToolCalls != nil || m.ToolCallID != "" || m.Extra != "" || m.Provider != "" || !utf8.ValidString(m.Content) {
		return nil, false
	}
	raw := make([]byte, 0, len(m.Content)+len(m.Content)/16+64)
	raw = append(model.AppendText(append(raw, `{"role":`...), string(m.Role)), `,"content":`...)
	return append(model.AppendText(raw, m.Content), '}'), true
}

// of is the JSON of the shape with these values, strings, bools and whole
// numbers; false where a string is not UTF-8. One with an asterisk has no such
// JSON.
func (s *shape) of(values ...any) ([]byte, bool) {
	data := make([]byte, 0, 256)
	for i, v := range values {
		data = append(data, s.pieces[i]...)
		switch v := v.(type) {
		case string:
			if !utf8.ValidString(v) {
				return nil, false
			}
			data = model.AppendText(data, v)
		case bool:
			data = strconv.AppendBool(data, v)
		case int:
			data = strconv.AppendInt(data, int64(v), 10)
		case int64:
			data = strconv.AppendInt(data, v, 10)
		}
	}
	return append(data, s.pieces[len(values)]...), true
}
