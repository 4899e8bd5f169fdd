package runner_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gopenai "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/internal/processor"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// spoken is the approximate length of a question, in bytes.
const spoken = 1000

// A workload is a conversation for both sides: the model's reply to every turn,
// and the cascade that requests it.
type workload struct{ name, reply, cascade string }

var workloads = []workload{
	{"text", strings.Repeat("a text of some words, ", 20), `cascade_id: bench
phases:
  - name: a
    instructions: "Say: {{ input.words }}"
    rules: {max_turns: %d, turn_prompt: "{{ input.words }}"}
    wards:
      turn:
        - {expr: "len(content) > 2"}
        - {validator: non_empty, mode: retry}
        - {validator: max_length, with: {max: 1000}, mode: retry}`},
	{"json", `{"title": "Of owls", "score": 0.5, "tags": ["night", "bird", "field"], "body": "` + strings.Repeat("a text of some words, ", 20) + `"}`, `cascade_id: bench
phases:
  - name: a
    instructions: "Say: {{ input.words }}"
    output_schema:
      type: object
      required: [title, score, tags, body]
      properties:
        title: {type: string, maxLength: 80}
        score: {type: number, minimum: 0, maximum: 1}
        tags: {type: array, maxItems: 8, items: {type: string}}
        body: {type: string, minLength: 10}
    rules: {max_turns: %d, turn_prompt: "{{ input.words }}"}
    wards:
      turn:
        - {expr: "len(content) > 2"}
        - {validator: non_empty, mode: retry}
        - {validator: max_length, with: {max: 1000}, mode: retry}`},
}

// BenchmarkGatedTurn compares a gated turn with go-openai's bare call of the
// same messages. The gated turn has a template and three checks, without a
// journal and sinks. One operation is a round: some conversations of each side,
// over pooled connections to a model in its own process. The benchmark reports
// the median of the ratios, by the clock and by processor time. It also reports
// the cost of a turn of each side. go test ./runner -run '^$' -bench GatedTurn
// -benchtime 25x -cpu 1,2
func BenchmarkGatedTurn(b *testing.B) {
	for _, w := range workloads {
		url := modelServer(b, w.reply)
		for _, turns := range []int{1, 10, 50, 150} {
			for _, width := range []int{1, 64} {
				b.Run(fmt.Sprintf("%s/turns=%d/at=%d", w.name, turns, width), func(b *testing.B) {
					gated, bare := gatedRun(b, url, w, turns), bareRun(b, bareClient(url), turns)
					rounds(b, gated, bare, width, turns)
				})
			}
		}
	}
}

// A cost is the cost of a turn.
type cost struct{ wall, cpu, allocs, bytes float64 }

// rounds runs b.N rounds and reports the ratios.
func rounds(b *testing.B, gated, bare func(), width, turns int) {
	conversations := max(256/turns, 2*width)
	spend := func(run func()) cost { return spent(run, width, conversations, turns) }
	spend(bare) // opens the connections
	spend(gated)
	var wall, cpu []float64
	var gatedCosts, bareCosts []cost
	for i := 0; b.Loop(); i++ {
		var o, t cost
		if i%2 == 0 {
			o, t = spend(gated), spend(bare)
		} else {
			t, o = spend(bare), spend(gated)
		}
		gatedCosts, bareCosts = append(gatedCosts, o), append(bareCosts, t)
		wall, cpu = append(wall, o.wall/t.wall), append(cpu, o.cpu/t.cpu)
	}
	slices.Sort(wall)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(quantile(wall, 0.25), "25%")
	b.ReportMetric(quantile(wall, 0.5), "wall-ratio")
	b.ReportMetric(quantile(wall, 0.75), "75%")
	b.ReportMetric(median(cpu), "cpu-ratio")
	for name, of := range map[string]func(cost) float64{
		"wall-µs": func(c cost) float64 { return c.wall }, "cpu-µs": func(c cost) float64 { return c.cpu },
		"allocs": func(c cost) float64 { return c.allocs }, "B": func(c cost) float64 { return c.bytes },
	} {
		b.ReportMetric(median(each(gatedCosts, of)), name+"/gated")
		b.ReportMetric(median(each(bareCosts, of)), name+"/bare")
	}
}

// spent runs n conversations with the given number of turns, width at a time,
// and returns their cost.
func spent(run func(), width, n, turns int) cost {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun, cpu := time.Now(), processor.Time()
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for range width {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				run()
			}
		})
	}
	all.Wait()
	wall, cpu := time.Since(begun), processor.Time()-cpu
	runtime.ReadMemStats(&after)
	each := 1 / float64(n*turns)
	return cost{
		float64(wall.Microseconds()) * each, float64(cpu.Microseconds()) * each,
		float64(after.Mallocs-before.Mallocs) * each, float64(after.TotalAlloc-before.TotalAlloc) * each,
	}
}

func each(costs []cost, of func(cost) float64) []float64 {
	list := make([]float64, len(costs))
	for i, c := range costs {
		list[i] = of(c)
	}
	return list
}

func median(list []float64) float64 {
	slices.Sort(list)
	return quantile(list, 0.5)
}

func quantile(sorted []float64, q float64) float64 { return sorted[int(q*float64(len(sorted)-1)+0.5)] }

// bareClient returns a client that keeps 64 connections open. Go's default
// client keeps two.
func bareClient(url string) *gopenai.Client {
	config := gopenai.DefaultConfig("key")
	config.BaseURL = url
	pooled := http.DefaultTransport.(*http.Transport).Clone()
	pooled.MaxIdleConns, pooled.MaxIdleConnsPerHost = 0, 128
	config.HTTPClient = &http.Client{Transport: pooled}
	return gopenai.NewClientWithConfig(config)
}

var question = strings.Repeat("a word ", spoken/7)

func bareRun(b *testing.B, client *gopenai.Client, turns int) func() {
	return func() {
		var messages []gopenai.ChatCompletionMessage
		for range turns {
			messages = append(messages, gopenai.ChatCompletionMessage{Role: "user", Content: question})
			resp, err := client.CreateChatCompletion(context.Background(), gopenai.ChatCompletionRequest{Model: "m", Messages: messages})
			if err != nil {
				b.Error(err)
				return
			}
			messages = append(messages, gopenai.ChatCompletionMessage{Role: "assistant", Content: resp.Choices[0].Message.Content})
		}
	}
}

func gatedRun(b *testing.B, url string, w workload, turns int, more ...runner.Option) func() {
	client, err := openai.New(openai.Options{BaseURL: url, APIKey: "key"})
	if err != nil {
		b.Fatal(err)
	}
	r := newRunner(b, append(more, runner.WithModel(client), runner.WithModelName("m"))...)
	c := parsed(b, r, fmt.Sprintf(w.cascade, turns))
	input := map[string]any{"words": question}
	return func() {
		if _, err := r.Run(context.Background(), c, input); err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkInFlight reports the memory of runs that wait for their model over
// separate connections. The unit is KB of heap and stacks per run.
func BenchmarkInFlight(b *testing.B) {
	const runs = 500
	url := modelServer(b, workloads[0].reply)
	for b.Loop() {
		before := heap()
		client, err := openai.New(openai.Options{BaseURL: url + "/held", APIKey: "key", Concurrency: runs})
		if err != nil {
			b.Fatal(err)
		}
		r := newRunner(b, runner.WithModel(client), runner.WithModelName("m"))
		c := parsed(b, r, fmt.Sprintf(workloads[0].cascade, 1))
		var all sync.WaitGroup
		for range runs {
			all.Go(func() {
				if _, err := r.Run(context.Background(), c, map[string]any{"words": question}); err != nil {
					b.Error(err)
				}
			})
		}
		for asked(b, url+"/asked") < runs {
			time.Sleep(time.Millisecond)
		}
		b.ReportMetric(float64(heap()-before)/runs/1024, "KB/run")
		asked(b, url+"/release")
		all.Wait()
	}
}

// asked returns the number of runs that wait for the model.
func asked(b *testing.B, url string) (n int) {
	resp, err := http.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := fmt.Fscan(resp.Body, &n); err != nil {
		b.Fatal(err)
	}
	return n
}

// reply is the environment variable with the model's answer. If it is set, this
// process is the model.
const reply = "CAPSTAN_BENCH_REPLY"

func TestMain(m *testing.M) {
	if text := os.Getenv(reply); text != "" {
		beModel(text)
		return
	}
	os.Exit(m.Run())
}

// modelServer starts a model in its own process, so that its time does not
// count as the client's. It returns the address.
func modelServer(b *testing.B, text string) string {
	b.Helper()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), reply+"="+text)
	hold, err := server.StdinPipe() // the model ends with this process
	if err != nil {
		b.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { hold.Close(); server.Wait() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(url)
}

// beModel serves the chat completions protocol until its standard input ends.
// It sets Content-Length, because go-openai does not read a chunked answer to
// its end and cannot reuse the connection.
func beModel(text string) {
	answer := fmt.Sprintf(`{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, text)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	var waiting atomic.Int64
	release := make(chan struct{})
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/v1/held/chat/completions":
			waiting.Add(1)
			<-release
			waiting.Add(-1)
		case "/v1/release":
			for range waiting.Load() {
				release <- struct{}{}
			}
			fallthrough
		case "/v1/asked":
			fmt.Fprintln(w, waiting.Load())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		io.WriteString(w, answer)
	}))
	fmt.Println("http://" + listener.Addr().String() + "/v1")
	io.Copy(io.Discard, os.Stdin)
}
