package testcases

import (
	"cmp"
	"path/filepath"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/files"
)

// program returns the digest of the program at a place, as [cascades.Cascade.Identity] computes it.
// It returns "" for other validators.
func (r *replay) program(at *cascades.Place) string {
	v, err := r.cascade.ValidatorAt(at)
	if _, is := v.Program(); err != nil || !is {
		return ""
	}
	if r.programs[v] == "" {
		r.programs[v], err = r.cascade.Identity(v, r.chosen, r.open)
		if err != nil {
			r.programs[v] = "unknown: " + err.Error()
		}
	}
	return r.programs[v]
}

// programFiles reads the files of programs below root or below the folder of the cascade. Files
// elsewhere are not part of a test case, because they differ between machines.
func programFiles(root, folder string) cascades.Opener {
	in := files.Root{Dirs: []string{cmp.Or(root, "."), folder}}
	return func(name string) ([]byte, error) { return in.Read(filepath.FromSlash(name), maxFile) }
}

// programFiles reads the files of programs where the cascade was recorded. A test case has no
// copies of them.
func (c *Case) programFiles(root string) cascades.Opener {
	copied := filepath.Dir(c.beside(c.page.Cascade))
	if c.page.Source == "" {
		return programFiles(root, copied)
	}
	source := filepath.Join(c.Dir, filepath.FromSlash(c.page.Source))
	open := programFiles(root, source)
	return func(name string) ([]byte, error) {
		if within, err := filepath.Rel(copied, filepath.FromSlash(name)); err == nil {
			if text, err := open(filepath.Join(source, within)); err == nil {
				return text, nil
			}
		}
		return open(name)
	}
}

// sourceOf returns the path from the test case to the folder of the cascade file that ran. It
// returns "" if no program judged or there is no such path.
func (f *recording) sourceOf(dir string, asked []*effect) string {
	for _, e := range asked {
		if e.check == nil || e.check.program == "" {
			continue
		}
		from, err := filepath.Abs(dir)
		if err != nil {
			return ""
		}
		to, err := filepath.Abs(f.folder())
		if err != nil {
			return ""
		}
		source, err := filepath.Rel(from, to)
		if err != nil {
			return ""
		}
		return filepath.ToSlash(source)
	}
	return ""
}

// folder returns the folder of the cascade file that ran.
func (f *recording) folder() string { return filepath.Dir(f.place(f.Files[0].Name)) }

// place returns the file of a name that is relative to the start of the run.
func (f *recording) place(name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.Dir, name)
}

// programFiles reads the files of the programs of the run.
func (f *recording) programFiles() cascades.Opener {
	open := programFiles(f.known.Root, f.folder())
	return func(name string) ([]byte, error) { return open(f.place(name)) }
}
