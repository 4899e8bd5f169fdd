package testcases

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/patterns"
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
	err    error // of a value without a plain form
}

func newWriter() *writer {
	return &writer{
		files: map[string][]byte{}, tools: map[string]string{}, shapes: map[string]string{},
		shared: sharedPage{Tools: map[string]model.Tool{}, Schemas: map[string]any{}},
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
		entry := w.node(reflect.ValueOf(w.entry(e)), string(e.at))
		if err := w.encode(pages[name], &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{entry}}); err != nil {
			return fmt.Errorf("%s: %w", e.at, err)
		}
	}
	for name, b := range pages {
		w.files[name] = b.Bytes()
	}
	b := bytes.NewBufferString(headComment)
	if err := w.encode(b, w.node(reflect.ValueOf(c.page), "")); err != nil {
		return err
	}
	w.files[headFile] = b.Bytes()
	w.files[gitFile] = []byte("* -text\n") // keeps git from changing line ends
	if len(w.shared.Tools)+len(w.shared.Schemas) == 0 {
		return nil
	}
	var common bytes.Buffer
	err := w.encode(&common, w.node(reflect.ValueOf(w.shared), ""))
	w.files[sharedFile] = common.Bytes()
	return err
}

func (w *writer) encode(b *bytes.Buffer, n *yaml.Node) error {
	if w.err != nil {
		return w.err
	}
	e := yaml.NewEncoder(b)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return err
	}
	return e.Close()
}

func (w *writer) entry(e *effect) any {
	switch e.kind {
	case callKind:
		return w.call(e)
	case toolKind:
		p := toolPage{Path: e.at, Name: e.call.Name, Arguments: e.call.Arguments}
		if r := e.result; r != nil {
			p.Result, p.Failed, p.Unavailable = &r.Value, r.Failed, r.Unavailable
		}
		return p
	case findingKind:
		p := findingPage{Path: e.at, Name: e.check.name, Digest: e.check.digest, Program: e.check.program}
		switch f := e.finding; {
		case f != nil && f.Failure != "":
			p.Failure = &f.Failure
		case f != nil:
			p.Verdict = f.Verdict
		}
		return p
	case questionKind:
		q := e.question
		p := questionPage{Path: e.at, Phase: q.Phase, Prompt: q.Prompt, Type: q.Type, Options: q.Options}
		switch a := e.answer; {
		case a == nil:
		case a.Expired:
			p.Expired = true
		default:
			p.Answer, p.By = &a.Value, a.By
		}
		return p
	default:
		return timeoutPage{e.at}
	}
}

func (w *writer) call(e *effect) callPage {
	r := e.request
	p := callPage{Path: e.at, Role: r.role, Model: r.model, Params: r.params, Continues: r.base}
	for _, t := range r.tools {
		p.Tools = append(p.Tools, w.tool(t))
	}
	if len(r.schema) > 0 {
		p.Schema = w.schema(e)
	}
	for _, m := range r.messages {
		p.Messages = append(p.Messages, newMessagePage(m))
	}
	if a := e.response; a != nil {
		p.Calls, p.Failure, p.Usage = newToolCallPages(a.ToolCalls), a.Failure, usagePage(a.Usage)
		if a.Text != "" || len(p.Calls) == 0 && a.Failure == nil {
			p.Reply = &a.Text
		}
	}
	return p
}

func newMessagePage(m model.Message) messagePage {
	p := messagePage{ID: m.ToolCallID, Calls: newToolCallPages(m.ToolCalls)}
	switch m.Role {
	case model.System:
		p.System = &m.Content
	case model.Assistant:
		p.Assistant = &m.Content
	case model.ToolReply:
		p.Tool = &m.Content
	default:
		p.User = &m.Content
	}
	return p
}

func newToolCallPages(list []model.ToolCall) (pages []toolCallPage) {
	for _, c := range list {
		pages = append(pages, toolCallPage{c.ID, c.Name, c.Arguments})
	}
	return pages
}

// tool returns the key of a tool definition: its name, with a number if several tools have the
// name.
func (w *writer) tool(t model.Tool) string {
	definition := t.Name + "\x00" + t.Description + "\x00" + string(indented(t.Parameters))
	key, there := w.tools[definition]
	if !there {
		key = free(t.Name, func(key string) bool { _, taken := w.shared.Tools[key]; return taken })
		w.tools[definition] = key
		w.shared.Tools[key] = t
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
		w.shared.Schemas[key] = shape
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
