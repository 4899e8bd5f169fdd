package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
)

// long returns a cascade of 2,000 lines.
func long() string {
	var text strings.Builder
	text.WriteString("cascade_id: long\nbudget: {max_phases: 500}\nvalidators:\n  tone: {judge: Is it friendly}\nphases:\n")
	for i := range 200 {
		fmt.Fprintf(&text, "  - name: p%d\n    instructions: |\n      Write on {{ input.topic | upper }}.\n      Go on.\n    output_schema: {type: object, properties: {title: {type: string}, part%d: {type: string}}}\n    wards:\n      post:\n        - {validator: tone, mode: retry}\n        - {expr: \"len(content) > %d && output.title != ''\"}\n    rules: {max_attempts: 3}\n", i, i, i)
	}
	return text.String()
}

// BenchmarkKeystroke measures the time from a keystroke in a file of 2,000
// lines to the diagnostics. The server is a process on standard input and
// output, as in an editor. A template is typed and deleted, and most of the
// intermediate texts have errors. It reports the median and the 95th percentile
// of 100 keystrokes, and their CPU time.
func BenchmarkKeystroke(b *testing.B) {
	cmd := exec.Command(itself(b), "lsp")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	e := &editor{t: b, dir: b.TempDir(), diagnostics: make(chan *protocol.PublishDiagnosticsParams, 100), texts: map[string]string{}}
	e.connect(&ends{out, in})
	text := long()
	if wrong := e.type_("long.yaml", text); len(wrong) != 0 {
		b.Fatal(wrong)
	}
	before, _, _ := strings.Cut(text[strings.Index(text, "p150"):], "Go on.")
	at := e.place("long.yaml", text[:strings.Index(text, "p150")]+before).Position
	var waits []float64
	keys := 0
	for b.Loop() {
		for i, key := range "Of {{ input.topic | upper }}, and more. " {
			here := at
			here.Character += uint32(i)
			waits = append(waits, e.press(protocol.Range{Start: here, End: here}, string(key)))
			keys++
		}
		e.press(protocol.Range{Start: at, End: protocol.Position{Line: at.Line, Character: at.Character + 40}}, "")
		keys++
	}
	e.leave()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	slices.Sort(waits)
	b.ReportMetric(waits[len(waits)/2], "ms/key")
	b.ReportMetric(waits[len(waits)*95/100], "ms/slow-key")
	b.ReportMetric(1000*(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds()/float64(keys+1), "cpu-ms/key")
	b.ReportMetric(0, "ns/op")
}

// press changes long.yaml and returns the milliseconds until the diagnostics
// arrive.
func (e *editor) press(where protocol.Range, key string) float64 {
	e.t.Helper()
	e.number++
	began := time.Now()
	if err := e.server.DidChange(e.t.Context(), &protocol.DidChangeTextDocumentParams{
		TextDocument:   protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: e.uri("long.yaml")}, Version: e.number},
		ContentChanges: []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangePartial{Range: where, Text: key}},
	}); err != nil {
		e.t.Fatal(err)
	}
	e.wrong("long.yaml")
	return 1000 * time.Since(began).Seconds()
}
