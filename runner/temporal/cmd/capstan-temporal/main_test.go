package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
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

// known is a cluster that can be reached, and knows nothing else.
type known struct {
	workflowservice.UnimplementedWorkflowServiceServer
}

func (known) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{ServerVersion: "1.0.0"}, nil
}

// A cluster that does not know what is asked of it, as an old one does not, is told
// in words.
func TestOlderCluster(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	old := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(old, &known{})
	go func() { _ = old.Serve(l) }()
	t.Cleanup(old.Stop)
	store, file := t.TempDir(), filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("cascade_id: c\nphases:\n  - {name: a, compose: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", file}, {"answer", "r", "yes"}, {"answer", "r"}} {
		var out, told bytes.Buffer
		status := command(t.Context(), append(args, "--store", store, "--address", l.Addr().String()), &out, &told)
		if status != broken || !strings.Contains(told.String(), "is older than this program needs") {
			t.Errorf("%q: exit status %d, said %q", args, status, told.String())
		}
	}
}
