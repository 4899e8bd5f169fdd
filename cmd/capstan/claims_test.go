package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// pageNames returns the paths of the pages for people, relative to the root: those in the
// root folder, and those in docs and its subfolders.
func pageNames(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("docs", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil || !slices.Contains(names, "README.md") {
		t.Fatal(names, err)
	}
	return names
}

// pagesOf returns the texts of the pages for people by their paths.
func pagesOf(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range pageNames(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// TestReadmeCountsValidators compares the README's number of validators that
// need no call with the validators. -update writes the number.
func TestReadmeCountsValidators(t *testing.T) {
	t.Chdir("../..")
	var out bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
	if status := c.Run(t.Context(), []string{"list", "validators", "--json"}); status != exitOK {
		t.Fatal(out.String())
	}
	var list []struct{ Kind string }
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	computed := 0
	for _, v := range list {
		if v.Kind == "computed" {
			computed++
		}
	}
	page, claim := pagesOf(t)["README.md"], regexp.MustCompile(`(expressions and )(\d+)(\s+of the built-in validators)`)
	stated := claim.FindStringSubmatch(page)
	switch {
	case stated == nil:
		t.Error("the README does not say how many there are")
	case *update:
		page = claim.ReplaceAllString(page, "${1}"+strconv.Itoa(computed)+"${3}")
		if err := os.WriteFile("README.md", []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	case stated[2] != strconv.Itoa(computed):
		t.Errorf("the README says %s; %d are computed", stated[2], computed)
	}
}

// TestPagesNameVerbs checks that every verb and flag in a page exists.
func TestPagesNameVerbs(t *testing.T) {
	t.Chdir("../..")
	root := (&Command{Getenv: func(string) string { return "" }}).root(nil)
	code := regexp.MustCompile("(?ms)^```(?:sh|console)\n(.*?)^```$|`([^`\n]+)`")
	// The verb follows the command at the start of a line, in inline code, or
	// after an operator.
	command := regexp.MustCompile(`(?m)(?:^|\| |&& |\$ )(?:go run \./cmd/)?capstan ((?:[a-z][a-z-]* ?)+)(.*)$`)
	flag := regexp.MustCompile(`(?:^| )--([a-z][a-z-]*)`)
	n := 0
	for page, text := range pagesOf(t) {
		for _, m := range code.FindAllStringSubmatch(text, -1) {
			for _, invocation := range command.FindAllStringSubmatch(strings.ReplaceAll(m[1]+m[2], "\\\n", " "), -1) {
				n++
				verb, _, err := root.Find(strings.Fields(invocation[1]))
				if err != nil || verb == root {
					t.Errorf("%s: capstan %s: no such verb", page, invocation[1])
					continue
				}
				rest, _, _ := strings.Cut(invocation[2], "#")
				for _, f := range flag.FindAllStringSubmatch(" "+rest, -1) {
					if verb.Flags().Lookup(f[1]) == nil && verb.InheritedFlags().Lookup(f[1]) == nil {
						t.Errorf("%s: capstan %s has no --%s", page, verb.Name(), f[1])
					}
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d commands", n)
	}
}

// Every flag that SECURITY.md names exists.
func TestSecurityFlags(t *testing.T) {
	t.Chdir("../..")
	flags := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit((&Command{Getenv: func(string) string { return "" }}).root(nil))
	named := regexp.MustCompile("`(?:[a-z-]+ )?--([a-z-]+)").FindAllStringSubmatch(pagesOf(t)["SECURITY.md"], -1)
	for _, m := range named {
		if !flags[m[1]] {
			t.Errorf("no verb has --%s", m[1])
		}
	}
	if len(named) < 20 {
		t.Errorf("only %d flags", len(named))
	}
}

// TestPagesLink checks that every link leads to an existing file and heading,
// except links in code. Every example that a page names by its path must exist.
func TestPagesLink(t *testing.T) {
	t.Chdir("../..")
	pages := pagesOf(t)
	link, inlineCode := regexp.MustCompile(`\]\(([^)\s]+)\)`), regexp.MustCompile("``.*?``|`[^`\n]*`")
	titled := map[string]map[string]bool{} // the headings of each page
	for page, text := range pages {
		titled[page] = headings(text)
	}
	example := regexp.MustCompile(`cascades/examples/[\w.]+\.(?:ya?ml|json|md|sh)`)
	for page, text := range pages {
		for _, m := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), -1) {
			file, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			at := page
			if file != "" {
				at = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s: %v", page, err)
			}
			if heading != "" && !titled[at][heading] {
				t.Errorf("%s: %s has no heading #%s", page, at, heading)
			}
		}
		for _, name := range example.FindAllString(text, -1) {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

var (
	titleLine = patterns.Lazy(`(?m)^#+ (.*)$`)
	unlinked  = patterns.Lazy(`[^\p{L}\p{N} _-]`)
)

// headings returns the anchors of a page's headings.
func headings(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range titleLine().FindAllStringSubmatch(page, -1) {
		plain := unlinked().ReplaceAllString(strings.ToLower(m[1]), "")
		all[strings.ReplaceAll(plain, " ", "-")] = true
	}
	return all
}

// TestExitCodes compares the tables of exit codes with the codes.
func TestExitCodes(t *testing.T) {
	t.Chdir("../..")
	want := map[int]string{
		exitOK: "succeeded", exitNo: "rejected", exitUsage: "usage", exitBroken: "error",
		exitWaiting: "waiting for a person", exitBudget: "over budget", exitInterrupted: "interrupted",
	}
	for page, title := range map[string]string{"README.md": "## Exit codes\n", "docs/reference/exit-codes.md": "# Exit codes\n"} {
		_, rest, _ := strings.Cut(pagesOf(t)[page], title)
		table, _, _ := strings.Cut(rest, "\n## ")
		rows := regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \|$`).FindAllStringSubmatch(table, -1)
		if len(rows) != len(want) {
			t.Errorf("%s has %d rows for %d codes", page, len(rows), len(want))
		}
		for _, row := range rows {
			code, _ := strconv.Atoi(row[1])
			if meaning := want[code]; meaning == "" || !strings.HasPrefix(row[2], meaning) {
				t.Errorf("%s: %s: %q", page, row[1], row[2])
			}
		}
	}
}

// TestPagesScripted runs the page commands that use a scripted model. Each must
// succeed after the earlier commands of its block, with the repository's files.
func TestPagesScripted(t *testing.T) {
	t.Chdir("../..")
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for page, text := range pagesOf(t) {
		for _, m := range fenced.FindAllStringSubmatch(text, -1) {
			if m[1] != "sh" || !strings.Contains(m[2], "--model scripted") {
				continue
			}
			n++
			t.Chdir(t.TempDir())
			for _, name := range []string{"cascades", "README.md"} {
				if err := os.Symlink(filepath.Join(root, name), name); err != nil {
					t.Fatal(err)
				}
			}
			for line := range strings.Lines(strings.ReplaceAll(m[2], "\\\n", " ")) {
				follow(t, page, strings.TrimSpace(line))
			}
		}
	}
	if n == 0 {
		t.Error("no page has a scripted command")
	}
}

// follow runs a line of a page if the line is a capstan command.
func follow(t *testing.T, page, line string) {
	t.Helper()
	command, ok := strings.CutPrefix(strings.TrimPrefix(line, "go run ./cmd/"), "capstan ")
	if !ok {
		return
	}
	command, _, _ = strings.Cut(command, " #")
	command, file, redirected := strings.Cut(command, " > ")
	var out, stderr bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr, Getenv: func(name string) string {
		return map[string]string{"CAPSTAN_STORE": "runs.db"}[name]
	}}
	if status := c.Run(t.Context(), shellWords(command)); status != exitOK {
		t.Errorf("%s: capstan %s: status %d\n%s%s", page, command, status, &out, &stderr)
	}
	if !redirected {
		return
	}
	if err := os.WriteFile(strings.TrimSpace(file), out.Bytes(), 0o600); err != nil {
		t.Error(err)
	}
}

// TestPerformanceFigures compares the page on performance with the first table
// of the benchmark's results. The text must have the table's figures for ten
// turns.
func TestPerformanceFigures(t *testing.T) {
	t.Chdir("../..")
	page := pagesOf(t)["docs/explanation/performance.md"]
	results, err := os.ReadFile("bench/RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, want := figures(page), figures(string(results))
	if len(rows) == 0 || !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("the page has\n%v\nand bench/RESULTS.md\n%v", rows, want)
	}
	text := regexp.MustCompile(`the loop takes ([\d.]+), Capstan takes ([\d.]+), and Capstan with a\s+stored run takes ([\d.]+)\.`).FindStringSubmatch(page)
	if len(rows) < 5 || text == nil {
		t.Fatal("the page compares nothing")
	}
	const tenTurns = 2 // the column
	if got := []string{rows[2][tenTurns], rows[3][tenTurns], rows[4][tenTurns]}; !slices.Equal(text[1:], got) {
		t.Errorf("the text has %v, and the table %v", text[1:], got)
	}
}

// figures returns the first number of each cell of the first table whose named rows
// have six numbers.
func figures(page string) [][]string {
	row := regexp.MustCompile(`^\| [^|]+ \|` + strings.Repeat(`\s*([\d.]+)[^|]*\|`, 6) + `$`)
	var rows [][]string
	for line := range strings.Lines(page) {
		if m := row.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			rows = append(rows, m[1:])
		} else if strings.HasPrefix(line, "#") && rows != nil {
			break
		}
	}
	return rows
}
