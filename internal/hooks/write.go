package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// maxFile is the largest file to which a write is applied, in bytes.
const maxFile = 64 << 20

// A writer applies a write, and adds the new contents of its files to an event.
type writer struct {
	event  *Event
	folder string
	files  map[string]string // by path, of the write itself
}

// place returns the absolute path of a file, links followed, and its name for hooks.
func (w *writer) place(file string) (at, name string) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(w.folder, file)
	}
	at = resolved(filepath.Clean(file))
	name = filepath.ToSlash(at)
	if rel, err := filepath.Rel(w.event.Root, at); err == nil && filepath.IsLocal(rel) {
		name = filepath.ToSlash(rel)
	}
	return at, name
}

// resolved follows the links of a path as far as it exists, also a link to a file that
// does not exist yet.
func resolved(path string) string {
	for range 40 {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = filepath.Clean(target)
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// touch notes that the tool writes or removes a file.
func (w *writer) touch(file string) {
	at, _ := w.place(file)
	w.event.Paths = append(w.event.Paths, at)
}

func (w *writer) put(file, content string, err error) {
	at, name := w.place(file)
	w.event.Paths = append(w.event.Paths, at)
	if w.files == nil {
		w.files = map[string]string{}
	}
	w.files[name] = content
	before, _ := w.read(file) // none if the file is new
	w.event.Texts = append(w.event.Texts, Text{File: name, Content: content, Before: before, Err: err})
}

// read returns a file as it is on disk.
func (w *writer) read(file string) (string, error) {
	at, _ := w.place(file)
	content, err := files.Read(at, maxFile)
	return string(content), err
}

func (w *writer) whole(file string, input map[string]any) error {
	content, err := text(input, "content")
	if err == nil {
		w.put(file, content, nil)
	}
	return err
}

// edit applies one replacement, or a list of them.
func (w *writer) edit(file string, input map[string]any) error {
	list := []any{input}
	if edits := field(input, "edits"); edits != nil {
		var ok bool
		if list, ok = edits.([]any); !ok {
			return errors.New("edits must be a list")
		}
	}
	content, broken := w.read(file)
	fresh := errors.Is(broken, fs.ErrNotExist)
	for _, one := range list {
		edit, ok := one.(map[string]any)
		if !ok {
			return errors.New("an edit must be an object")
		}
		before, err := text(edit, "old")
		after, err2 := text(edit, "new")
		every, ok := field(edit, "every").(bool)
		if err = errors.Join(err, err2); err != nil {
			return err
		}
		if field(edit, "every") != nil && !ok {
			return errors.New("replace_all must be true or false")
		}
		switch {
		case fresh && before == "":
			content, broken, fresh = after, nil, false
		case broken == nil:
			content, broken = replaced(content, before, after, every)
		}
	}
	w.put(file, content, broken)
	return nil
}

// replaced returns a content with one text replaced, or every occurrence of the text.
func replaced(content, before, after string, every bool) (string, error) {
	n := strings.Count(content, before)
	if n == 0 && strings.Contains(content, "\r\n") { // agents show and send line feeds
		content = strings.ReplaceAll(content, "\r\n", "\n")
		n = strings.Count(content, before)
	}
	switch {
	case before == "" && content == "":
		return after, nil
	case before == "" || n == 0:
		return content, errors.New("the file does not contain the text to replace")
	case n > 1 && !every:
		return content, fmt.Errorf("the file contains the text to replace %d times", n)
	}
	return strings.ReplaceAll(content, before, after), nil
}

// notebook applies the edit of one cell. The text is the notebook as JSON.
func (w *writer) notebook(file string, input map[string]any) error {
	source, err := text(input, "cell")
	if err != nil {
		return err
	}
	content, broken := w.read(file)
	var value any
	if broken == nil {
		value, broken = jsonvalue.Parse([]byte(content))
	}
	book, _ := value.(map[string]any)
	if broken == nil {
		broken = editCell(book, input, source)
	}
	if broken == nil {
		var whole []byte
		whole, broken = json.MarshalIndent(book, "", " ")
		content = string(whole)
	}
	w.put(file, content, broken)
	return nil
}

func editCell(book, input map[string]any, source string) error {
	cells, ok := book["cells"].([]any)
	if !ok {
		return errors.New("the file is not a notebook")
	}
	id, _ := input["cell_id"].(string)
	mode, _ := input["edit_mode"].(string)
	at := -1
	for i, one := range cells {
		cell, ok := one.(map[string]any)
		if name, _ := cell["id"].(string); ok && id != "" && (name == id || fmt.Sprintf("cell-%d", i) == id) {
			at = i
		}
	}
	kind, _ := input["cell_type"].(string)
	switch {
	case mode == "insert":
		fresh := map[string]any{"cell_type": kind, "source": source, "metadata": map[string]any{}}
		book["cells"] = append(cells[:at+1:at+1], append([]any{fresh}, cells[at+1:]...)...)
	case at < 0:
		return fmt.Errorf("the notebook has no cell %q", id)
	case mode == "delete":
		book["cells"] = append(cells[:at:at], cells[at+1:]...)
	default:
		cell, _ := cells[at].(map[string]any)
		cell["source"] = source // a cell with an id is an object
	}
	return nil
}
