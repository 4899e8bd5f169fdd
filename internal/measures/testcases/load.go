package testcases

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
)

// Load reads the test case in a folder. An error names the file, and the line of a wrong
// entry. If the folder or case.yaml is missing, the error wraps [fs.ErrNotExist].
func Load(dir string) (*Case, error) {
	return (&loader{dir: dir}).load()
}

// A loader reads one folder.
type loader struct {
	dir    string
	shared sharedPage
}

func (l *loader) load() (*Case, error) {
	var h casePage
	if err := l.page(headFile, &h); err != nil {
		return nil, err
	}
	where := l.name(headFile)
	switch {
	case h.Version != formatVersion:
		return nil, fmt.Errorf("%s: version %d is unsupported: this program reads version %d", where, h.Version, formatVersion)
	case h.Cascade == "":
		return nil, fmt.Errorf("%s: cascade is missing", where)
	case h.Expect.Status == "":
		return nil, fmt.Errorf("%s: expect has no status", where)
	}
	name, err := filepath.Abs(l.dir)
	if err != nil {
		return nil, err
	}
	h.Cascade = filepath.ToSlash(h.Cascade)
	c := &Case{Name: filepath.Base(name), Dir: l.dir, page: h}
	if err := l.input(c); err != nil {
		return nil, err
	}
	if err := l.page(sharedFile, &l.shared); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if c.effects, err = l.effects(); err != nil {
		return nil, err
	}
	return c, nil
}

// name returns the path of a file of the test case.
func (l *loader) name(file string) string { return path.Join(filepath.ToSlash(l.dir), file) }

// maxFile is the maximum size of a file of a test case, in bytes.
const maxFile = 64 << 20

// page reads a YAML file into out.
func (l *loader) page(file string, out any) error {
	n, err := l.node(file)
	if err != nil {
		return err
	}
	if err := fill(n, reflect.ValueOf(out).Elem()); err != nil {
		return placed(l.name(file), err)
	}
	return nil
}

// node reads a YAML file, with the texts that it refers to.
func (l *loader) node(file string) (*yaml.Node, error) {
	source, err := folder(l.dir).read(file)
	if err != nil {
		return nil, err
	}
	var n yaml.Node
	if err := yaml.Unmarshal(source, &n); err != nil {
		return nil, placed(l.name(file), err)
	}
	if len(n.Content) == 0 {
		return nil, fmt.Errorf("%s: it is empty", l.name(file))
	}
	return n.Content[0], l.resolve(file, n.Content[0])
}

// resolve replaces the names of text files by the texts.
func (l *loader) resolve(page string, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Tag == fileTag {
		source, err := folder(l.dir).read(n.Value)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", l.name(page), n.Line, err)
		}
		n.Tag, n.Value = "!!str", string(source)
	}
	for _, child := range n.Content {
		if err := l.resolve(page, child); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) input(c *Case) error {
	source, err := folder(l.dir).read(inputFile)
	if err != nil {
		return err
	}
	v, err := schema.Parse(source)
	if err != nil {
		return placed(l.name(inputFile), err)
	}
	var ok bool
	if c.input, ok = v.(map[string]any); !ok {
		return fmt.Errorf("%s: want an object", l.name(inputFile))
	}
	return nil
}

// effects reads all files of effects, in the order of their names.
func (l *loader) effects() ([]*effect, error) {
	entries, err := folder(l.dir).list(effectsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []*effect
	seen := map[event.Path]*effect{}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".yaml") {
			continue
		}
		file := path.Join(effectsDir, entry.Name())
		n, err := l.node(file)
		if err != nil {
			return nil, err
		}
		if n.Kind != yaml.SequenceNode {
			return nil, fmt.Errorf("%s: want a list of effects", l.name(file))
		}
		for _, item := range n.Content {
			e, err := l.effect(file, item)
			if err == nil && seen[e.at] != nil {
				err = placed(l.name(file), wrong(item, "%s is there twice", e.at))
			}
			if err == nil && e.request != nil && e.request.base != "" && (seen[e.request.base] == nil || seen[e.request.base].request == nil) {
				err = placed(l.name(file), wrong(item, "it continues %s, which is no call above it", e.request.base))
			}
			if err != nil {
				return nil, err
			}
			seen[e.at] = e
			all = append(all, e)
		}
	}
	return all, nil
}

// beside returns the path of a file, as the parser of the cascade and the disk use it.
func (c *Case) beside(file string) string { return path.Join(filepath.ToSlash(c.Dir), file) }

// opener reads the files of the cascade: stored files from the test case, and other files from the
// folder of the cascade or from below root.
func (c *Case) opener(root string) cascades.Opener {
	other := files.Root{Dirs: []string{cmp.Or(root, "."), c.Dir, filepath.Dir(c.beside(c.page.Cascade))}}
	return func(name string) ([]byte, error) {
		if place, ok := c.page.Files[name]; ok {
			return folder(c.Dir).read(place)
		}
		if within, err := filepath.Rel(c.Dir, filepath.FromSlash(name)); err == nil && filepath.IsLocal(within) {
			return folder(c.Dir).read(filepath.ToSlash(within))
		}
		return other.Read(filepath.FromSlash(name), maxFile)
	}
}
