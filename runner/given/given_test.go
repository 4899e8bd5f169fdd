package given_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed61713e19/capstan/runner/given"
)

// The last default that is named counts, before the environment's; other names are
// replaced beside it, and a script is beside the cascade.
func TestModels(t *testing.T) {
	for _, c := range []struct {
		flags             []string
		environment, want string
	}{
		{nil, "env", "env"}, {nil, "", ""}, {[]string{"a", "b"}, "env", "b"}, {[]string{"a=b", "c=d"}, "", "c=d\na=b"},
		{[]string{"a=b"}, "env", "env\na=b"}, {[]string{"a"}, "c=d", "a\nc=d"}, {[]string{"a=b", "c"}, "", "c\na=b"},
		{[]string{"scripted"}, "", "scripted:dir/post.scripted.yaml"}, {[]string{"a=scripted"}, "", "a=scripted:dir/post.scripted.yaml"},
		{[]string{"scripted:a=b.yaml"}, "", "SCRIPTED:A=B.YAML"}, {[]string{"replay:x"}, "", "REPLAY:X"}, {nil, "scripted", "scripted:dir/post.scripted.yaml"},
	} {
		var m given.Models
		for _, text := range c.flags {
			if err := m.Set(text); err != nil {
				t.Fatal(err)
			}
		}
		loud := func(name string) string {
			if strings.Contains(name, ":") {
				return strings.ToUpper(name)
			}
			return name
		}
		if got := m.Chosen(c.environment, "dir/post.yaml", loud); got != c.want {
			t.Errorf("%q and %q: got %q, want %q", c.flags, c.environment, got, c.want)
		}
	}
	for _, text := range []string{"a\nb", "=b", "a=", " =b", "a\r"} {
		if err := new(given.Models).Set(text); err == nil {
			t.Errorf("%q may be said", text)
		}
	}
}

// Assignments stand over a file's object; what is wrong is told with its name.
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
		got, err := given.Files{Stdin: strings.NewReader("said")}.Inputs(c.file, c.list)
		if says, wrong := c.want.(string); wrong {
			if err == nil || !strings.HasPrefix(err.Error(), says) {
				t.Errorf("%s %q: %v, want %s", c.file, c.list, err, says)
			}
		} else if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %q: got %v (%v), want %v", c.file, c.list, got, err, c.want)
		}
	}
	gone := errors.New("nobody is there")
	if _, err := (given.Files{Stdin: iotest.ErrReader(gone)}).Text("-"); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}
