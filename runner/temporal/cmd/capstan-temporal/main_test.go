package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong is told before anything is begun, with the exit status of capstan.
func TestMistakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("cascade_id: c\ninputs_schema: {topic: {type: string}}\nphases:\n  - {name: a, instructions: '{{ input.topic }}'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := t.TempDir()
	nobody := "127.0.0.1:1" // no cluster is there
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"worker"}, usage, "--store is missing"},
		{[]string{"run", file, "--input", "topic=owls"}, usage, "--store is missing"},
		{[]string{"run", filepath.Join(store, "none.yaml"), "--store", store}, usage, "none.yaml"},
		{[]string{"run", file, "--store", store, "--address", nobody}, usage, "topic"},
		{[]string{"run", file, "--store", store, "--input", "topic"}, usage, "NAME=VALUE"},
		{[]string{"run", file, "--store", store, "--input", "topic=owls", "--address", nobody}, broken, "cluster " + nobody},
		{[]string{"worker", "--store", store, "--address", nobody}, broken, "cluster " + nobody},
		{[]string{"answer", "r", "yes", "--address", nobody}, broken, "cluster " + nobody},
		{[]string{"worker", "--store", file, "--address", nobody}, broken, "this is not a journal"},
	} {
		var out, told bytes.Buffer
		if status := command(t.Context(), c.args, &out, &told); status != c.status || !strings.Contains(told.String(), c.says) {
			t.Errorf("%q: exit status %d, said %q", c.args, status, told.String())
		}
	}
}
