package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

const post = `
cascade_id: post
description: Write a post.
inputs_schema:
  topic: What to write about
  length: {type: integer, default: 3, description: in words}
phases:
  - name: draft
    instructions: "{{ input.topic }} in {{ input.length }} words"
    wards: {post: [{validator: word_count, with: {min: 2}, mode: MODE}]}
`

// TestRuns checks that failed gates are results, and failures are errors.
func TestRuns(t *testing.T) {
	with := func(mode, words string) (*sdk.ClientSession, *storedRuns) {
		o, k := runs(t, words, map[string]string{"post": strings.ReplaceAll(post, "MODE", mode)})
		return connect(t, o), k
	}
	owls := map[string]any{"topic": "owls"}

	s, k := with("blocking", "Owls see.")
	text, object, isError := use(t, s, "post", owls)
	if text != "Owls see." || object["status"] != "succeeded" || isError {
		t.Errorf("%v: %s %v", isError, text, object)
	}
	if _, err := k.journal.Run(t.Context(), fmt.Sprint(object["run_id"])); err != nil {
		t.Errorf("the run is not stored: %v", err)
	}
	for arguments, want := range map[string]string{
		`{}`: "'topic'", `{"topic": "owls", "lenght": 3}`: "'lenght'", `{"topic": "owls", "length": "3"}`: "$.length: must be an integer, is a string",
	} {
		if text, _, isError := use(t, s, "post", json.RawMessage(arguments)); !isError || !strings.Contains(text, want) {
			t.Errorf("%s: %s", arguments, text)
		}
	}

	s, _ = with("blocking", "Owls.")
	text, object, isError = use(t, s, "post", owls)
	if !strings.HasPrefix(text, "phase draft: blocked: post word_count: ") || !strings.Contains(text, "No text was released.\nNext: capstan show ") || object["status"] != "blocked" || object["output"] != nil || isError {
		t.Errorf("%v: %s %v", isError, text, object)
	}
	s, _ = with("retry", "Owls.")
	if text, object, isError = use(t, s, "post", owls); !strings.Contains(text, "exhausted") || object["status"] != "exhausted" || isError {
		t.Errorf("%v: %s %v", isError, text, object)
	}
	s, k = with("retry", "")
	k.model = model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{}, &model.Failure{Class: model.Rejected, Message: "no key"}
	})
	if text, object, isError = use(t, s, "post", owls); !strings.Contains(text, "no key") || !strings.Contains(text, "capstan resume") || object["status"] != "failed" || !isError {
		t.Errorf("%v: %s %v", isError, text, object)
	}
	k.model = model.Func(func(context.Context, model.Request) (model.Response, error) { panic("out of owls") })
	if text, _, isError = use(t, s, "post", owls); !strings.Contains(text, "out of owls") || !isError {
		t.Errorf("%v: %s", isError, text)
	}
}

// TestOutputs checks degraded outputs, and outputs that are not texts.
func TestOutputs(t *testing.T) {
	o, _ := runs(t, `{"a": [1]}`, map[string]string{
		"object":   "{cascade_id: a, phases: [{name: a, instructions: a, output_schema: {type: object}}]}",
		"degraded": "{cascade_id: a, phases: [{name: a, instructions: a, rules: {on_exhausted: last}, wards: {post: [{validator: word_count, with: {min: 9}, mode: retry, max_attempts: 1}]}}]}",
	})
	s := connect(t, o)
	if text, object, _ := use(t, s, "object", map[string]any{"any": "input"}); text != `{"a":[1]}` || object["status"] != "succeeded" {
		t.Errorf("got %s", text)
	}
	if text, _, _ := use(t, s, "degraded", nil); text != "{\"a\": [1]}\ndegraded: phase a was released, but did not pass word_count" {
		t.Errorf("got %s", text)
	}
}

// TestOutputOnce checks that a result contains the output once, and no rejected text.
func TestOutputOnce(t *testing.T) {
	const words = "a-text-that-is-long-and-stands-nowhere-else"
	o, _ := runs(t, `{"a": "`+words+`"}`, map[string]string{
		"text":    "{cascade_id: a, phases: [{name: a, instructions: a}]}",
		"object":  "{cascade_id: a, phases: [{name: a, instructions: a, output_schema: {type: object}}]}",
		"refused": "{cascade_id: a, phases: [{name: a, instructions: a, wards: {post: [{validator: max_length, with: {max: 3}}]}}]}",
	})
	p := begin(t.Context(), t, o)
	p.greet()
	for tool, want := range map[string]int{"text": 1, "object": 1, "refused": 0} {
		p.send(calling(1, tool, "{}"))
		message, _ := json.Marshal(p.next())
		if n := strings.Count(string(message), words); n != want || !strings.Contains(string(message), `"run_id":`) {
			t.Errorf("%s: it stands there %d times: %s", tool, n, message)
		}
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	for _, listed := range p.next()["result"].(map[string]any)["tools"].([]any) {
		if listed := listed.(map[string]any); (listed["name"] == "run" || listed["name"] == "text") && listed["outputSchema"] != nil {
			t.Error("a tool that promises structured content has to give it")
		}
	}
}

// TestProgress checks the progress of phases, attempts and verdicts.
func TestProgress(t *testing.T) {
	o, _ := runs(t, "Owls.", map[string]string{"post": strings.ReplaceAll(post, "MODE", "retry, max_attempts: 2")})
	var mu sync.Mutex
	var messages []string
	done := make(chan struct{})
	s := begin(t.Context(), t, o).client("", &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		if messages = append(messages, fmt.Sprint(r.Params.ProgressToken, " ", r.Params.Progress, " ", r.Params.Message)); len(messages) == 4 {
			close(done)
		}
	}})
	params := &sdk.CallToolParams{Name: "post", Arguments: map[string]any{"topic": "owls"}}
	if _, err := s.CallTool(t.Context(), params); err != nil { // without progress
		t.Fatal(err)
	}
	params.SetProgressToken("p")
	if _, err := s.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	<-done
	no := "draft: post word_count rejected the text: the text has 1 word, fewer than 2"
	if want := []string{"p 1 draft", "p 2 " + no, "p 3 draft: attempt 2", "p 4 " + no}; !slices.Equal(messages, want) {
		t.Errorf("got %q", messages)
	}
}

const asks = `
cascade_id: asks
phases:
  - {name: draft, instructions: write}
  - {name: sure, instructions: again, human_input: {prompt: "Publish?\u001b[2J", type: confirmation, store_as: sure}}
  - {name: where, instructions: again, human_input: {prompt: Where, type: choice, options: [blog, book], store_as: where}}
  - {name: title, instructions: "{{ state.sure }} {{ state.where }}", human_input: {prompt: Title, type: text, store_as: title}}
`

// person answers forms, of which several may be open at once, and adds them to seen.
func person(answers map[string]any, seen *[]string) *sdk.ClientOptions {
	var mu sync.Mutex
	return &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		schema, _ := json.Marshal(r.Params.RequestedSchema)
		mu.Lock()
		*seen = append(*seen, r.Params.Message+" "+string(schema))
		mu.Unlock()
		answer, ok := answers[r.Params.Message]
		if !ok {
			return &sdk.ElicitResult{Action: "decline", Content: map[string]any{"answer": true}}, nil
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer}}, nil
	}}
}

// TestElicitation checks questions in both versions of the protocol.
func TestElicitation(t *testing.T) {
	for _, version := range []string{legacy, ""} {
		t.Run("version "+version, func(t *testing.T) {
			o, k := runs(t, "", map[string]string{"asks": asks})
			calls := 0
			k.model = model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
				calls++
				return model.Response{Text: r.Messages[len(r.Messages)-1].Content}, nil
			})
			var seen []string
			s := begin(t.Context(), t, o).client(version, person(map[string]any{"sure: Publish?␛[2J": true, "where: Where": "book", "title: Title": "Owls"}, &seen))
			text, object, isError := use(t, s, "asks", nil)
			if text != "True book" || object["status"] != "succeeded" || isError || calls != 4 {
				t.Errorf("%d calls: %s %v", calls, text, object)
			}
			want := []string{
				`sure: Publish?␛[2J {"properties":{"answer":{"title":"Yes or no","type":"boolean"}},"required":["answer"],"type":"object"}`,
				`where: Where {"properties":{"answer":{"enum":["blog","book"],"title":"Choice","type":"string"}},"required":["answer"],"type":"object"}`,
				`title: Title {"properties":{"answer":{"minLength":1,"title":"Answer","type":"string"}},"required":["answer"],"type":"object"}`,
			}
			if !slices.Equal(seen, want) {
				t.Errorf("got %q", seen)
			}
		})
	}
}

// TestNobodyAnswers checks that the run waits, and that the result has the command to answer.
func TestNobodyAnswers(t *testing.T) {
	for _, version := range []string{legacy, ""} {
		for name, client := range map[string]*sdk.ClientOptions{
			"declines": person(nil, new([]string)), "cannot": {Capabilities: &sdk.ClientCapabilities{}},
			"nonsense": person(map[string]any{"sure: Publish?␛[2J": "perhaps"}, new([]string)),
		} {
			t.Run(version+name, func(t *testing.T) {
				o, k := runs(t, "words", map[string]string{"asks": asks})
				s := begin(t.Context(), t, o).client(version, client)
				r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "asks"})
				if version == "" && name == "nonsense" {
					// The client or the journal refuses the answer.
					if err == nil && !r.IsError {
						t.Errorf("got %v", r)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				object, _ := r.StructuredContent.(map[string]any)
				id := fmt.Sprint(object["run_id"])
				text := r.Content[0].(*sdk.TextContent).Text
				if object["status"] != "waiting" || r.IsError || !strings.Contains(text, "capstan answer "+id+" VALUE") {
					t.Errorf("%v: %s", object, text)
				}
				if err := k.journal.Answer(t.Context(), id, "", engine.Answer{Value: true}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

const asksTwice = `
cascade_id: twice
phases:
  - name: both
    together:
      - {name: legal, instructions: again, human_input: {prompt: "Lawful?", type: choice, options: [lawful, unlawful], store_as: legal}}
      - {name: finance, instructions: again, human_input: {prompt: "Paid?", type: choice, options: [paid, unpaid], store_as: finance}}
  - {name: end, compose: "{{ state.legal }} {{ state.finance }}"}
`

// TestTwoQuestions checks that two answers reach their own questions.
func TestTwoQuestions(t *testing.T) {
	for _, version := range []string{legacy, ""} {
		t.Run("version "+version, func(t *testing.T) {
			o, k := runs(t, "words", map[string]string{"twice": asksTwice})
			var seen []string
			s := begin(t.Context(), t, o).client(version, person(map[string]any{"legal: Lawful?": "unlawful", "finance: Paid?": "paid"}, &seen))
			if text, object, _ := use(t, s, "twice", nil); text != "unlawful paid" {
				t.Errorf("asked %q: %s %v", seen, text, object)
			}
			s = begin(t.Context(), t, o).client(version, person(nil, new([]string)))
			text, object, _ := use(t, s, "twice", nil)
			id := fmt.Sprint(object["run_id"])
			for key, value := range map[event.Path]string{"both/legal/human_input": "lawful", "both/finance/human_input": "unpaid"} {
				if command := "capstan answer " + id + " VALUE --question " + string(key); !strings.Contains(text, command) {
					t.Errorf("no %q in %s", command, text)
				}
				if err := k.journal.Answer(t.Context(), id, key, engine.Answer{Value: value}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

const edits = `
cascade_id: edits
phases:
  - name: draft
    instructions: write
    wards: {post: [{validator: no_secrets}, {validator: max_length, with: {max: 40}, mode: retry}]}
    human_input: {prompt: "Better?", type: edit}
`

// TestEditing checks that a person can edit a text, and that its gates check the result.
func TestEditing(t *testing.T) {
	for _, version := range []string{legacy, ""} {
		for answer, want := range map[string]string{
			"Owls\nsee.": "Owls\nsee.", "My key is AKIAIOSFODNN7EXAMPLZ.": "blocked", " \n ": "answer",
		} {
			t.Run(version+want, func(t *testing.T) {
				o, k := runs(t, "Owls.", map[string]string{"edits": edits})
				var seen []string
				s := begin(t.Context(), t, o).client(version, person(map[string]any{"draft: Better?\n\nOwls.": answer}, &seen))
				r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "edits"})
				if err != nil {
					t.Fatal(err)
				}
				all, _ := json.Marshal(r)
				if text := r.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, want) || strings.Contains(string(all), "AKIAIOSFODNN7") {
					t.Errorf("got %s", all)
				}
				if len(seen) == 0 || !strings.Contains(seen[0], `"default":"Owls."`) {
					t.Errorf("asked %q", seen)
				}
				if want == "answer" {
					if err := k.journal.Answer(t.Context(), k.ids(t)[0], "", engine.Answer{Value: "Owls."}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// TestForgedAnswer checks that a call cannot answer a run of another client.
func TestForgedAnswer(t *testing.T) {
	o, _ := runs(t, "words", map[string]string{"asks": asks})
	s := connect(t, o)
	_, object, _ := use(t, s, "asks", nil)
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "asks", RequestState: fmt.Sprint(object["run_id"]),
		InputResponses: sdk.InputResponseMap{"answer": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": true}}}})
	if err != nil || !r.IsError {
		t.Errorf("got %v, %v", r, err)
	}
}

// TestCancel checks that a cancelled call cancels only its run, and the limit of runs.
func TestCancel(t *testing.T) {
	o, k := runs(t, "", map[string]string{"post": strings.ReplaceAll(post, "MODE", "advisory")})
	o.Limit = 1
	begun, release := make(chan string, 2), make(chan struct{})
	k.model = model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		begun <- r.Messages[len(r.Messages)-1].Content
		select {
		case <-release:
			return model.Response{Text: "done at last"}, nil
		case <-ctx.Done():
			return model.Response{}, ctx.Err()
		}
	})
	s := connect(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "post", Arguments: map[string]any{"topic": "first"}})
		results <- err
	}()
	if got := <-begun; !strings.HasPrefix(got, "first") {
		t.Fatalf("got %s", got)
	}
	text := make(chan string, 1)
	go func() {
		words, _, _ := use(t, s, "post", map[string]any{"topic": "second"})
		text <- words
	}()
	if words, _, _ := use(t, s, "non_empty", map[string]any{"content": "one"}); !strings.Contains(words, `"valid":true`) {
		t.Errorf("a gate waits for runs: %s", words)
	}
	select {
	case got := <-begun:
		t.Errorf("%s was begun beyond the limit", got)
	default:
	}
	cancel()
	if err := <-results; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := <-begun; !strings.HasPrefix(got, "second") {
		t.Errorf("got %s", got)
	}
	close(release)
	if got := <-text; got != "done at last" {
		t.Errorf("got %s", got)
	}
	var statuses []string
	for _, order := range k.ids(t) {
		run, err := k.journal.Run(t.Context(), order)
		if err != nil {
			t.Fatal(err)
		}
		statuses = append(statuses, run.Status)
	}
	slices.Sort(statuses)
	if !slices.Equal(statuses, []string{engine.Cancelled, engine.Succeeded}) {
		t.Errorf("got %v", statuses)
	}
}

// TestRunFile checks the tool run with a file and a model.
func TestRunFile(t *testing.T) {
	o, k := runs(t, "Owls see.", nil)
	dir := t.TempDir()
	o.Root = dir + "/root"
	write(t, dir, map[string]string{
		"out.yaml": "", "root/post.yaml": strings.ReplaceAll(post, "MODE", "blocking"), "root/bad.yaml": "cascade_id: x",
		"root/exec.yaml":  `{cascade_id: x, validators: {v: {exec: ["true"]}}, phases: [{name: a, instructions: a}]}`,
		"root/s.yml":      "",
		"root/post2.yaml": "{cascade_id: x, phases: [{name: a, instructions: '@../out.yaml'}]}",
	})
	s := connect(t, o)
	for _, c := range []struct {
		arguments, want string
		isError         bool
	}{
		{`{"file": "post.yaml", "input": {"topic": "owls"}}`, "Owls see.", false},
		{`{"file": "` + o.Root + `/post.yaml", "input": {"topic": "owls"}, "model": "scripted:s.yml"}`, "Owls see.", false},
		{`{"file": "post.yaml"}`, "input.topic", true},
		{`{"file": "../out.yaml"}`, "is outside", true},
		{`{"file": "bad.yaml"}`, "bad.yaml:1:1", true},
		{`{"file": "none.yaml"}`, "no such file", true},
		{`{"file": "post2.yaml"}`, "is outside", true},
		{`{"file": "exec.yaml"}`, "--allow-exec", true},
		{`{"file": "post.yaml", "model": "scripted:../out.yaml"}`, "is outside", true},
		{`{"file": "post.yaml", "model": "scripted:no.yaml"}`, "no such file", true},
	} {
		if text, _, isError := use(t, s, "run", json.RawMessage(c.arguments)); isError != c.isError || !strings.Contains(text, c.want) {
			t.Errorf("%s: %v %s", c.arguments, isError, text)
		}
	}
	if k.orders[1].Model != "scripted:"+o.Root+"/s.yml" || k.orders[0].Model != "" || k.orders[0].Cascade.File != o.Root+"/post.yaml" {
		t.Errorf("got %+v", k.orders)
	}
	o.Programs = true
	if text, _, _ := use(t, connect(t, o), "run", map[string]any{"file": "exec.yaml"}); text != "Owls see." {
		t.Errorf("got %s", text)
	}
}

// TestPrograms checks that files which start programs are refused.
func TestPrograms(t *testing.T) {
	const phases = ", phases: [{name: a, instructions: a}]}"
	o, _ := runs(t, "fine", nil)
	o.Root = t.TempDir()
	write(t, o.Root, map[string]string{
		"exec.yaml":    `{cascade_id: x, validators: {v: {exec: [ls]}}` + phases,
		"place.yaml":   `{cascade_id: x, phases: [{name: a, instructions: a, wards: {post: [{exec: [ls]}]}}]}`,
		"tool.yaml":    `{cascade_id: x, tools: {v: {exec: [ls]}}` + phases,
		"mcp.yaml":     `{cascade_id: x, tools: {v: {mcp: {command: [ls], tool: t}}}` + phases,
		"alias.yaml":   "{cascade_id: x, inputs_schema: {a: {type: string, enum: &l [ls]}}, validators: {v: {&k exec: *l}}" + phases,
		"notify.yaml":  `{cascade_id: x, phases: [{name: a, compose: a, human_input: {prompt: p, notify: {exec: [ls]}}}]}`,
		"told.yaml":    `{cascade_id: x, phases: [{name: a, compose: a, human_input: {prompt: p, notify: {url: "{{ env.MY_KEY }}"}}}]}`,
		"merge.yaml":   "cascade_id: x\nvalidators:\n  v: &v {exec: [ls]}\n  w: {<<: *v, timeout: 1s}\nphases: [{name: a, instructions: a}]",
		"escaped.json": "{\t\"cascade_id\": \"x\", \"description\": \"\\ud83d\\ude00 \\/\", \"validators\": {\"v\": {\"\\u0065xec\": [\"ls\"]}}, \"phases\": [{\"name\": \"a\", \"instructions\": \"a\"}]}",
		"within.yaml":  "{cascade_id: x, phases: [{name: a, instructions: a, sub_cascades: [{ref: exec.yaml}]}]}",

		"input.yaml":  "{cascade_id: x, inputs_schema: {exec: What to run, command: {type: array}}" + phases,
		"url.yaml":    `{cascade_id: x, tools: {v: {mcp: {url: "http://127.0.0.1:1", tool: t}}}` + phases,
		"header.yaml": `{cascade_id: x, tools: {v: {mcp: {url: "http://127.0.0.1:1", tool: t, headers: {A: "{{ env.MY_KEY }}"}}}}, phases: [{name: a, instructions: a, tackle: [v], when: "false"}]}`,
		"group.yaml":  `{cascade_id: x, tools: {v: {mcp: {url: "http://127.0.0.1:1", tool: t, headers: {A: "{{ env.MY_KEY }}"}}}}, phases: [{name: g, together: [{name: a, instructions: a, tackle: [v]}, {name: b, compose: b}]}]}`,
		"tries.yaml":  `{cascade_id: x, validators: {v: {mcp: {url: "http://127.0.0.1:1", tool: t, headers: {A: "{{ env.MY_KEY }}"}}}}, soundings: {factor: 2, validator: v, evaluator_instructions: Pick.}, phases: [{name: a, instructions: a}]}`,
		"key.yaml":    `{cascade_id: x, providers: {own: {base_url: "http://127.0.0.1:1/v1", key_env: MY_KEY}}, phases: [{name: a, instructions: a, model: "own:m"}]}`,
		"team.yaml":   `{cascade_id: x, providers: {own: {base_url: "http://127.0.0.1:1/v1", headers: {A: "{{ env.MY_KEY }}"}}}, phases: [{name: a, compose: a, sub_cascades: [{ref: prompt.yaml}]}]}`,
		"prompt.yaml": "{cascade_id: x, phases: [{name: a, instructions: '@prompt.md'}]}",
		"prompt.md":   "Do not: [exec, [ls]",
	})
	r, err := runner.New(runner.WithRemote(nowhere{}))
	if err != nil {
		t.Fatal(err)
	}
	o.Known = r.Known()
	s := connect(t, o)
	for _, file := range []string{"exec.yaml", "place.yaml", "tool.yaml", "mcp.yaml", "alias.yaml", "merge.yaml", "escaped.json", "within.yaml", "notify.yaml"} {
		if text, _, _ := use(t, s, "run", map[string]any{"file": file}); !strings.Contains(text, "would start programs") {
			t.Errorf("%s: %s", file, text)
		}
	}
	for _, file := range []string{"header.yaml", "told.yaml", "group.yaml", "tries.yaml", "key.yaml", "team.yaml"} {
		if text, _, _ := use(t, s, "run", map[string]any{"file": file}); !strings.Contains(text, "would be given MY_KEY of the environment") {
			t.Errorf("%s: %s", file, text)
		}
	}
	for _, file := range []string{"input.yaml", "url.yaml", "prompt.yaml"} {
		if text, _, _ := use(t, s, "run", map[string]any{"file": file, "input": map[string]any{"exec": "x", "command": []any{}}}); text != "fine" {
			t.Errorf("%s: %s", file, text)
		}
	}
}

// nowhere knows MCP servers that do not answer.
type nowhere struct{}

func (nowhere) Validator(cascades.Server, string) validators.Validator { return validators.Validator{} }
func (nowhere) Tool(_ cascades.Server, name string) tool.Tool {
	return tool.Declared(name, "", map[string]any{"type": "object"}, nil)
}

// TestEffectsOfCascades checks the annotations of cascades.
func TestEffectsOfCascades(t *testing.T) {
	o, _ := runs(t, "", map[string]string{
		"thinks": "{cascade_id: a, phases: [{name: a, compose: a, wards: {post: [{exec: [sh, check.sh]}]}}]}",
		"looks":  "{cascade_id: a, tools: {look: {exec: [look], effect: reads}}, phases: [{name: a, tool: look}]}",
		"acts":   "{cascade_id: a, tools: {act: {exec: [act]}}, phases: [{name: g, together: [{name: a, tool: act}, {name: b, compose: b}]}]}",
	})
	list, err := connect(t, o).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	reads := map[string]bool{}
	for _, tool := range list.Tools {
		if reads[tool.Name] = tool.Annotations.ReadOnlyHint; *tool.Annotations.DestructiveHint == reads[tool.Name] {
			t.Errorf("%s: %+v", tool.Name, tool.Annotations)
		}
	}
	if !reads["thinks"] || !reads["looks"] || reads["acts"] {
		t.Errorf("got %v", reads)
	}
}
