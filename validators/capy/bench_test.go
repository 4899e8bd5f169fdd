package capy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/validatorstest/processor"
)

// longOutput makes an output of about n bytes: the good one of BASE_T1 with its
// narrative and its graph made longer.
func longOutput(t testing.TB, n int) []byte {
	text := good(t, "BASE_T1")
	para := "### Routes in year %d\n\nThe freight yield rose by 3.1%% and the **DR** of the sector is nobody's concern; P(delay) = 0.2 on the northern routes, and revenue followed.\n\n| Route | Revenue | ROIC |\n|---|---|---|\n| North | $4.1M | 11.2%% |\n| South | $3.9M | 10.4%% |\n\n"
	node := "      \"Route_%d\": {\"parents\": [\"Sailings\", \"Yield\"], \"equation\": \"GET('Sailings') * GET('Yield')\", \"Y0\": 41.5, \"description\": \"what the route earns in a year\"},\n"
	var prose, nodes strings.Builder
	for i := 0; prose.Len()+nodes.Len()+len(text) < n; i++ {
		fmt.Fprintf(&prose, para, i)
		for j := range 3 {
			fmt.Fprintf(&nodes, node, i*3+j)
		}
	}
	text = strings.Replace(text, "## Narrative IV", prose.String()+"## Narrative IV", 1)
	return []byte(strings.Replace(text, "      \"Sailings\": {\"parents\": []", nodes.String()+"      \"Sailings\": {\"parents\": []", 1))
}

func BenchmarkJudge(b *testing.B) {
	for _, stage := range Stages() {
		for _, size := range []int{100_000, 1_000_000, 50_000_000} {
			if size > 100_000 && stage != "BASE_T1" && stage != "SCENARIO_T1" {
				continue
			}
			text := longOutput(b, size)
			gate, err := New(Options{Stage: stage})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/%dkB", stage, size/1000), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					gate.Judge(text)
				}
			})
		}
	}
}

// BenchmarkReal judges the real documents under each stage, where they are; beside the
// mean of all it tells what the median document takes, and the densest one.
func BenchmarkReal(b *testing.B) {
	files, _ := filepath.Glob("../../../shared/data/capy/*_*.md")
	var texts [][]byte
	size := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		texts, size = append(texts, text), size+len(text)
	}
	if size == 0 {
		b.Skip("no real documents here")
	}
	for _, stage := range Stages() {
		gate, err := New(Options{Stage: stage})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(stage, func(b *testing.B) {
			b.SetBytes(int64(size))
			took := make([]time.Duration, len(texts))
			for b.Loop() {
				for i, text := range texts {
					begin := time.Now()
					gate.Judge(text)
					took[i] += time.Since(begin)
				}
			}
			var each []float64 // ms per 100 KB of each document
			for i, text := range texts {
				each = append(each, took[i].Seconds()*1e3/float64(b.N)/float64(len(text))*100_000)
			}
			slices.Sort(each)
			b.ReportMetric(each[len(each)/2], "median-ms/100kB")
			b.ReportMetric(each[len(each)-1], "most-ms/100kB")
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N)/float64(size)*100_000, "ms/100kB")
		})
	}
}

// hostile are texts made to cost time or memory.
func hostile(n int) map[string]string {
	return map[string]string{
		"open braces":       strings.Repeat("{", n),
		"open brackets":     strings.Repeat("[", n),
		"closing brackets":  strings.Repeat("[[{", n/6) + strings.Repeat("}]", n/4),
		"braces in a fence": "# T\n```json\n" + strings.Repeat("{", n) + "\n```\n",
		"keys in a fence":   "# T\n```json\n" + strings.Repeat(`{"a":`, n/5) + "\n```\n",
		"nested arrays":     "# T\n```json\n" + strings.Repeat("[", n/2) + strings.Repeat("]", n/2) + "\n```\n",
		"commas":            "# T\n```json\n[" + strings.Repeat("1,,", n/3) + "]\n```\n",
		"quotes":            "# T\n```json\n{" + strings.Repeat(`"`, n) + "}\n```\n",
		"single quotes":     "# T\n```json\n[" + strings.Repeat(`'a `, n/3) + "]\n```\n",
		"many keys":         "# T\n```json\n{" + manyKeys(n) + "\"z\": 1}\n```\n",
		"same keys":         "# T\n```json\n{" + strings.Repeat(`"a":1,`, n/6) + "\"a\": 1}\n```\n",
		"backticks":         strings.Repeat("`", n),
		"fences":            strings.Repeat("```\n", n/4),
		"opening fences":    strings.Repeat("```json\n", n/8),
		"headings":          strings.Repeat("# A.7\n", n/6),
		"hashes":            strings.Repeat("#", n),
		"one long line":     strings.Repeat("The IVPS = 23.45 and DR = 14% (P(IRR > ", n/40),
		"long line":         strings.Repeat("x ", n/2),
		"artifacts":         "# " + strings.Repeat("A.7 - A.8 ", n/10),
		"bars":              strings.Repeat("|", n),
		"rows":              "|a|b|\n|-|-|\n" + strings.Repeat("|IVPS|1.5|\n", n/11),
		"columns":           "# T\n" + strings.Repeat("|τ|CR|\n|-|-|\n|a|TBD|\n\n", n/28),
		"cells":             "|a|b|\n|-|-|\n" + strings.Repeat("|IVPS|1.5", n/9),
		"equal signs":       "IVPS " + strings.Repeat("= ", n/2),
		"labels":            strings.Repeat("IVPS ", n/5),
		"X labels":          strings.Repeat("X_T1 = X_REFINE = ", n/18),
		"parentheses":       strings.Repeat("IVPS (", n/6),
		"line ends":         strings.Repeat("\n", n),
		"returns":           strings.Repeat("\r\n", n/2),
		"spaces":            strings.Repeat(" ", n),
		"stars":             strings.Repeat("*", n),
		"quote marks":       strings.Repeat("> ", n/2),
		"comments":          "# T\n" + strings.Repeat("<!--\n", n/5),
		"closed comments":   "### JPD\n" + strings.Repeat("<!-- a -->\n", n/11),
		"tags":              strings.Repeat("<table><tr><td>IVPS<th>1.5", n/26),
		"lines of tags":     strings.Repeat("<table>\n<tr>\n<td>IVPS\n", n/23),
		"joint states":      "### JPD\n" + strings.Repeat("- S1, S2: 0.5\n\nx\n", n/17),
		"raw JSON":          "# T\n" + strings.Repeat("{\"a\": [\n", n/9),
		"closed raw JSON":   "# T\n" + strings.Repeat("{\"a\":\n", n/16) + "1" + strings.Repeat("}\n", n/16),
		"bad raw JSON":      "# T\n" + strings.Repeat("{\"a\": [,\n\"b\"]}\n", n/16),
		"series":            "# T\n" + strings.Repeat("IVPS: State 1: $1; State 2: $2, ", n/32),
		"side by side":      "# T\n" + strings.Repeat("DR / g / IVPS / ", n/16),
		"spaced rows":       "# T\n```\nIVPS  DR  g\n----  --  --\n" + strings.Repeat("$1.50  9%  2%\n", n/14) + "```\n",
		"small tables":      "# T\n" + strings.Repeat("|DR|\n|-|\n|9%|\n\n", n/16),
		"links":             strings.Repeat("[a](", n/4),
		"not UTF-8":         strings.Repeat("\xff\xfe\x80 S1 ", n/7),
		"zeros":             strings.Repeat("\x00", n),
		"scenarios":         "# T\n" + strings.Repeat("S1 S2 P: 0.3\n", n/13),
		"scenario line":     "# T\n" + strings.Repeat("S1, S2 P = 0.3 ", n/15),
		"questions":         "# T\n" + strings.Repeat("RQ1 RQ2 ", n/8),
		"question lines":    "# T\n" + strings.Repeat("RQ1: AS\n", n/8),
		"digits":            "IVPS = " + strings.Repeat("9", n),
		"commas in digits":  "IVPS = " + strings.Repeat("1,111", n/5),
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "\"k%d\":1,", i)
	}
	return b.String()
}

// TestHostileTexts holds what is made to hurt to the time of the processor that what
// is not takes, with room for a slow machine: a quadratic walk would take minutes.
// It is more than what is looked at of one line or opened at once.
func TestHostileTexts(t *testing.T) {
	const n = 1 << 17
	for name, text := range hostile(n) {
		t.Run(name, func(t *testing.T) {
			for _, stage := range []string{"BASE_T1", "BASE_REFINE", "SCENARIO_T2", "SCENARIO_T1", "RQ_GEN", "SC", "INT_T3", "IRR_T1"} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := processor.Time()
				r := judge(t, stage, text)
				took := processor.Time() - start
				runtime.ReadMemStats(&after)
				if took > 4*time.Second {
					t.Errorf("%s took %v", stage, took)
				}
				if testing.Verbose() {
					t.Logf("%s %s: %v, %d kB allocated", stage, r.Status, took, (after.TotalAlloc-before.TotalAlloc)/1000)
				}
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	gate, err := New(Options{Stage: "BASE_T1"})
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"1 MB of {": bytes.Repeat([]byte("{"), 1<<20), "10 MB of backticks": bytes.Repeat([]byte("`"), 10<<20),
		"one 20 MB line": bytes.Repeat([]byte("word "), 4<<20), "10 MB not UTF-8": bytes.Repeat([]byte("\xff"), 10<<20),
		"1 MB of labels": bytes.Repeat([]byte("IVPS "), 1<<20/5), "1 MB of labels and values": bytes.Repeat([]byte("IVPS = 23.45 DR: 14% "), 1<<20/21),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				gate.Judge(text)
			}
		})
	}
}
