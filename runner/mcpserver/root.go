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
	"github.com/seed61713e19/capstan/validators/schema"
)

// A root is the directory that what a call names has to be in, links followed.
type root string

func (s *Server) root() root { return root(s.o.Root) }

// maxFile bounds a file that a call names, or that one names which it names,
// in bytes.
const maxFile = 64 << 20

// inside gives the name of a file within the root; one that is relative is
// relative to it.
func (r root) inside(name string) (string, error) {
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	dir, err := filepath.Abs(string(r))
	if err != nil {
		return "", err
	}
	return filepath.Rel(dir, name)
}

// file is a file of the root by its name for who works outside it.
func (r root) file(name string) (string, error) {
	within, err := r.inside(name)
	if err == nil && !filepath.IsLocal(within) {
		err = fmt.Errorf("%s is not in %s", name, r)
	}
	if err != nil {
		return "", err
	}
	return filepath.ToSlash(filepath.Join(string(r), within)), nil
}

// dir is a directory of the root by its name for who works outside it.
func (r root) dir(name string) (string, error) {
	full, err := r.file(name)
	if err != nil {
		return "", err
	}
	info, err := r.stat(full)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a directory", name)
	}
	return full, nil
}

func (r root) stat(full string) (os.FileInfo, error) {
	var info os.FileInfo
	err := r.open(full, func(in *os.Root, name string) (err error) { info, err = in.Stat(name); return err })
	return info, err
}

// read reads a file of the root by its name for who works outside it. A device
// or a pipe might never end.
func (r root) read(full string) (text []byte, err error) {
	err = r.open(full, func(in *os.Root, name string) error {
		info, err := in.Stat(name)
		switch {
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a regular file", full)
		case info.Size() > maxFile:
			return fmt.Errorf("%s has %d bytes; it may have %d", full, info.Size(), maxFile)
		}
		text, err = in.ReadFile(name)
		return err
	})
	return text, err
}

// open has body work on a file of the root, by its name within it.
func (r root) open(full string, body func(in *os.Root, name string) error) error {
	dir, err := filepath.Abs(string(r))
	if err != nil {
		return err
	}
	if full, err = filepath.Abs(filepath.FromSlash(full)); err != nil {
		return err
	}
	name, err := filepath.Rel(dir, full)
	if err != nil {
		return err
	}
	in, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer in.Close()
	return body(in, name)
}

// load reads a cascade of the root; an error is [cascades.Diagnostics] or says
// that it is not there.
func (r root) load(name string, known cascades.Known) (*cascades.Cascade, error) {
	full, err := r.file(name)
	if err != nil {
		return nil, err
	}
	return cascades.Load(full, r.read, known)
}

// model is the model that a call asks for. A script is a file like any other.
func (r root) model(name string) (string, error) {
	file, isScript := strings.CutPrefix(name, "scripted:")
	if !isScript || file == "" {
		return name, nil
	}
	full, err := r.file(file)
	if err == nil {
		_, err = r.stat(full)
	}
	if err != nil {
		return "", fmt.Errorf("model: %w", err)
	}
	return "scripted:" + full, nil
}

// admits tells what a cascade that a client names may not do here: start a
// program, or have a server sent what is in the operator's environment.
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

// startsPrograms tells whether a cascade, or one within it, has an exec or an
// MCP server that is a command. What is loaded does not tell any more, so the
// files are asked; a list under one of these words refuses, whatever it is for.
func startsPrograms(c *cascades.Cascade) bool {
	for _, file := range c.Files {
		var doc yaml.Node
		value, err := schema.Parse(file.Text) // the YAML library does not know all of JSON
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
	return slices.ContainsFunc(n.Content, programs) // an alias has none; what it stands for is looked at where it is
}

// target is what an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}
