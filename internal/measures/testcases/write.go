package testcases

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// The files and folders of a test case.
const (
	headFile    = "case.yaml"
	inputFile   = "input.json"
	sharedFile  = "shared.yaml"
	effectsDir  = "effects"
	textsDir    = "texts"
	cascadeDir  = "cascade"
	gitFile     = ".gitattributes"
	headComment = "# A frozen run: capstan test runs it again and asks nobody.\n"
)

// A writer builds the files of a test case.
type writer struct {
	files  map[string][]byte // by slash-separated name
	shared sharedPage
	tools  map[string]string // definition → key
	shapes map[string]string
}

func newWriter() *writer {
	return &writer{
		files: map[string][]byte{}, tools: map[string]string{}, shapes: map[string]string{},
		shared: sharedPage{Tools: map[string]sharedToolPage{}, Schemas: map[string]*value{}},
	}
}

// page writes everything except the files of the cascade and the input.
func (w *writer) page(c *Case) error {
	pages := map[string]*bytes.Buffer{}
	for _, e := range c.effects {
		phase, _, _ := strings.Cut(e.at.First(), "[")
		name := path.Join(effectsDir, slug(phase)+".yaml")
		if pages[name] == nil {
			pages[name] = &bytes.Buffer{}
		} else {
			pages[name].WriteByte('\n')
		}
		if err := encode(pages[name], []any{w.entry(e)}); err != nil {
			return fmt.Errorf("%s: %w", e.at, err)
		}
	}
	for name, b := range pages {
		w.files[name] = b.Bytes()
	}
	b := bytes.NewBufferString(headComment)
	if err := encode(b, w.head(c)); err != nil {
		return err
	}
	w.files[headFile] = b.Bytes()
	w.files[gitFile] = []byte("* -text\n") // keeps git from changing line ends
	if len(w.shared.Tools)+len(w.shared.Schemas) == 0 {
		return nil
	}
	var common bytes.Buffer
	err := encode(&common, w.shared)
	w.files[sharedFile] = common.Bytes()
	return err
}

func encode(b *bytes.Buffer, v any) error {
	e := yaml.NewEncoder(b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return err
	}
	return e.Close()
}

func (w *writer) head(c *Case) casePage {
	want := expectPage{Status: c.want.status, Calls: c.want.calls, Outputs: map[string]*value{}}
	if e := c.want.err; e != nil {
		want.Error = &errorPage{e.Code, e.Phase, *w.text(e.Message, "error", "message")}
	}
	for _, p := range c.want.phases {
		one := phasePage{Name: p.Name, Status: p.Status, Attempts: p.Attempts, Turns: p.Turns, Calls: p.ModelCalls, Items: p.Items}
		for _, lost := range p.Failures {
			one.Failures = append(one.Failures, itemFailurePage(lost))
		}
		want.Phases = append(want.Phases, one)
	}
	for _, name := range slices.Sorted(maps.Keys(c.want.outputs)) {
		want.Outputs[name] = w.value(c.want.outputs[name], event.Path(name), "output")
	}
	for _, d := range c.want.degraded {
		want.Degraded = append(want.Degraded, degradedPage{d.Phase, d.Checks})
	}
	for _, v := range c.want.verdicts {
		p := verdictPage{Path: string(v.Path), Moment: v.Moment, Validator: v.Validator, Mode: v.Mode, Valid: v.Valid}
		if v.Reason != "" {
			p.Reason = w.text(v.Reason, v.Path, "reason")
		}
		if v.Error != nil {
			p.Error = w.text(*v.Error, v.Path, "error")
		}
		want.Verdicts = append(want.Verdicts, p)
	}
	return casePage{
		Version: formatVersion, Cascade: c.cascade, Source: c.source,
		Files: c.files, Model: c.model, Seed: c.seed, Order: c.order, Expect: want,
	}
}

func (w *writer) entry(e *effect) any {
	switch e.kind {
	case callKind:
		return w.call(e)
	case toolKind:
		p := toolPage{Path: string(e.at), Name: e.call.Name, Arguments: &value{any: e.call.Arguments}}
		if e.result != nil {
			p.Result, p.Failed, p.Unavailable = w.value(e.result.Value, e.at, "result"), e.result.Failed, e.result.Unavailable
		}
		return p
	case findingKind:
		p := findingPage{Path: string(e.at), Name: e.check.name, Digest: e.check.digest, Program: e.check.program}
		switch f := e.finding; {
		case f != nil && f.Failure != "":
			p.Failure = w.text(f.Failure, e.at, "failure")
		case f != nil:
			p.Verdict = &value{any: f.Verdict}
		}
		return p
	case questionKind:
		q := e.question
		p := questionPage{Path: string(e.at), Phase: q.Phase, Prompt: *w.text(q.Prompt, e.at, "question"), Type: q.Type, Options: q.Options}
		switch {
		case e.answer == nil:
		case e.answer.Expired:
			p.Expired = true
		default:
			p.Answer, p.By = w.value(e.answer.Value, e.at, "answer"), e.answer.By
		}
		return p
	default:
		return timeoutPage{string(e.at)}
	}
}

func (w *writer) call(e *effect) callPage {
	r := e.request
	p := callPage{Path: string(e.at), Role: r.role, Model: r.model, Params: r.params, Continues: string(r.base)}
	for _, t := range r.tools {
		p.Tools = append(p.Tools, w.tool(t))
	}
	if len(r.schema) > 0 {
		p.Schema = w.schema(e)
	}
	for i, m := range r.messages {
		p.Messages = append(p.Messages, w.message(m, e.at, fmt.Sprint("message-", i+1)))
	}
	if e.response == nil {
		return p
	}
	p.Calls = w.calls(e.response.ToolCalls, e.at, "call")
	if e.response.Text != "" || len(p.Calls) == 0 && e.response.Failure == nil {
		p.Reply = w.text(e.response.Text, e.at, "reply")
	}
	if f := e.response.Failure; f != nil {
		p.Failure = &failurePage{string(f.Class), f.Status, *w.text(f.Message, e.at, "failure")}
	}
	if u := e.response.Usage; u != (model.Usage{}) {
		p.Usage = &usagePage{u.Calls, u.InputTokens, u.OutputTokens, u.Cached, u.CacheWrite, u.Reasoning, u.CostUSD, u.Estimated}
	}
	return p
}

func (w *writer) message(m model.Message, at event.Path, what string) messagePage {
	t := w.text(m.Content, at, what)
	p := messagePage{ID: m.ToolCallID, Calls: w.calls(m.ToolCalls, at, what+"-call")}
	switch m.Role {
	case model.System:
		p.System = t
	case model.Assistant:
		p.Assistant = t
	case model.ToolReply:
		p.Tool = t
	default:
		p.User = t
	}
	return p
}

func (w *writer) calls(list []model.ToolCall, at event.Path, what string) []toolCallPage {
	var out []toolCallPage
	for i, c := range list {
		out = append(out, toolCallPage{c.ID, c.Name, *w.text(c.Arguments, at, fmt.Sprint(what, "-", i+1))})
	}
	return out
}

// tool returns the key of a tool definition: its name, with a number if several tools have the
// name.
func (w *writer) tool(t model.Tool) string {
	definition := t.Name + "\x00" + t.Description + "\x00" + string(indented(t.Parameters))
	key, there := w.tools[definition]
	if !there {
		key = free(t.Name, func(key string) bool { _, taken := w.shared.Tools[key]; return taken })
		w.tools[definition] = key
		w.shared.Tools[key] = sharedToolPage{t.Name, *w.text(t.Description, event.Path(key), "tool"), &value{any: t.Parameters}}
	}
	return key
}

// schema returns the key of a request's schema.
func (w *writer) schema(e *effect) string {
	shape := parsed(e.request.schema)
	definition := string(indented(shape))
	key, there := w.shapes[definition]
	if !there {
		name := e.at.First()
		switch e.request.role {
		case "":
		case evaluator:
			name = "choice"
		default:
			name = "verdict"
		}
		key = free(name, func(key string) bool { _, taken := w.shared.Schemas[key]; return taken })
		w.shapes[definition] = key
		w.shared.Schemas[key] = &value{any: shape}
	}
	return key
}

// free returns the name, with a number if it is taken.
func free(name string, taken func(string) bool) string {
	key := name
	for n := 2; taken(key); n++ {
		key = fmt.Sprintf("%s-%d", name, n)
	}
	return key
}

// text returns a short text for the page, or writes a file for it.
func (w *writer) text(s string, at event.Path, what string) *text {
	if len(s) <= inline && readable(s) {
		return &text{string: s}
	}
	name := free(path.Join(textsDir, slug(string(at)+"/"+what)), func(name string) bool { return w.files[name+".md"] != nil }) + ".md"
	w.files[name] = []byte(s)
	return &text{file: name}
}

// value returns a value for the page. A string is stored like a text.
func (w *writer) value(v any, at event.Path, what string) *value {
	if s, ok := v.(string); ok {
		if t := w.text(s, at, what); t.file != "" {
			return &value{text: t}
		}
	}
	return &value{any: v}
}

var unsafe = patterns.Lazy(`[^\pL\pN_.]+`)

// slug returns a file name for a path: draft/attempt[1]/turn[0] becomes draft.attempt-1.turn-0. It
// is lower case, because some file systems ignore case.
func slug(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "]/", "/"), "/", ".")
	s = strings.Trim(unsafe().ReplaceAllString(strings.ToLower(s), "-"), "-.")
	if r := []rune(s); len(r) > 100 {
		s = string(r[len(r)-100:])
	}
	return cmp.Or(s, "x")
}
