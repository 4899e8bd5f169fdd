package cascades

import (
	"fmt"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A parser reads one file. The parsers of nested files share known, loading, loaded, files and
// deciding.
type parser struct {
	*reader.Reader
	open     Opener
	files    *[]File // files that were read
	deciding *Deciding
	known    Known
	loading  []string
	loaded   map[string]*Cascade

	broken    map[string]bool // definitions with an error: "validators grammar"
	facts     checks.Cascade  // facts of the file, for the rules
	guards    []checks.Guard  // guards of the current phase
	locals    []string        // item variables of the current phase
	reading   string          // name of the current phase
	grouped   string          // group of the current phase, for messages; "" for none
	providers []string        // names of the file's own providers
	defined   *reader.Object  // mapping of the providers; nil for none
	databases *reader.Object  // mapping of the databases; nil for none
	asked     map[string]bool // databases that the phases use
	cascade   *Cascade
}

// Known has the validators, tools and options of the host.
type Known struct {
	Validators validators.Set
	Tools      tool.Set
	Remote     Remote // makes the tools of MCP servers; nil for none
	Chosen     Chosen // replaces models of the cascades; evidence of gates must be for these models
	// Receipts returns the function that checks a text with its receipt. If it is nil, a tool
	// that needs a receipt is never called.
	Receipts func(Receipt) func(text, receipt string) error
	Root     string // the directory of programs with cwd: root; "" for the working directory
	// Inside returns an error if a cascade must not use a database file. If Inside is nil, a
	// cascade may use every file.
	Inside       func(file string) error
	Tackle       []string // folders with tools, searched after the folder tackle of the cascade
	MissingTools bool     // an unknown tool is a warning, and its calls fail
	Cache        *Cache   // cache for files that are read again; nil for none
}

// An Opener reads a file that a cascade names, for example a template or a nested cascade.
// Names have forward slashes. A relative name is joined to the directory of the file that
// contains it.
type Opener func(name string) ([]byte, error)

// A Remote returns the validators and tools of MCP servers. It connects to a server when the
// first one is used.
type Remote interface {
	Validator(s Server, tool string) validators.Validator
	Tool(s Server, tool string) tool.Tool
}

// A Server is the address of an MCP server: the program to start with its
// directory, or a URL.
type Server struct {
	Command []string
	Dir     string
	Env     []string // environment of Command, in the form of [process.Environment]
	URL     string
	Headers map[string]string // headers of every request to URL; they may contain {{ env.NAME }}
}

// readFile reads a file that the cascade names.
func (p *parser) readFile(name string) ([]byte, error) {
	if p.open == nil {
		return nil, fmt.Errorf("%s: there are no files here", name)
	}
	p.cascade.reads = append(p.cascade.reads, name)
	return p.open(name)
}

// beside returns the path of a file that this file names.
func (p *parser) beside(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(path.Dir(p.File.Name), name)
}

// beside returns the path of a file relative to a directory.
func beside(dir, name string) string {
	from, to := strings.Split(dir, "/"), strings.Split(name, "/")
	if dir == "." {
		from = nil
	}
	for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	return strings.Repeat("../", len(from)) + strings.Join(to, "/")
}

// child returns a parser for another file.
func (p *parser) child(file *syntax.File) *parser {
	return &parser{Reader: p.Continue(file), open: p.open, files: p.files, deciding: p.deciding, known: p.known,
		loading: append(append([]string(nil), p.loading...), file.Name), loaded: p.loaded}
}

// refer records a reference from the current phase to another phase.
func (p *parser) refer(n *yaml.Node, key, name string) {
	p.facts.References = append(p.facts.References, checks.Reference{Node: n, Key: key, Name: name, From: p.reading})
}

// Deciding lists the data outside the files of a cascade that determines the result of a run.
// No model may change this data.
type Deciding struct {
	Programs []Program // programs of this cascade and of nested cascades
	Protect  []string  // patterns of files below the root of the file tools
	Measured []string  // patterns of the labels and the evidence beside the cascades
}

// A Program is a program that a cascade starts.
type Program struct {
	What    string // name in messages, such as "validator tests_pass"
	Argv    []string
	Dir     string   // the working directory of the program; "" for that of the process
	Subject []string // patterns of the arguments that may change
	Pinned  bool     // a gate or a tool, whose files must not change during a run
}
