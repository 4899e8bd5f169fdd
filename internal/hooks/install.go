package hooks

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/keywords"
)

// An install describes where an agent reads its hooks, and how they are written.
type install struct {
	File     string
	Project  bool     // the file is in the folder of a project, not in the home folder
	Variable string   // the environment variable of the folder of the file
	Form     string   // groups (Claude Code and the like), copilot, plugin (OpenCode)
	Unit     int      // of a second in the time limit; 0 is 1
	Strict   bool     // hooks have onFailure, and a key disables all hooks
	Events   []string // that get a hook
}

//go:embed tables/opencode.js
var plugin string

// A Setup is the hooks of one agent for one cascade. Begin with [NewSetup].
type Setup struct {
	Agent   string
	Command []string // the program with its arguments, without --agent
	Seconds int      // time limit of the agent

	row *agent // with the settings of the agent
}

// NewSetup returns the hooks of an agent, without a command.
func NewSetup(name string) (Setup, error) {
	row := rowOf(name)
	if row == nil {
		return Setup{}, fmt.Errorf("unknown agent %q; the known agents are %s", name, strings.Join(Agents(), ", "))
	}
	return Setup{Agent: name, row: row}, nil
}

// File returns the path of the settings. dir is the folder of a project; if dir is empty,
// the settings are those of the user, where the agent has such.
func (s Setup) File(dir string, getenv func(string) string) (string, error) {
	in := s.row.Install
	file := filepath.FromSlash(in.File)
	switch home := getenv("HOME"); {
	case dir != "" || in.Project:
		return filepath.Join(dir, file), nil
	case in.Variable != "" && getenv(in.Variable) != "":
		return filepath.Join(getenv(in.Variable), filepath.Base(file)), nil
	case home == "":
		return "", errors.New("HOME is not set")
	default:
		return filepath.Join(home, file), nil
	}
}

// Open returns what the hooks of the agent cannot refuse.
func (s Setup) Open() []string { return s.row.Open }

// disabling is the key of settings that disables all hooks.
const disabling = "disableAllHooks"

// mark is in the command of each hook that Capstan installed.
const mark = " hook --agent "

// pluginMark is in the plugin that Capstan installed.
const pluginMark = "capstan hook install wrote it"

// Merge returns settings with the hooks of Capstan in place of older ones. settings is
// empty if the file does not exist. Everything else in the settings stays.
func (s Setup) Merge(settings []byte) ([]byte, error) { return s.change(settings, true) }

// Remove returns settings without the hooks of Capstan; nil if nothing is left.
func (s Setup) Remove(settings []byte) ([]byte, error) { return s.change(settings, false) }

func (s Setup) change(settings []byte, add bool) ([]byte, error) {
	if s.ByArgument() {
		if !add {
			return nil, nil
		}
		command, err := json.Marshal(append(slices.Clone(s.Command), "--agent", s.Agent))
		return []byte(strings.Replace(plugin, "COMMAND", string(command), 1)), err
	}
	root := map[string]any{}
	if len(settings) > 0 {
		v, err := jsonvalue.Parse(settings)
		if err != nil {
			return nil, err
		}
		var ok bool
		if root, ok = v.(map[string]any); !ok {
			return nil, errors.New("the settings must be an object")
		}
	}
	events, ok := root["hooks"].(map[string]any)
	if !ok && root["hooks"] != nil {
		return nil, errors.New("hooks must be an object")
	}
	if events == nil {
		events = map[string]any{}
	}
	for event, v := range events {
		list, _ := v.([]any)
		list = slices.DeleteFunc(list, isOurs)
		if events[event] = list; len(list) == 0 {
			delete(events, event)
		}
	}
	if add {
		for _, event := range s.row.Install.Events {
			list, _ := events[event].([]any)
			events[event] = append(list, s.hook())
		}
	}
	if root["hooks"] = events; len(events) == 0 {
		delete(root, "hooks")
	}
	switch {
	case !s.row.Install.Strict:
	case !add && root[disabling] == false:
		delete(root, disabling)
	case add && root[disabling] == true:
		return nil, errors.New(disabling + " is true: remove it")
	case add:
		root[disabling] = false // so that the settings of a repository cannot disable the hooks
	}
	if add && s.row.Install.Form != "groups" {
		root["version"] = 1
	}
	if len(root) == 0 || !add && len(root) == 1 && root["version"] != nil {
		return nil, nil
	}
	out, err := json.MarshalIndent(root, "", "  ")
	return append(out, '\n'), err
}

// isOurs reports whether Capstan installed an entry.
func isOurs(entry any) bool {
	text, err := json.Marshal(entry)
	return err == nil && strings.Contains(string(text), mark)
}

// Line returns the command of the hooks for a shell.
func (s Setup) Line() string {
	words := make([]string, len(s.Command))
	for i, word := range s.Command {
		words[i] = quoted(word)
	}
	return strings.Replace(strings.Join(words, " "), " hook ", mark+s.Agent+" ", 1)
}

// hook returns the entry of one event.
func (s Setup) hook() any {
	command := s.Line()
	one := map[string]any{"type": "command", "command": command, "timeout": s.Seconds * max(s.row.Install.Unit, 1)}
	if s.row.Install.Form == "copilot" {
		return map[string]any{"type": "command", "bash": command, "timeoutSec": s.Seconds}
	}
	if s.row.Install.Strict {
		one["onFailure"] = "block"
	}
	return map[string]any{"hooks": []any{one}}
}

// quoted returns a word for a shell.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:=@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Installed reports whether settings have hooks of Capstan.
func Installed(settings []byte) bool {
	return strings.Contains(string(settings), mark) || strings.Contains(string(settings), pluginMark)
}

// SameSettings reports whether two files have the same settings.
func SameSettings(a, b []byte) bool {
	one, err := jsonvalue.Parse(a)
	other, err2 := jsonvalue.Parse(b)
	if err != nil || err2 != nil {
		return string(a) == string(b)
	}
	return reflect.DeepEqual(one, other)
}

// Commands returns the installed commands by event.
func (s Setup) Commands(settings []byte) map[string]string {
	if s.ByArgument() {
		if !Installed(settings) {
			return nil
		}
		return map[string]string{"tool.execute.before": s.Line(), "session.idle": s.Line()}
	}
	commands := map[string]string{}
	root, _ := jsonvalue.Parse(settings)
	object, _ := root.(map[string]any)
	events, _ := object["hooks"].(map[string]any)
	for event, groups := range events {
		for _, command := range ownTexts(groups) {
			commands[event] = command
		}
	}
	return commands
}

// ownTexts returns the texts within v that contain the mark of an installed command.
func ownTexts(v any) (list []string) {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, mark) {
			list = append(list, v)
		}
	case []any:
		for _, one := range v {
			list = append(list, ownTexts(one)...)
		}
	case map[string]any:
		for _, one := range v {
			list = append(list, ownTexts(one)...)
		}
	}
	return list
}

// Payloads returns an event before a tool, and two payloads for it. Every gate refuses the
// first, which writes a file of git, and passes the second.
func (s Setup) Payloads(session string) (event, refused, passed string) {
	payload := map[string]any{"cwd": "/"}
	for name, kind := range s.row.Events {
		if kind == onTool {
			payload["hook_event_name"], event = name, name
		}
	}
	for _, name := range s.row.Has {
		payload[name] = session
	}
	text := func(tool string, input map[string]any) string {
		payload["tool_name"], payload["tool_input"] = tool, input
		out, _ := json.Marshal(payload) // of texts
		return string(out)
	}
	refused = text("write", map[string]any{"file_path": "/.git/capstan-check", "content": "x"})
	return event, refused, text("capstan-check", map[string]any{})
}

// Uncovered returns the kinds of events that a rule may cover and for which the agent has
// no hook.
func (s Setup) Uncovered() (kinds []string) {
	for _, kind := range []string{onTool, keywords.OnStop, keywords.OnSubagent, keywords.OnPrompt} {
		if !slices.Contains(slices.Collect(maps.Values(s.row.Events)), kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// ByArgument reports whether the event is an argument of the command, not in the payload.
func (s Setup) ByArgument() bool { return s.row.Install.Form == "plugin" }

// InProject reports whether the settings are those of a project. dir is its folder.
func (s Setup) InProject(dir string) bool { return dir != "" || s.row.Install.Project }

// Broken returns why installed hooks do not run; "" if nothing is known.
func (s Setup) Broken(settings []byte) string {
	if s.ByArgument() {
		return ""
	}
	v, err := jsonvalue.Parse(settings)
	root, _ := v.(map[string]any)
	commands := s.Commands(settings)
	for _, event := range s.row.Install.Events {
		if commands[event] == "" {
			return "event " + event + " has no hook"
		}
	}
	program, _, _ := strings.Cut(strings.Trim(commands[s.row.Install.Events[0]], "'"), mark)
	_, missing := exec.LookPath(strings.TrimSuffix(program, "'"))
	switch {
	case err != nil:
		return err.Error()
	case root[disabling] == true:
		return disabling + " is true"
	case missing != nil:
		return missing.Error()
	}
	return ""
}
