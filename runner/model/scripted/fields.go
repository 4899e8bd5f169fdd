package scripted

import (
	"math"
	"slices"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/model"
)

var (
	entryKeys = []string{"phase", "attempt", "turn", "contains", "validator", "role",
		"reply", "reply_file", "tool_calls", "error", "times", "usage", "delay"}
	callKeys  = []string{"name", "arguments", "id"}
	errorKeys = []string{"status", "retry_after", "message"}
	usageKeys = []string{"input_tokens", "output_tokens", "cost_usd"}
)

func (p *parser) entry(n *yaml.Node) *entry {
	e := &entry{at: p.name + ":" + strconv.Itoa(n.Line), times: 1}
	var said []string
	ok := p.fields(n, "an entry", entryKeys, func(key string, v *yaml.Node) {
		if slices.Contains([]string{"reply", "reply_file", "tool_calls", "error"}, key) {
			said = append(said, key)
		}
		p.entryField(e, key, v)
	})
	slices.Sort(said)
	switch {
	case !ok:
	case len(said) == 0:
		p.errorf(target(n), "an entry has one of reply, reply_file, tool_calls and error")
	case len(said) > 1 && (said[0] == "error" || len(said) > 2 || said[1] == "reply_file"):
		p.errorf(target(n), "an entry cannot have both %s and %s", said[0], said[1])
	}
	if e.failure != nil && e.failure.Message == "" {
		e.failure.Message = "as " + e.at + " says"
	}
	return e
}

func (p *parser) entryField(e *entry, key string, v *yaml.Node) {
	switch key {
	case "phase":
		e.phase = p.filled(v, key)
	case "validator":
		e.validator = p.filled(v, key)
	case "role":
		e.role = p.filled(v, key)
	case "contains":
		e.contains = p.filled(v, key)
	case "attempt":
		e.attempt = p.whole(v, key, 1)
	case "turn":
		e.turn = p.whole(v, key, 0)
	case "reply":
		e.reply = p.text(v, key)
	case "reply_file":
		e.reply = p.file(v)
	case "tool_calls":
		e.toolCalls = p.toolCalls(v)
	case "error":
		e.failure = p.failure(v)
	case "usage":
		e.usage = p.usage(v)
	case "delay":
		e.delay = p.duration(v, key)
	case "times":
		p.times(e, v)
	}
}

func (p *parser) times(e *entry, v *yaml.Node) {
	if v.Kind == yaml.ScalarNode && v.Value == "always" {
		e.always = true
		return
	}
	n, err := strconv.Atoi(v.Value)
	if v.Kind != yaml.ScalarNode || err != nil || n < 1 {
		p.errorf(v, "times is a whole number from 1, or always, not %s", kind(v))
		return
	}
	e.times = n
}

// text is a scalar as it is written.
func (p *parser) text(v *yaml.Node, key string) string {
	if v.Kind != yaml.ScalarNode || null(v) {
		p.errorf(v, "%s is text, not %s; put it in quotes", key, kind(v))
		return ""
	}
	return v.Value
}

// filled is a text that is not empty.
func (p *parser) filled(v *yaml.Node, key string) string {
	before := len(p.wrong)
	text := p.text(v, key)
	if text == "" && len(p.wrong) == before {
		p.errorf(v, "%s is empty", key)
	}
	return text
}

func (p *parser) file(v *yaml.Node) string {
	name := p.filled(v, "reply_file")
	if name == "" {
		return ""
	}
	if p.open == nil {
		p.errorf(v, "reply_file %s: this script is read without files", name)
		return ""
	}
	text, err := p.open(name)
	if err != nil {
		p.errorf(v, "reply_file %s: %v", name, err)
	}
	return string(text)
}

func (p *parser) whole(v *yaml.Node, key string, least int) *int {
	n, err := strconv.Atoi(v.Value)
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!int" || err != nil || n < least {
		p.errorf(v, "%s is a whole number from %d, not %s", key, least, kind(v))
		n = least
	}
	return &n
}

func (p *parser) number(v *yaml.Node, key string) float64 {
	f, err := strconv.ParseFloat(v.Value, 64)
	if v.Kind != yaml.ScalarNode || err != nil || !(f >= 0) || math.IsInf(f, 1) {
		p.errorf(v, "%s is a number from 0, not %s", key, kind(v))
		return 0
	}
	return f
}

// duration is a duration of Go, or a number of seconds; at most an hour.
func (p *parser) duration(v *yaml.Node, key string) time.Duration {
	d, err := time.ParseDuration(v.Value)
	if seconds, err2 := strconv.ParseFloat(v.Value, 64); err2 == nil && seconds >= 0 && seconds <= 3600 {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if v.Kind != yaml.ScalarNode || err != nil || d < 0 || d > time.Hour {
		p.errorf(v, "%s is a duration up to an hour, as 200ms, or a number of seconds, not %s", key, kind(v))
		return 0
	}
	return d
}

func (p *parser) failure(v *yaml.Node) *model.Failure {
	status, message, after := 0, "", time.Duration(0)
	p.fields(v, "error", errorKeys, func(key string, v *yaml.Node) {
		switch key {
		case "status":
			if status = *p.whole(v, key, 400); status > 599 {
				p.errorf(v, "status is from 400 to 599, not %d", status)
			}
		case "message":
			message = p.text(v, key)
		case "retry_after":
			after = p.duration(v, key)
		}
	})
	f := model.FailureOf(status, message)
	if status == 0 { // no answer at all
		f.Class = model.Unavailable
	}
	f.RetryAfter = after
	return f
}

func (p *parser) usage(v *yaml.Node) *model.Usage {
	u := &model.Usage{Calls: 1}
	p.fields(v, "usage", usageKeys, func(key string, v *yaml.Node) {
		switch key {
		case "input_tokens":
			u.InputTokens = *p.whole(v, key, 0)
		case "output_tokens":
			u.OutputTokens = *p.whole(v, key, 0)
		case "cost_usd":
			u.CostUSD = p.number(v, key)
		}
	})
	return u
}
