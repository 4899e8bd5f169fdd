package scripted

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/model"
)

func (p *parser) entry(n *yaml.Node) *entry {
	e := &entry{at: p.name + ":" + strconv.Itoa(n.Line), times: 1}
	seen := p.fields(n, "an entry",
		field{"phase", p.filling(&e.phase)},
		field{"attempt", func(v *yaml.Node, key string) { e.attempt = p.whole(v, key, 1) }},
		field{"turn", func(v *yaml.Node, key string) { e.turn = p.whole(v, key, 0) }},
		field{"contains", p.filling(&e.contains)},
		field{"validator", p.filling(&e.validator)},
		field{"role", p.filling(&e.role)},
		field{"reply", func(v *yaml.Node, key string) { e.reply = p.text(v, key) }},
		field{"reply_file", func(v *yaml.Node, _ string) { e.reply = p.file(v) }},
		field{"tool_calls", func(v *yaml.Node, _ string) { e.toolCalls = p.toolCalls(v) }},
		field{"error", func(v *yaml.Node, _ string) { e.failure = p.failure(v) }},
		field{"times", func(v *yaml.Node, _ string) { p.times(e, v) }},
		field{"usage", func(v *yaml.Node, _ string) { e.usage = p.usage(v) }},
		field{"delay", func(v *yaml.Node, key string) { e.delay = p.duration(v, key) }})
	answers := slices.DeleteFunc([]string{"error", "reply", "reply_file", "tool_calls"}, func(key string) bool { return !seen[key] })
	switch {
	case seen == nil:
	case len(answers) == 0:
		p.errorf(target(n), "an entry has one of reply, reply_file, tool_calls and error")
	case len(answers) > 1 && (answers[0] == "error" || len(answers) > 2 || answers[1] == "reply_file"):
		p.errorf(target(n), "an entry cannot have both %s and %s", answers[0], answers[1])
	}
	if e.failure != nil && e.failure.Message == "" {
		e.failure.Message = "as " + e.at + " says"
	}
	return e
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

// text returns a scalar as written.
func (p *parser) text(v *yaml.Node, key string) string {
	if v.Kind != yaml.ScalarNode || null(v) {
		p.errorf(v, "%s is text, not %s; put it in quotes", key, kind(v))
		return ""
	}
	return v.Value
}

// filled returns a text that is not empty.
func (p *parser) filled(v *yaml.Node, key string) string {
	before := len(p.wrong)
	text := p.text(v, key)
	if text == "" && len(p.wrong) == before {
		p.errorf(v, "%s is empty", key)
	}
	return text
}

// filling returns a function that stores a text that is not empty.
func (p *parser) filling(into *string) func(*yaml.Node, string) {
	return func(v *yaml.Node, key string) { *into = p.filled(v, key) }
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
	if p.replies > maxReplies {
		return "" // reported before
	}
	text, err := p.open(name)
	if p.replies += len(text); err == nil && p.replies > maxReplies {
		err = fmt.Errorf("the files of all replies have more than %d bytes", maxReplies)
	}
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

// duration parses a Go duration or a number of seconds. Maximum: 1 hour.
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
	p.fields(v, "error",
		field{"status", func(v *yaml.Node, key string) {
			if status = *p.whole(v, key, 400); status > 599 {
				p.errorf(v, "status is from 400 to 599, not %d", status)
			}
		}},
		field{"retry_after", func(v *yaml.Node, key string) { after = p.duration(v, key) }},
		field{"message", func(v *yaml.Node, key string) { message = p.text(v, key) }})
	f := model.FailureOf(status, message)
	if status == 0 { // no reply of an endpoint
		f.Class = model.Unavailable
	}
	f.RetryAfter = after
	return f
}

func (p *parser) usage(v *yaml.Node) *model.Usage {
	u := &model.Usage{Calls: 1}
	p.fields(v, "usage",
		field{"input_tokens", func(v *yaml.Node, key string) { u.InputTokens = *p.whole(v, key, 0) }},
		field{"output_tokens", func(v *yaml.Node, key string) { u.OutputTokens = *p.whole(v, key, 0) }},
		field{"cost_usd", func(v *yaml.Node, key string) { u.CostUSD = p.number(v, key) }})
	return u
}
