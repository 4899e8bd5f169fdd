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
	"github.com/seed61713e19/capstan/cascades/proofs"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/sarif"
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
	choose(cmd, &f.format, "format", "output format", "text", "json", "sarif", "github", "dot")
	jsonFlag(cmd, &f.format)
	cmd.Flags().BoolVar(&f.fix, "fix", false, "correction of mistakes with only one possible fix")
	cmd.Flags().BoolVar(&f.strict, "strict", false, flagTexts["strict"])
	choose(cmd, &f.proof, "proof", "proof that every path to a tool that writes has a gate, measured if strict", proofGated, proofStrict)
	cmd.Flags().Lookup("proof").NoOptDefVal = proofGated
	cmd.Flags().Float64Var(&f.falsePass, "false-pass", f.falsePass, "share of bad texts that a gate may pass, for --proof=strict")
	c.names.add(cmd)
	return cmd
}

// lintFlags say how files are looked at.
type lintFlags struct {
	format      string
	fix, strict bool
	proof       string
	falsePass   float64
}

// What --proof wants.
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
	findings := cascades.Diagnostics{}
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
		var lacks cascades.Diagnostics
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
	}
	return nil
}

// proofOf is the proof of a file that has nothing wrong, and what it lacks.
func (f lintFlags) proofOf(r *runner.Runner, file string) (*proofs.Proof, cascades.Diagnostics, error) {
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

// printLint prints what was found, and the proofs where they were asked for.
func (c *Command) printLint(found cascades.Diagnostics, proofs []*proofs.Proof, f lintFlags) error {
	switch {
	case f.proof != "" && f.format == "json":
		return printJSON(c.Stdout, map[string]any{"diagnostics": found, "proofs": proofs})
	case f.proof != "" && f.format == "text":
		for _, p := range proofs {
			fmt.Fprint(c.visible(), p.Text())
		}
	case f.format == "dot":
		for _, p := range proofs {
			fmt.Fprint(c.Stdout, p.Graph().Dot())
		}
		return nil
	}
	return c.printDiagnostics(found, f.format)
}

// maxRounds bounds how often a file is read again after a fix, which may show
// what else is wrong.
const maxRounds = 10

// diagnostics is all that is to be told of a file.
func (c *Command) diagnostics(r *runner.Runner, file string) cascades.Diagnostics {
	cascade, err := r.Load(file)
	found := wrong(cascade, err)
	if cascade == nil || err != nil {
		return found
	}
	found = append(slices.Clip(found), cascade.Absent()...)
	m := newModels(c.Getenv, false, nil, c.names.root)
	for _, wrong := range m.unpriced(cascade, cascade.Asking(cascades.Chosen(m.chosen("", file)))) {
		at := cascade.Where(cascades.Ending{Way: []string{"budget", "max_cost_usd"}})
		found = append(found, cascades.Diagnostic{Position: at, Code: cascades.CodePrice, Message: wrong.Error(), Severity: cascades.Warning})
	}
	return found
}

// inOrder sorts findings by file, line and column. The findings of root come first, and
// the other files keep their order.
func inOrder(root string, found cascades.Diagnostics) cascades.Diagnostics {
	first := map[string]int{root: -1}
	for i, d := range found {
		if _, seen := first[d.File]; !seen {
			first[d.File] = i
		}
	}
	slices.SortStableFunc(found, func(a, b cascades.Diagnostic) int {
		return cmp.Or(cmp.Compare(first[a.File], first[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return found
}

// wrong is what reading a cascade has found.
func wrong(read *cascades.Cascade, err error) cascades.Diagnostics {
	var d cascades.Diagnostics
	if !errors.As(err, &d) && read != nil {
		d = read.Warnings
	}
	return d
}

// fixFiles makes the sure fixes in the files that they are for, and tells how many
// there were.
func (c *Command) fixFiles(found cascades.Diagnostics) (int, error) {
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

// cascadeFiles are the files that arguments of lint stand for, each once.
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
			for _, name := range within {
				add(name)
			}
		case err != nil && len(matches) > 0:
			for _, name := range matches {
				if meantAsCascade(name) {
					add(name)
				}
			}
		case err != nil && strings.ContainsAny(arg, "*?["):
			return nil, usage("no file is called %s", arg)
		default:
			add(arg)
		}
	}
	return files, nil
}

// cascadesWithin lists the cascade files within a folder, in order; what is hidden
// and what a package manager has put there is not looked at.
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

// meantAsCascade tells a cascade, however wrong it is, from the other files of a
// directory.
func meantAsCascade(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml" || ext == ".json") && !isScript(name) && isCascade(name)
}

func (c *Command) printDiagnostics(found cascades.Diagnostics, format string) error {
	switch format {
	case "json":
		return printJSON(c.Stdout, map[string]any{"diagnostics": found})
	case "github":
		for _, d := range found {
			at := "file=" + property(d.File)
			if d.Line > 0 { // else the file itself cannot be read
				at += fmt.Sprintf(",line=%d,col=%d", d.Line, d.Column)
			}
			fmt.Fprintf(c.Stdout, "::%s %s,title=%s::%s\n", d.Severity, at, property(d.Code), data(d.Told()))
		}
		return nil
	case "sarif":
		report := newSARIF()
		for _, d := range found {
			report.Add(sarif.Finding{Rule: d.Code, Level: d.Severity, Message: d.Told(), File: d.File, Line: d.Line, Column: d.Column})
		}
		return printJSON(c.Stdout, report)
	}
	if len(found) > 0 {
		fmt.Fprintln(c.visible(), found)
	}
	return nil
}

// data and property escape texts of an annotation, as GitHub's toolkit does.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}

// reader is a runner that only reads cascade files: it knows every tool.
func (c *Command) reader() (*runner.Runner, error) {
	return runner.New(append([]runner.Option{withGates(), runner.WithTools(tools(tool.Options{})...), runner.WithRemote(&remote{})}, c.names.options()...)...)
}

// load reads a cascade file for looking at it.
func (c *Command) load(file string) (*cascades.Cascade, error) {
	r, err := c.reader()
	if err != nil {
		return nil, err
	}
	return r.Load(file)
}
