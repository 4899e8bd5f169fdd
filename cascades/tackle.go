package cascades

import (
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/tool"
)

// tackleDir is the folder beside a cascade that has what it names by id.
const tackleDir = "tackle"

// loadedWith is kept beside a cascade, among its files, that was loaded with more
// than these say: who loads it from them again, wherever they are, looks in the
// same places.
const loadedWith = ".loaded-with"

// The lines of loadedWith.
const (
	missingAllowed = "allow-missing-tools"
	tackleIn       = "tackle "
)

// rootDir is the directory of the file that was asked for.
func (p *parser) rootDir() string { return path.Dir(p.loading[0]) }

// keepHow keeps what is known of where to look, among the files.
func (p *parser) keepHow() {
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

// how is where else to look, and whether tools may be missing: as it is known, or
// as it was when the files were kept.
func (p *parser) how() (dirs []string, missing bool) {
	dirs, missing = p.known.Tackle, p.known.MissingTools
	if len(dirs) > 0 || missing || p.open == nil {
		return dirs, missing
	}
	from := p.rootDir()
	text, _ := p.open(path.Join(from, loadedWith)) // mostly there is none
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

// inTackle looks for a file that has an id for its name, and one of the endings,
// in the folder beside the cascade, then in those that are known; "" for none.
func (p *parser) inTackle(id string, endings ...string) string {
	if p.open == nil || !toolName().MatchString(id) {
		return ""
	}
	dirs, _ := p.how()
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

// tackled is the tool that tackle has under a name, nil for none; found tells
// whether there is a file, which may be wrong.
func (p *parser) tackled(n *yaml.Node, name string) (t *Tool, found bool) {
	if file := p.inTackle(name, toolEndings...); file != "" {
		return p.toolFile(n, file, name), true
	}
	if file := p.inTackle(name, cascadeEndings...); file != "" {
		return (&Tool{Name: name}).takes(p.nestedFile(n, file)), true
	}
	return nil, false
}

// toolFile reads a file that declares one tool, as a cascade's tools do.
func (p *parser) toolFile(n *yaml.Node, file, name string) *Tool {
	source, err := p.readFile(file)
	if err != nil {
		p.report(n, CodeFile, "%v", err)
		return nil
	}
	child := p.child(file, source)
	child.cascade = &Cascade{} // that names the files which the tool reads
	var t *Tool
	if doc := child.document(); doc != nil && child.sound(doc.Content[0], nil) {
		if o := child.object(doc.Content[0], "a tool"); o != nil {
			o.what = "tool " + name
			if id := o.text("tool_id"); id != "" && id != name {
				child.report(o.value["tool_id"], CodeValue, "tool_id is %q, and the file is called after %q", id, name)
			}
			o.without("$schema", "tool_id") // which the file has beside what a tool is
			t = child.toolForm(o, name)
			o.done()
		}
	}
	p.nodes, p.compared = child.nodes, child.compared
	p.found = append(p.found, child.found...)
	if child.found.Broken() {
		return nil
	}
	return t
}

// child is a parser for another file.
func (p *parser) child(file string, source []byte) *parser {
	return &parser{file: file, source: source, open: p.open, files: p.files, deciding: p.deciding, known: p.known, nodes: p.nodes, compared: p.compared,
		loading: append(append([]string(nil), p.loading...), file), loaded: p.loaded}
}

// missingTool stands in for a tool that is named nowhere, where that is allowed:
// it fails when it is called.
func (p *parser) missingTool(n *yaml.Node, name string) *Tool {
	if _, allowed := p.how(); !allowed || !toolName().MatchString(name) {
		return nil
	}
	p.warn(n, CodeTool, "no tool is called %q: it fails when it is called", name)
	t := tool.Declared(name, "This tool is not there: calling it fails.", map[string]any{"type": "object"}, nil).That(tool.None)
	return &Tool{Name: name, Description: t.Description, Params: t.Params(), Tool: tool.Missing(t), Effect: tool.None}
}
