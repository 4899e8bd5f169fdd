package hooks

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// MaxPayload is the largest payload, in bytes.
const MaxPayload = 64 << 20

// An Event is what a coding agent is about to do.
type Event struct {
	Agent    string
	Session  string
	Subagent string // that acts; "" for the agent itself
	Name     string // as the agent calls the event
	Tool     string
	On       string   // of [cascades.Hook]; "" for an event that no hook can cover
	Root     string   // the git repository around the agent's folder, or the folder
	Again    bool     // the agent continues because a hook refused the end
	Texts    []Text   // to judge
	Paths    []string // absolute, of the files that a tool writes or removes

	agent *agent
	kind  string // tool, stop, subagent, prompt, start, note
}

// A Text is one text of an event.
type Text struct {
	File    string // slash-separated, relative to the root; absolute outside the root; "" for a text that is no file
	Content string
	Before  string // the file as it is before the write, or was at the start of the session
	Err     error  // the write cannot be applied to the file
}

// errPayload is the error of a payload that no known agent sends.
var errPayload = errors.New("the payload is not understood")

// Decode reads a payload. The operator sets name and event on the command line; both may be
// empty. Decode returns an event that is not nil even with an error.
func Decode(name, event string, payload []byte) (*Event, error) {
	e := &Event{Agent: name}
	if len(payload) > MaxPayload {
		return e, fmt.Errorf("%w: it has more than %d bytes", errPayload, MaxPayload)
	}
	v, err := jsonvalue.Parse(payload)
	if err != nil {
		return e, fmt.Errorf("%w: %w", errPayload, err)
	}
	in, ok := v.(map[string]any)
	if !ok {
		return e, fmt.Errorf("%w: it must be an object", errPayload)
	}
	sent, err := text(in, "event")
	if err == nil {
		e.Name, err = eventName(event, sent)
	}
	if err != nil {
		return e, fmt.Errorf("%w: %w", errPayload, err)
	}
	if e.agent = find(name, e.Name, in); e.agent == nil {
		return e, fmt.Errorf("%w: no known agent sends event %q with these fields", errPayload, e.Name)
	}
	e.Agent, e.kind = e.agent.Agent, e.agent.Events[e.Name]
	if err := e.read(in); err != nil {
		return e, fmt.Errorf("%w: %w", errPayload, err)
	}
	return e, nil
}

// eventName returns the name of the event, from the command line or the payload.
func eventName(given, sent string) (string, error) {
	switch {
	case given != "" && sent != "" && given != sent:
		return "", fmt.Errorf("the event is %q in the payload and %q on the command line", sent, given)
	case given == "" && sent == "":
		return "", errors.New("it has no event; --event names it")
	case sent == "":
		return given, nil
	}
	return sent, nil
}

func (e *Event) read(in map[string]any) (err error) {
	if e.Session, err = text(in, "session"); err != nil || e.Session == "" {
		return errors.Join(err, errors.New("it has no session"))
	}
	if e.Subagent, err = text(in, "subagent"); err != nil {
		return err
	}
	if e.Tool, err = text(in, "tool"); err != nil {
		return err
	}
	e.Again, _ = field(in, "again").(bool)
	if e.kind == onNote {
		return nil
	}
	folder, err := text(in, "folder")
	if err != nil || !filepath.IsAbs(folder) {
		return errors.Join(err, errors.New("it has no folder with an absolute path"))
	}
	e.Root = Repository(folder)
	switch e.kind {
	case onTool:
		return e.readTool(in, folder)
	case cascades.OnPrompt:
		return e.readText(in, "prompt")
	case cascades.OnStop, cascades.OnSubagent:
		return e.readMessage(in)
	}
	return nil
}

func (e *Event) readText(in map[string]any, meaning string) error {
	content, err := text(in, meaning)
	if err == nil && field(in, meaning) == nil {
		err = fmt.Errorf("it has no %s", meaning)
	}
	if content != "" { // Qwen Code sends an empty prompt for each turn
		e.On, e.Texts = e.kind, []Text{{Content: content}}
	}
	return err
}

// readMessage reads the last message, from the payload or from the transcript.
func (e *Event) readMessage(in map[string]any) error {
	e.On = e.kind
	content, err := text(in, "message")
	if err == nil && field(in, "message") == nil {
		var file string
		if file, err = text(in, "transcript"); file != "" && err == nil {
			content, err = lastMessage(file)
		}
	}
	e.Texts = []Text{{Content: content}}
	if err != nil {
		e.Texts[0].Err = err
	}
	return nil
}

// maxTranscript is the largest transcript that is read, in bytes.
const maxTranscript = 256 << 20

// lastMessage returns the last message of the assistant in a transcript of Copilot CLI:
// lines of JSON with type and data.
func lastMessage(file string) (last string, err error) {
	source, err := files.Read(file, maxTranscript)
	if err != nil {
		return "", fmt.Errorf("the transcript: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(source))
	lines.Buffer(nil, maxTranscript)
	for lines.Scan() {
		v, _ := jsonvalue.Parse(lines.Bytes())
		one, _ := v.(map[string]any)
		data, _ := one["data"].(map[string]any)
		if content, _ := data["content"].(string); one["type"] == "assistant.message" && content != "" {
			last = content
		}
	}
	return last, lines.Err()
}

// readTool reads a tool call. The fields of the input decide what it does, as one tool has
// other names in other agents.
func (e *Event) readTool(in map[string]any, folder string) error {
	input, ok := field(in, "input").(map[string]any)
	if !ok {
		return errors.New("the input of the tool must be an object")
	}
	file, err := text(input, "path")
	if err != nil {
		return err
	}
	command, err := commandOf(input)
	has := func(meaning string) bool { return field(input, meaning) != nil }
	w := writer{event: e, folder: folder}
	switch {
	case err != nil:
		return err
	case ambiguous(input):
		return fmt.Errorf("the input of %s has fields of several tools", e.Tool)
	case file != "" && (has("old") || has("edits")):
		err = w.edit(file, input)
	case file != "" && has("cell"):
		err = w.notebook(file, input)
	case file != "" && has("content"):
		err = w.whole(file, input)
	case strings.HasPrefix(strings.TrimSpace(command), patchBegin):
		err = w.patch(command)
	case command != "":
		e.On, e.Texts = cascades.OnCommand, []Text{{Content: command}}
		return nil
	case slices.Contains(agents().Tools, e.Tool):
		return fmt.Errorf("the input of %s has no known field", e.Tool)
	default:
		return nil
	}
	e.On = cascades.OnWrite
	return err
}

// ambiguous reports whether the input has two fields of one meaning, or the texts of two
// kinds of tools. A tool ignores fields that it does not know, so a model could show a
// hook another text than it writes.
func ambiguous(input map[string]any) bool {
	count := func(meanings ...string) (n int) {
		for _, meaning := range meanings {
			for _, name := range agents().Fields[meaning] {
				if input[name] != nil {
					n++
				}
			}
		}
		return n
	}
	texts := count("old", "edits", "cell", "content", "command")
	return texts > 1 || texts == 1 && count("path") > 1
}

// commandOf returns the command of a tool's input, which is a text or a list of arguments.
func commandOf(input map[string]any) (string, error) {
	list, ok := field(input, "command").([]any)
	if !ok {
		return text(input, "command")
	}
	words := make([]string, len(list))
	for i, one := range list {
		if words[i], ok = one.(string); !ok {
			return "", errors.New("command must be text")
		}
	}
	return strings.Join(words, " "), nil
}

// isRepository reports whether git has its data in a folder: a file .git that names them, or
// a folder .git with a HEAD. Sandboxes of agents leave an empty folder .git.
func isRepository(folder string) bool {
	at := filepath.Join(folder, ".git")
	info, err := os.Stat(at)
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(at, "HEAD"))
	}
	return err == nil
}

// Repository returns the nearest repository of git around a folder, or the folder.
func Repository(folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	for dir := filepath.Clean(folder); ; dir = filepath.Dir(dir) {
		if isRepository(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return filepath.Clean(folder)
		}
	}
}
