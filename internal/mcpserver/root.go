package mcpserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/schema"
)

// A root is the folder with all files that calls and their files name.
type root string

func (s *Server) root() root { return root(s.o.Root) }

// maxFile is the maximum size of a file, in bytes.
const maxFile = 64 << 20

func (r root) files() files.Root { return files.Root{Dirs: []string{string(r)}, Flag: "--root"} }

// file returns the name of a file relative to the working directory.
func (r root) file(name string) string {
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(string(r), name)
	}
	return filepath.ToSlash(name)
}

// dir is [root.file] for a folder, which must be in the root.
func (r root) dir(name string) (string, error) {
	full := r.file(name)
	if err := r.files().Check(full); err != nil {
		return "", err
	}
	info, err := os.Stat(full)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a directory", name)
	}
	return full, nil
}

// read reads a file of the root.
func (r root) read(full string) ([]byte, error) {
	return r.files().Read(filepath.FromSlash(full), maxFile)
}

// load loads a cascade whose files are all in the root. Its errors are [syntax.Diagnostics].
func (r root) load(name string, known cascades.Known) (*cascades.Cascade, error) {
	return cascades.Load(r.file(name), r.read, r.confine(known))
}

// confine restricts the names in a cascade to the root.
func (r root) confine(known cascades.Known) cascades.Known {
	known.Inside = r.files().Check
	known.Validators = known.Validators.Within(known.Inside)
	return known
}

// model returns the model of a call. A script must be a file of the root. The host must confine
// the script and its replies.
func (r root) model(name string) (string, error) {
	file, isScript := strings.CutPrefix(name, "scripted:")
	if !isScript || file == "" {
		return name, nil
	}
	full := r.file(file)
	f, err := r.files().Open(filepath.FromSlash(full))
	if err != nil {
		return "", fmt.Errorf("model: %w", err)
	}
	return "scripted:" + full, f.Close()
}

// admits returns an error if a client's cascade would start a program or use the operator's
// environment.
func (s *Server) admits(c *cascades.Cascade) error {
	switch names := c.Variables(); {
	case s.o.Programs:
		return nil
	case startsPrograms(c):
		return errors.New("it would start programs, which needs --allow-exec")
	case len(names) > 0:
		return fmt.Errorf("it would be given %s of the environment, which needs --allow-exec", strings.Join(names, " and "))
	}
	return nil
}

// startsPrograms reports whether a cascade or its sub-cascades have an exec or an MCP server with
// a command. It reads the files, because a loaded cascade no longer contains the commands.
func startsPrograms(c *cascades.Cascade) bool {
	for _, file := range c.Files {
		var doc yaml.Node
		value, err := schema.Parse(file.Text) // the YAML library does not accept all of JSON
		if err == nil {
			err = doc.Encode(value)
		} else {
			err = yaml.Unmarshal(file.Text, &doc)
		}
		if err == nil && programs(&doc) {
			return true
		}
	}
	return false
}

func programs(n *yaml.Node) bool {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, value := target(n.Content[i]).Value, target(n.Content[i+1])
		if value.Kind == yaml.SequenceNode && (key == "exec" || key == "command") {
			return true
		}
	}
	return slices.ContainsFunc(n.Content, programs) // an alias has no content; its target is checked at its own place
}

// target returns the target of an alias.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}
