package inputs_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed61713e19/capstan/internal/inputs"
)

// Assignments overwrite members of a file's object. Errors contain the name of
// the input.
func TestInputs(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	all, null, latin := at("all.json", "\ufeff{\"topic\": \"owls\", \"words\": 9}"), at("null.json", "null"), at("latin.json", "{\"a\": \"\xe4\"}")
	text := at("text.md", "An owl.\n")
	for _, c := range []struct {
		file string
		list []string
		want any
	}{
		{"", nil, map[string]any{}},
		{"", []string{"a=1", "b=", "c=x=y", "d=@" + text, "e=@-"}, map[string]any{"a": "1", "b": "", "c": "x=y", "d": "An owl.\n", "e": "said"}},
		{all, []string{"words:=[true, null]", "more:=@" + null}, map[string]any{"topic": "owls", "words": []any{true, nil}, "more": nil}},
		{null, []string{"a=1"}, "--input-file " + null + ": want a JSON object"},
		{latin, nil, "--input-file: " + latin + " is not UTF-8 text"},
		{dir, nil, "--input-file: " + dir + " is a directory"},
		{filepath.Join(dir, "none"), nil, "--input-file: no such file: " + filepath.Join(dir, "none")},
		{text, nil, "--input-file " + text + ": "},
		{"-", nil, "--input-file -: "},
		{"", []string{"a"}, `"a": want name=text, name:=JSON or name=@file`}, {"", []string{"=a"}, `"=a": want`}, {"", []string{":=1"}, `":=1": want`},
		{"", []string{"a=1", "a:=1"}, "a is given twice"}, {"", []string{"a:={"}, "a: "}, {"", []string{"a=@" + latin}, "a: " + latin + " is not UTF-8 text"},
	} {
		got, err := inputs.Files{Stdin: strings.NewReader("said")}.Inputs(c.file, c.list)
		if says, wrong := c.want.(string); wrong {
			if err == nil || !strings.HasPrefix(err.Error(), says) {
				t.Errorf("%s %q: %v, want %s", c.file, c.list, err, says)
			}
		} else if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %q: got %v (%v), want %v", c.file, c.list, got, err, c.want)
		}
	}
	failure := errors.New("nobody is there")
	if _, err := (inputs.Files{Stdin: iotest.ErrReader(failure)}).Text("-"); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
}
