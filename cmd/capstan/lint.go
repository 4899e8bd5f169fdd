package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/proofs"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/tool"
)

func (c *Command) lint() *cobra.Command {
	f := lintFlags{format: "text", falsePass: 0.05}
	cmd := &cobra.Command{
		Use:   "lint FILE|DIR...",
		Short: "Check cascade files and report every mistake",
		Long: `Check files, the files that a pattern such as 'gates/*.yaml' matches, and the cascades
in a folder. --fix corrects a misspelt key or name if only one correction is possible.
--proof lists each path from a model's text to a tool that writes, with the gates on the
path; --proof=strict also requires evidence from capstan measure stats.`,
		Annotations: exitStatus("0 no mistake (warnings are allowed), 1 not proven, 2 a mistake"),
		Example: `  capstan lint post.yaml
  capstan lint --proof post.yaml
  capstan lint --fix cascades/
  capstan lint --format github 'cascades/*.yaml'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := cascadeFiles(args)
			if err != nil {
				return err
			}
			return c.lintFiles(files, f)
		},
	}
	choose(cmd, &f.format, "format", "output format", "text", "short", "json", "sarif", "github", "dot")
	jsonFlag(cmd, &f.format)
	cmd.Flags().BoolVar(&f.fix, "fix", false, "correction of mistakes with only one possible fix")
	cmd.Flags().BoolVar(&f.strict, "strict", false, flagTexts["strict"])
	choose(cmd, &f.proof, "proof", "proof that every path to a tool that writes has a gate, measured if strict", proofGated, proofStrict)
	cmd.Flags().Lookup("proof").NoOptDefVal = proofGated
	cmd.Flags().Float64Var(&f.falsePass, "false-pass", f.falsePass, "share of bad texts that a gate may pass, for --proof=strict")
	c.names.add(cmd)
	return cmd
}

// lintFlags are the flags of lint.
type lintFlags struct {
	format      string
	fix, strict bool
	proof       string
	falsePass   float64
}

// The values of --proof.
const (
	proofGated  = "gated"
	proofStrict = "strict"
)

func (f lintFlags) check() error {
	switch {
	case f.proof == "" && f.format == "dot":
		return usage("--format dot is for --proof: capstan graph draws a cascade")
	case !(f.falsePass > 0 && f.falsePass < 1):
		return usage("--false-pass must be a share over 0 and under 1, not %v", f.falsePass)
	}
	return nil
}

func (c *Command) lintFiles(files []string, f lintFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	r, err := c.reader()
	if err != nil {
		return err
	}
	findings := syntax.Diagnostics{}
	broken, bare := false, false
	var proven []*proofs.Proof
	for _, file := range files {
		d := c.diagnostics(r, file)
		for round := 0; f.fix && round < maxRounds; round++ {
			made, err := c.fixFiles(d)
			if err != nil {
				return err
			}
			if made == 0 {
				break
			}
			d = c.diagnostics(r, file)
		}
		var lacks syntax.Diagnostics
		if f.proof != "" && !d.Broken() {
			var p *proofs.Proof
			if p, lacks, err = f.proofOf(r, file); err != nil {
				return err
			}
			proven, bare = append(proven, p), bare || len(lacks) > 0
		}
		if f.strict {
			d = d.Strict()
		}
		broken = broken || d.Broken()
		findings = append(findings, inOrder(file, slices.Concat(d, lacks))...)
	}
	if err := c.printLint(findings, proven, f); err != nil {
		return err
	}
	switch {
	case broken:
		return &exit{status: exitUsage}
	case bare:
		return &exit{status: exitNo}
	case len(findings) == 0 && f.proof == "" && (f.format == "text" || f.format == "short"):
		_, err := fmt.Fprintf(c.Stdout, "%s, nothing wrong\n", reports.Count(len(files), "file"))
		return err
	}
	return nil
}

// proofOf returns the proof of a valid file, and diagnostics for the missing
// parts.
func (f lintFlags) proofOf(r *runner.Runner, file string) (*proofs.Proof, syntax.Diagnostics, error) {
	c, err := r.Load(file)
	if err != nil {
		return nil, nil, err
	}
	p := proofs.Of(c)
	lacks := p.Diagnostics()
	if f.proof == proofStrict {
		lacks = append(lacks, p.Unmeasured(f.falsePass, "", runner.ReadFile)...)
	}
	return p, lacks, nil
}

// printLint prints the diagnostics, and the proofs for --proof.
func (c *Command) printLint(found syntax.Diagnostics, proofs []*proofs.Proof, f lintFlags) error {
	read := sources{}
	read.complete(found)
	switch {
	case f.proof != "" && f.format == "json":
		return printJSON(c.Stdout, map[string]any{"diagnostics": found, "proofs": proofs})
	case f.proof != "" && (f.format == "text" || f.format == "short"):
		for _, p := range proofs {
			fmt.Fprint(c.visible(), p.Text())
		}
	case f.format == "dot":
		for _, p := range proofs {
			fmt.Fprint(c.Stdout, p.Graph().Dot())
		}
		return nil
	}
	return c.printDiagnostics(found, read, f.format)
}

// maxRounds is the maximum number of times a file is read again after a fix,
// because a fix may reveal other mistakes.
const maxRounds = 10

// diagnostics returns all diagnostics of a file.
func (c *Command) diagnostics(r *runner.Runner, file string) syntax.Diagnostics {
	cascade, err := r.Load(file)
	found := wrong(cascade, err)
	if cascade == nil || err != nil {
		return found
	}
	found = append(slices.Clip(found), cascade.Absent()...)
	m := newModels(c.Getenv, false, nil, c.names.root)
	for _, wrong := range m.unpriced(cascade, cascade.Asking(cascades.Chosen(m.chosen("", file)), nil)) {
		at := cascade.Where(cascades.Ending{Way: []string{"budget", "max_cost_usd"}})
		found = append(found, syntax.Diagnostic{Position: at, Code: codes.Price, Message: wrong.Error(), Severity: syntax.Warning})
	}
	return found
}

// inOrder sorts findings by file, line and column. The findings of root come first, and
// the other files keep their order.
func inOrder(root string, found syntax.Diagnostics) syntax.Diagnostics {
	first := map[string]int{root: -1}
	for i, d := range found {
		if _, seen := first[d.File]; !seen {
			first[d.File] = i
		}
	}
	slices.SortStableFunc(found, func(a, b syntax.Diagnostic) int {
		return cmp.Or(cmp.Compare(first[a.File], first[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return found
}

// wrong returns the diagnostics of a loaded cascade or of its error.
func wrong(read *cascades.Cascade, err error) syntax.Diagnostics {
	var d syntax.Diagnostics
	if !errors.As(err, &d) && read != nil {
		d = read.Warnings
	}
	return d
}

// fixFiles applies the safe fixes and returns their number.
func (c *Command) fixFiles(found syntax.Diagnostics) (int, error) {
	all := 0
	var done []string
	for _, d := range found {
		if d.Fix == nil || !d.Fix.Sure || slices.Contains(done, d.Fix.File) {
			continue
		}
		file := d.Fix.File
		done = append(done, file)
		text, err := os.ReadFile(file)
		if err != nil {
			return all, fmt.Errorf("fix: %w", err)
		}
		fixed, made := found.Fixed(file, text)
		if made == 0 {
			continue
		}
		if err := writeOver(file, fixed); err != nil {
			return all, notWritten(fmt.Errorf("fix: %w", err))
		}
		fmt.Fprintf(c.Stderr, "%s: %d fixed\n", file, made)
		all += made
	}
	return all, nil
}

// cascadeFiles returns the files of the arguments of lint, each once.
func cascadeFiles(args []string) ([]string, error) {
	var files []string
	add := func(name string) {
		if !slices.Contains(files, name) && !isScript(name) {
			files = append(files, name)
		}
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		matches, _ := filepath.Glob(arg)
		switch {
		case err == nil && info.IsDir():
			within, err := cascadesWithin(arg)
			if err != nil {
				return nil, fmt.Errorf("folder %s: %w", arg, err)
			}
			if len(within) == 0 {
				return nil, noCascade("folder " + arg + " contains no cascade")
			}
			for _, name := range within {
				add(name)
			}
		case err != nil && len(matches) > 0:
			meant := slices.DeleteFunc(matches, func(name string) bool { return !meantAsCascade(name) })
			if len(meant) == 0 {
				return nil, noCascade("no file called " + arg + " is a cascade")
			}
			for _, name := range meant {
				add(name)
			}
		case err != nil && strings.ContainsAny(arg, "*?["):
			return nil, usage("no file is called %s", arg)
		default:
			add(arg)
		}
	}
	if len(files) == 0 {
		return nil, noCascade("the files are scripts of models, and no cascade")
	}
	return files, nil
}

// noCascade returns the error of a command line that names no cascade.
func noCascade(problem string) error {
	return usage("%s: a cascade is a .yaml, .yml or .json file with the key cascade_id", problem)
}

// cascadesWithin lists the cascade files in a folder, in order. It skips hidden
// files and the folders of package managers.
func cascadesWithin(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.Type().IsRegular() && meantAsCascade(name):
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

func isScript(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, filepath.Ext(name)), ".scripted")
}

// meantAsCascade reports whether a file is a cascade, valid or not.
func meantAsCascade(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml" || ext == ".json") && !isScript(name) && isCascade(name)
}

func (c *Command) printDiagnostics(found syntax.Diagnostics, read sources, format string) error {
	switch format {
	case "json":
		return printJSON(c.Stdout, map[string]any{"diagnostics": found})
	case "github":
		for _, d := range found {
			at := "file=" + property(d.File)
			if d.Line > 0 { // otherwise the file cannot be read
				at += fmt.Sprintf(",line=%d,endLine=%d,col=%d,endColumn=%d", d.Line, d.EndLine, d.Column, d.EndColumn)
			}
			fmt.Fprintf(c.Stdout, "::%s %s,title=%s::%s\n", d.Severity, at, property(d.Code), data(d.Text()))
		}
		return nil
	case "sarif":
		var all reports.Case
		for _, d := range found {
			all.Findings = append(all.Findings, reports.Finding{
				Rule: d.Code, Level: reports.Level(d.Severity), Message: d.Text(),
				File: d.File, Line: d.Line, Column: d.Column, EndLine: d.EndLine, EndColumn: d.EndColumn,
			})
		}
		return c.printReport(&reports.Report{Cases: []reports.Case{all}}, format)
	case "short":
		for _, d := range found {
			fmt.Fprintln(c.visible(), d)
		}
		return nil
	}
	read.print(c.visible(), found)
	return nil
}

// data and property escape the texts of an annotation, as GitHub's toolkit
// does.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}

// reader returns a runner that only reads cascade files. It knows every tool.
func (c *Command) reader() (*runner.Runner, error) {
	return runner.New(append([]runner.Option{withGates(), runner.WithTools(tools(tool.Options{})...), runner.WithRemote(&remote{})}, c.names.options()...)...)
}

// load reads a cascade file without running it.
func (c *Command) load(file string) (*cascades.Cascade, error) {
	r, err := c.reader()
	if err != nil {
		return nil, err
	}
	return r.Load(file)
}
