package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// guides are the patterns of the pages whose commands start in an empty folder.
var guides = []string{"docs/getting-started.md", "docs/how-to/*.md"}

var (
	fileLead = regexp.MustCompile("`([^`\\s]+)`:$") // the end of the paragraph above a file's block
	lengthy  = regexp.MustCompile(`\b\d+(\.\d+)?(ms|µs)\b|\b\d+\.\d\ds\b|\b\d+\.\d+ s\b`)
	hosted   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	stamped  = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT[\d:.]+Z`)
	jobEnded = regexp.MustCompile(`bash: line \d+: +\d+ Killed.*\n`)
)

// TestGuides runs every page of guides. A block below a paragraph that ends with
// "`NAME`:" is written to the file NAME. In a console block, a line "$ COMMAND" runs
// in Bash, and the lines below it are compared with the output. -update rewrites them.
func TestGuides(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each command")
	}
	for _, program := range []string{"bash", "python3", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the commands of the guides need %s", program)
		}
	}
	for _, pattern := range guides {
		pages, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %v, %v", pattern, pages, err)
		}
		for _, page := range pages {
			t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
				t.Parallel()
				checkGuide(t, page)
			})
		}
	}
}

// checkGuide compares the page's outputs with those of its commands.
func checkGuide(t *testing.T, page string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	outputs := runGuide(t, string(text))
	if len(outputs) == 0 {
		t.Fatal("the page runs no command")
	}
	next := 0
	changed := blockUnder.ReplaceAllStringFunc(string(text), func(block string) string {
		m := blockUnder.FindStringSubmatch(block)
		if m[2] != "console" {
			return block
		}
		var got strings.Builder
		for _, command := range commandsOf(m[3]) {
			fmt.Fprintf(&got, "$ %s\n%s", command, outputs[next])
			next++
		}
		if maskGuide(got.String()) == maskGuide(m[3]) {
			return block
		}
		if !*update {
			t.Errorf("got\n%s\nwant\n%s", got.String(), m[3])
		}
		return strings.Replace(block, m[3]+"```", got.String()+"```", 1)
	})
	if *update && changed != string(text) {
		if err := os.WriteFile(page, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// maskGuide replaces run names, dates, durations and local ports.
func maskGuide(s string) string {
	s = hosted.ReplaceAllString(s, "127.0.0.1:PORT")
	return plainTimes(stamped.ReplaceAllString(lengthy.ReplaceAllString(s, "0.0s"), "TIME"))
}

// commandsOf returns the commands of a console block. A command that ends with a
// backslash continues on the next line.
func commandsOf(block string) (commands []string) {
	open := false
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		command, begins := strings.CutPrefix(line, "$ ")
		switch {
		case begins:
			commands = append(commands, command)
		case open:
			commands[len(commands)-1] += "\n" + line
		default:
			continue
		}
		open = strings.HasSuffix(line, "\\")
	}
	return commands
}

// runGuide writes the page's files, runs its commands in one Bash, and returns the
// output of each command.
func runGuide(t *testing.T, page string) (outputs []string) {
	t.Helper()
	home := t.TempDir()
	work, staged := filepath.Join(home, "work"), filepath.Join(home, "staged")
	for _, dir := range []string{work, staged} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(page, "\n```go\n") {
		writeModule(t, work)
	}
	const mark = "\x01"
	var script strings.Builder
	script.WriteString("mark() { local status=$?; printf '\\001'; return $status; }\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n")
	files, commands := 0, 0
	for _, m := range blockUnder.FindAllStringSubmatch(page, -1) {
		if m[2] == "console" {
			for _, command := range commandsOf(m[3]) {
				fmt.Fprintf(&script, "%s\nmark\n", command)
				commands++
			}
			continue
		}
		name := fileLead.FindStringSubmatch(strings.TrimSpace(m[1]))
		if name == nil {
			continue
		}
		files++
		file := filepath.Join(staged, fmt.Sprint(files))
		if err := os.WriteFile(file, []byte(m[3]), 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&script, "mkdir -p \"$(dirname '%s')\" && cp %s '%[1]s'\n", name[1], file)
	}
	models := httptest.NewServer(&guideModels{})
	defer models.Close()
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = work, &out, &out, time.Second
	cmd.Env = guideEnvironment(home, models.URL)
	_ = cmd.Run() // returns an error if the last command of the page fails on purpose
	plain := strings.ReplaceAll(jobEnded.ReplaceAllString(out.String(), ""), home, "/home/ada")
	outputs = strings.Split(plain, mark)
	if outputs = outputs[:len(outputs)-1]; len(outputs) != commands {
		t.Fatalf("%d of %d commands ended:\n%s", len(outputs), commands, plain)
	}
	for i, o := range outputs {
		if o != "" && !strings.HasSuffix(o, "\n") {
			outputs[i] += "\n"
		}
	}
	return outputs
}

// guideEnvironment returns the environment of the commands, with models as the address of
// Ollama and Anthropic.
func guideEnvironment(home, models string) []string {
	env := []string{"HOME=" + home, "OLLAMA_BASE_URL=" + models + "/v1", "ANTHROPIC_BASE_URL=" + models, "LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1"}
	for _, name := range []string{"PATH", "TMPDIR"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY"} { // the defaults depend on HOME
		if value, err := exec.Command("go", "env", name).Output(); err == nil {
			env = append(env, name+"="+strings.TrimSpace(string(value)))
		}
	}
	return env
}

// guideModels is an OpenAI-compatible endpoint. The model "slow" needs a minute for the
// first answer. The model "busy" always returns a rate limit error. Anthropic's protocol
// gets one reply.
type guideModels struct{ slow atomic.Bool }

func (g *guideModels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/messages") {
		fact := protocolReply{Thinking: "One short fact that I am sure of.", Text: `{"fact": "Owls turn their heads by up to 270 degrees."}`}
		(&protocolEndpoint{replies: []protocolReply{fact}, requests: io.Discard}).ServeHTTP(w, r)
		return
	}
	var request struct {
		Model    string
		Stream   bool
		Messages []json.RawMessage
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case request.Model == "busy":
		w.Header().Set("Retry-After-Ms", "10")
		http.Error(w, `{"error": {"message": "rate limit reached"}}`, http.StatusTooManyRequests)
		return
	case request.Model == "slow" && g.slow.CompareAndSwap(false, true):
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Minute):
		}
	}
	pieces := []string{"Owls hunt at night. ", "Their soft feathers make no sound, ", "and their ears find a mouse in the dark."}
	if len(request.Messages) > 1 {
		pieces = []string{"Owls hunt at night, ", "and sleep in the day."}
	}
	const usage = `"usage": {"prompt_tokens": 12, "completion_tokens": 24}`
	if !request.Stream {
		fmt.Fprintf(w, `{"choices": [{"message": {"role": "assistant", "content": %q}, "finish_reason": "stop"}], %s}`, strings.Join(pieces, ""), usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, piece := range pieces {
		fmt.Fprintf(w, "data: {\"choices\": [{\"delta\": {\"content\": %q}}]}\n\n", piece)
		_ = http.NewResponseController(w).Flush()
	}
	fmt.Fprintf(w, "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}], %s}\n\ndata: [DONE]\n\n", usage)
}

// writeModule writes a go.mod to the folder that requires this checkout of Capstan.
func writeModule(t *testing.T, folder string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		const module = "github.com/seed61713e19/capstan"
		if name == "go.mod" {
			text = bytes.Replace(text, []byte("module "+module), []byte("module example.com/app"), 1)
			text = fmt.Appendf(text, "\nrequire %s v0.0.0\n\nreplace %[1]s => %s\n", module, root)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
