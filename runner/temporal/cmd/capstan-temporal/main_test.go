package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"

	"github.com/seed61713e19/capstan/runner/engine"
)

// TestMistakes checks that the command reports mistakes before it begins a run,
// with the exit statuses of capstan.
func TestMistakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("cascade_id: c\ninputs_schema: {topic: {type: string}}\nphases:\n  - {name: a, instructions: '{{ input.topic }}'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := t.TempDir()
	null := filepath.Join(store, "null.json")
	if err := os.WriteFile(null, []byte("null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	nobody := "127.0.0.1:1" // no cluster listens here
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"worker"}, usage, "--store is missing"},
		{[]string{"run", file, "--input", "topic=owls"}, usage, "--store is missing"},
		{[]string{"run", filepath.Join(store, "none.yaml"), "--store", store}, usage, "none.yaml"},
		{[]string{"run", file, "--store", store, "--address", nobody}, usage, "topic"},
		{[]string{"run", file, "--store", store, "--input", "topic"}, usage, "want name=text, name:=JSON or name=@file"},
		{[]string{"run", file, "--store", store, "--input", "=owls"}, usage, "want name=text, name:=JSON or name=@file"},
		{[]string{"run", file, "--store", store, "--input", "topic:=3"}, usage, "must be a string, is a number"},
		{[]string{"run", file, "--store", store, "--input", "topic:={"}, usage, "topic: "},
		{[]string{"run", file, "--store", store, "--input", "topic=@" + filepath.Join(store, "none.md")}, usage, "none.md"},
		{[]string{"run", file, "--store", store, "--input", "topic=owls", "--input", "topic=herons"}, usage, "topic is given twice"},
		{[]string{"run", file, "--store", store, "--input", "topics=owls"}, usage, "topics is not declared"}, // and that topic is missing
		{[]string{"run", file, "--store", store, "--input", "topic=owls", "--run-id", "last", "--address", nobody}, usage, "--run-id: a run cannot be called last"},
		{[]string{"run", file, "--store", store, "--input-file", null, "--input", "topic=owls"}, usage, "want a JSON object"},
		{[]string{"run", file, "--store", store, "--input", `topic:="owls"`, "--address", nobody}, broken, "cluster " + nobody},
		{[]string{"run", file, "--store", store, "--input", "topic=@" + file, "--address", nobody}, broken, "cluster " + nobody},
		{[]string{"run", file, "--store", store, "--input", "topic=owls", "--address", nobody}, broken, "cluster " + nobody},
		{[]string{"run", file, "--store", store, "--input", "topic=owls", "--model", "=owl"}, usage, "want NAME, OLD=NEW"},
		{[]string{"worker", "--store", store, "--address", nobody}, broken, "cluster " + nobody},
		{[]string{"answer", "r", "yes", "--address", nobody}, broken, "cluster " + nobody},
		{[]string{"worker", "--store", file, "--address", nobody}, broken, "this is not a journal"},
	} {
		var out, stderr bytes.Buffer
		if status := command(t.Context(), c.args, &out, &stderr); status != c.status || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%q: exit status %d, said %q", c.args, status, stderr.String())
		}
	}
}

// TestOutput checks that the result of a run is printed as by capstan run.
func TestOutput(t *testing.T) {
	for _, c := range []struct {
		output any
		want   string
	}{
		{"owls", "owls\n"}, {"owls\n", "owls\n"}, {"", "\n"}, {"a <b>", "a <b>\n"},
		{map[string]any{"a": "<b> & c", "n": json.Number("1.0")}, "{\n  \"a\": \"<b> & c\",\n  \"n\": 1.0\n}\n"}, {nil, "null\n"},
	} {
		var out, stderr bytes.Buffer
		if err := show(&out, &stderr, engine.Result{Status: engine.Succeeded, Output: c.output}, false); err != nil || out.String() != c.want || stderr.Len() > 0 {
			t.Errorf("%v: %q, %q, %v; want %q", c.output, out.String(), stderr.String(), err, c.want)
		}
	}
}

// TestAdvise checks the messages for two errors: an existing run ID and an
// invalid answer.
func TestAdvise(t *testing.T) {
	c := &cluster{}
	for says, err := range map[string]error{
		"the answer is none":                  sdk.NewNonRetryableApplicationError("the answer is none", "capstan.refused", nil),
		"a run of that name is there already": serviceerror.NewWorkflowExecutionAlreadyStarted("Workflow execution already finished.", "", ""),
	} {
		var far connection
		if got := c.advise(err); got.Error() != says || errors.As(got, &far) {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// A known is a cluster that reports a version and implements nothing else.
type known struct {
	workflowservice.UnimplementedWorkflowServiceServer
	version string
}

func (k known) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{ServerVersion: k.version}, nil
}

// TestOlderCluster checks that the command and the worker report a cluster that
// is too old, and features that the cluster lacks.
func TestOlderCluster(t *testing.T) {
	store, file := t.TempDir(), filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("cascade_id: c\nphases:\n  - {name: a, compose: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for version, says := range map[string]string{
		"1.24.3": "is older than this program needs: its server is 1.24.3, but at least 1.25 is required",
		"0.30":   "its server is 0.30,",
		"1.25.0": "is older than this program needs: method", "2.0.1": "is older than this program needs: method", "": "is older than this program needs: method",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		old := grpc.NewServer()
		workflowservice.RegisterWorkflowServiceServer(old, &known{version: version})
		go func() { _ = old.Serve(l) }()
		t.Cleanup(old.Stop)
		commands := [][]string{{"run", file}, {"answer", "r", "yes"}, {"answer", "r"}}
		tooOld := strings.Contains(says, version+",")
		if tooOld {
			commands = append(commands, []string{"worker"})
		}
		for _, args := range commands {
			var out, stderr bytes.Buffer
			status := command(t.Context(), append(args, "--store", store, "--address", l.Addr().String()), &out, &stderr)
			if status != broken || !strings.Contains(stderr.String(), says) {
				t.Errorf("%s, %q: exit status %d, said %q", version, args, status, stderr.String())
			}
			if strings.Contains(stderr.String(), "its server is") != tooOld {
				t.Errorf("%s, %q: said %q", version, args, stderr.String())
			}
		}
	}
}
