package cascades

import (
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/runner/tool"
)

// tackleDir is the folder next to a cascade with the tools that the cascade names.
const tackleDir = "tackle"

// loadedWith is the name of a file that stores the load options with the files of a cascade.
// The stored files then load in the same way elsewhere.
const loadedWith = ".loaded-with"

// The lines of loadedWith.
const (
	missingAllowed = "allow-missing-tools"
	tackleIn       = "tackle "
)

// rootDir returns the directory of the root file.
func (p *parser) rootDir() string { return path.Dir(p.loading[0]) }

// storeOptions adds the load options to the stored files, if the parser has any.
func (p *parser) storeOptions() {
	var lines []string
	if p.known.MissingTools {
		lines = append(lines, missingAllowed)
	}
	for _, dir := range p.known.Tackle {
		if from := p.rootDir(); !path.IsAbs(dir) && !path.IsAbs(from) {
			dir = beside(from, dir)
		}
		lines = append(lines, tackleIn+dir)
	}
	if len(lines) > 0 {
		*p.files = append(*p.files, File{path.Join(p.rootDir(), loadedWith), []byte(strings.Join(lines, "\n") + "\n")})
	}
}

// loadOptions returns the additional folders with tools, and reports whether tools may be
// missing. It reads the options of stored files from loadedWith.
func (p *parser) loadOptions() (dirs []string, missing bool) {
	dirs, missing = p.known.Tackle, p.known.MissingTools
	if len(dirs) > 0 || missing || p.open == nil {
		return dirs, missing
	}
	from := p.rootDir()
	text, _ := p.open(path.Join(from, loadedWith)) // most cascades have none
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch dir, found := strings.CutPrefix(line, tackleIn); {
		case !found:
			missing = missing || line == missingAllowed
		case path.IsAbs(dir) || path.IsAbs(from):
			dirs = append(dirs, dir)
		default:
			dirs = append(dirs, path.Join(from, dir))
		}
	}
	return dirs, missing
}

// inTackle returns the file with the name and one of the endings, or "". It searches the
// tackle folder of the cascade and then the additional folders.
func (p *parser) inTackle(id string, endings ...string) string {
	if p.open == nil || !toolName().MatchString(id) {
		return ""
	}
	dirs, _ := p.loadOptions()
	for _, dir := range append([]string{p.beside(tackleDir)}, dirs...) {
		for _, ending := range endings {
			file := path.Join(dir, id+ending)
			if _, err := p.open(file); err == nil {
				return file
			}
		}
	}
	return ""
}

// The endings of files in tackle.
var (
	toolEndings    = []string{".tool.yaml", ".tool.yml", ".tool.json"}
	cascadeEndings = []string{".yaml", ".yml", ".json"}
)

// tackled returns the tool of a file in the tackle folders. found reports whether the file
// exists, even if it is invalid.
func (p *parser) tackled(n *yaml.Node, name string) (t *Tool, found bool) {
	if file := p.inTackle(name, toolEndings...); file != "" {
		return p.toolFile(n, file, name), true
	}
	if file := p.inTackle(name, cascadeEndings...); file != "" {
		return (&Tool{Name: name}).takes(p.nestedFile(n, file)), true
	}
	return nil, false
}

// toolFile reads a file that declares one tool. The keys are those under tools in a cascade.
func (p *parser) toolFile(n *yaml.Node, file, name string) *Tool {
	source, err := p.readFile(file)
	if err != nil {
		p.Error(n, codes.File, "%v", err)
		return nil
	}
	child := p.child(syntax.New(file, source))
	child.cascade = &Cascade{} // for the names of the files that the tool reads
	var t *Tool
	if tree := child.Tree(); tree != nil {
		if o := child.Object(tree, "a tool"); o != nil {
			o.What = "tool " + name
			if id := o.Text("tool_id"); id != "" && id != name {
				child.Error(o.Value["tool_id"], codes.Value, "tool_id is %q, and the file is called after %q", id, name)
			}
			o.Without("$schema", "tool_id") // the file has these keys in addition to those of a tool
			t = child.toolForm(o, name)
			o.Done()
		}
	}
	facts := &child.facts
	checks.Run(&checks.Cascade{Schemas: facts.Schemas, Parameters: facts.Parameters, Subjects: facts.Subjects}, child.Report)
	p.Merge(child.Reader)
	p.Found = append(p.Found, child.Found...)
	if child.Found.Broken() {
		return nil
	}
	return t
}

// missingTool returns a tool that replaces an unknown tool and fails at every call. It returns
// nil if missing tools are not allowed.
func (p *parser) missingTool(n *yaml.Node, name string) *Tool {
	if _, allowed := p.loadOptions(); !allowed || !toolName().MatchString(name) {
		return nil
	}
	p.Warn(n, codes.Tool, "no tool is called %q: it fails when it is called", name)
	t := tool.Declared(name, "This tool is not there: calling it fails.", map[string]any{"type": "object"}, nil).WithEffect(tool.None)
	return &Tool{Name: name, Description: t.Description, Params: t.Params(), Tool: tool.Missing(t), Effect: tool.None}
}
