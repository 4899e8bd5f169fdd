package cases

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Load reads the case in a directory. An error names the file and, where a page
// is wrong, the line; a missing directory or case.yaml is [fs.ErrNotExist].
func Load(dir string) (*Case, error) {
	return (&loader{dir: dir}).load()
}

// A loader reads one directory.
type loader struct {
	dir    string
	shared shared
}

func (l *loader) load() (*Case, error) {
	var h head
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
	c := &Case{
		Name: filepath.Base(name), Dir: l.dir, cascade: filepath.ToSlash(h.Cascade), source: h.Source,
		files: h.Files, model: h.Model, seed: h.Seed, order: h.Order,
	}
	if c.want, err = l.wish(h.Expect); err != nil {
		return nil, err
	}
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

// name is a file's name for errors and for the disk.
func (l *loader) name(file string) string { return path.Join(filepath.ToSlash(l.dir), file) }

// maxFile is the largest file of a test, in bytes.
const maxFile = 64 << 20

func (l *loader) page(file string, out any) error {
	source, err := folder(l.dir).read(file)
	if err != nil {
		return err
	}
	return read(l.name(file), source, out)
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

// text gives a text of a page, wherever it stands.
func (l *loader) text(page string, t text) (string, error) {
	if t.file == "" {
		return t.string, nil
	}
	source, err := folder(l.dir).read(t.file)
	if err != nil {
		return "", fmt.Errorf("%s:%d: %w", l.name(page), t.line, err)
	}
	return string(source), nil
}

func (l *loader) value(page string, v *value) (any, error) {
	if v.text != nil {
		return l.text(page, *v.text)
	}
	return v.any, nil
}

func (l *loader) wish(w wish) (e expectation, err error) {
	e = expectation{status: w.Status, calls: w.Calls, outputs: map[string]any{}}
	if w.Error != nil {
		message, err := l.text(headFile, w.Error.Message)
		if err != nil {
			return e, err
		}
		e.err = &event.Error{Code: w.Error.Code, Phase: w.Error.Phase, Message: message}
	}
	for _, p := range w.Phases {
		record := engine.PhaseRecord{Name: p.Name, Status: p.Status, Attempts: p.Attempts, Turns: p.Turns, ModelCalls: p.Calls, Items: p.Items}
		for _, lost := range p.Failures {
			record.Failures = append(record.Failures, event.Failure(lost))
		}
		e.phases = append(e.phases, record)
	}
	for name, v := range w.Outputs {
		if e.outputs[name], err = l.value(headFile, v); err != nil {
			return e, err
		}
	}
	for _, d := range w.Degraded {
		e.degraded = append(e.degraded, engine.Degraded(d))
	}
	for _, p := range w.Verdicts {
		v := event.Verdict{Path: event.Path(p.Path), Moment: p.Moment, Validator: p.Validator, Mode: p.Mode, Valid: p.Valid}
		if p.Reason != nil {
			if v.Reason, err = l.text(headFile, *p.Reason); err != nil {
				return e, err
			}
		}
		if p.Error != nil {
			message, err := l.text(headFile, *p.Error)
			if err != nil {
				return e, err
			}
			v.Error = &message
		}
		e.verdicts = append(e.verdicts, v)
	}
	return e, nil
}

// effects reads all pages of effects, in the order of their names.
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
		source, err := folder(l.dir).read(file)
		if err != nil {
			return nil, err
		}
		var n yaml.Node
		if err := yaml.Unmarshal(source, &n); err != nil {
			return nil, placed(l.name(file), err)
		}
		if len(n.Content) == 0 || n.Content[0].Kind != yaml.SequenceNode {
			return nil, fmt.Errorf("%s: want a list of effects", l.name(file))
		}
		for _, item := range n.Content[0].Content {
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

// beside is a file's name as the cascade's parser and the disk know it.
func (c *Case) beside(file string) string { return path.Join(filepath.ToSlash(c.Dir), file) }

// opener reads the files of the cascade: those that the case stores from the case, others
// from the folder of the cascade or from below root.
func (c *Case) opener(root string) cascades.Opener {
	other := files.Root{Dirs: []string{cmp.Or(root, "."), c.Dir, filepath.Dir(c.beside(c.cascade))}}
	return func(name string) ([]byte, error) {
		if place, ok := c.files[name]; ok {
			return folder(c.Dir).read(place)
		}
		if within, err := filepath.Rel(c.Dir, filepath.FromSlash(name)); err == nil && filepath.IsLocal(within) {
			return folder(c.Dir).read(filepath.ToSlash(within))
		}
		return other.Read(filepath.FromSlash(name), maxFile)
	}
}
