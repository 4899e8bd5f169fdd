package main

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// letter is a cascade with a writing tool. The tool notes each start. The first
// time, it kills its parent process before it has finished.
const letter = `
cascade_id: letter
tools:
  send: {exec: [sh, -c, "cat > /dev/null; echo start >> starts; if [ $(wc -l < starts) = 1 ]; then kill -9 $PPID; sleep 1; fi; echo sent"]}
phases:
- {name: mail, tool: send, inputs: {to: ann}}
- {name: note, compose: "It was: {{ outputs.mail }}"}
`

// TestWriteIsNotRepeated kills a run during a call of a writing tool. A resumed
// run must not start the tool before a person allows the call.
func TestWriteIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer, output string
		status, starts int
	}{
		{"repeat", "It was: sent", 0, 2},
		{"done: it has gone out", "It was: it has gone out", 0, 1},
		{`done: {"id": 12345678901234567890}`, "It was: {'id': 12345678901234567890}", 0, 1},
		{"done", "It was: ", 0, 1},
		{"stop", "", 3, 1},
	} {
		t.Run(c.answer, func(t *testing.T) {
			d := newDesk(t, map[string]string{"letter.yaml": letter})
			started := func(want int) {
				t.Helper()
				if got := strings.Count(strings.Join(d.lines("starts"), " "), "start"); got != want {
					t.Errorf("started %d times, want %d", got, want)
				}
			}
			d.capstan(-1, "run", "letter.yaml", "--run-id", "r") // killed
			started(1)
			for range 2 {
				d.capstan(exitWaiting, "resume", "r")
				started(1)
			}
			if !strings.Contains(d.stderr.String(), "Did the call take effect?") {
				t.Errorf("it asks nothing:\n%s", &d.stderr)
			}
			d.capstan(exitUsage, "answer", "r", "perhaps")
			d.capstan(0, "answer", "r", c.answer)
			d.capstan(c.status, "resume", "r")
			started(c.starts)
			if got := strings.TrimSpace(d.stdout.String()); got != strings.TrimSpace(c.output) {
				t.Errorf("got %q, want %q", got, c.output)
			}
			if c.status == 0 {
				d.capstan(0, "resume", "r")
				started(c.starts)
			}
		})
	}
}

// TestIdempotentIsStartedAgain kills a run during a call of an idempotent tool.
// The tool starts again with the same key and without a question, in the
// resumed run and in a new run.
func TestIdempotentIsStartedAgain(t *testing.T) {
	t.Parallel()
	source := strings.Replace(letter, "cat > /dev/null; echo start >>", "grep -o key.*mail[^}]* >>", 1)
	source = strings.Replace(source, "echo sent\"]}", "echo sent\"], idempotent: true}", 1)
	for _, as := range [][]string{nil, {"--from", "note"}, {"--input", "tone=dry"}} {
		d := newDesk(t, map[string]string{"letter.yaml": source})
		d.capstan(-1, "run", "letter.yaml", "--run-id", "r") // killed
		d.capstan(0, append([]string{"resume", "r"}, as...)...)
		if keys := d.lines("starts"); len(keys) != 2 || keys[0] != keys[1] || !strings.Contains(keys[0], "r:mail/") {
			t.Errorf("%q: started with %q", as, keys)
		}
		if got := strings.TrimSpace(d.stdout.String()); got != "It was: sent" {
			t.Errorf("%q: got %q", as, got)
		}
	}
}

// letters is a fan-out of a writing tool. The first process dies during two of
// the four calls.
const letters = `
cascade_id: letters
tools: {send: {exec: [sh, send.sh]}}
phases: [{name: mail, each: {in: [ann, bob, cat, dan], max_parallel: 2}, tool: send, inputs: {to: "{{ item }}"}}]
`

const sendLetter = `to=$(sed 's/.*"to":"\([a-z]*\)".*/\1/')
echo "$to" >> starts
if [ ! -e died ]; then
  if [ $(wc -l < starts) = 2 ]; then touch died; kill -9 $PPID; fi
  while [ ! -e died ]; do sleep 0.05; done
  sleep 1
fi
echo "sent to $to"
`

// TestWritesSideBySide interrupts several writes. Each has a question, each
// answer belongs to the named call, and no question interrupts another write.
func TestWritesSideBySide(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"letters.yaml": letters, "send.sh": sendLetter})
	d.capstan(-1, "run", "letters.yaml", "--run-id", "r")
	for answers := 0; answers < 2; {
		d.capstan(exitWaiting, "resume", "r")
		got := d.lines("starts") // the order of two parallel calls is random
		if len(got) == 4 {
			slices.Sort(got[:2])
			slices.Sort(got[2:])
		}
		if !slices.Equal(got, []string{"ann", "bob", "cat", "dan"}) {
			t.Fatalf("started %q", got)
		}
		text := d.stderr.String()
		keys := regexp.MustCompile(`next: capstan answer r VALUE --question '(mail/item\[(\d)\][^']+)'`).FindAllStringSubmatch(text, -1)
		for _, k := range keys {
			to := map[string]string{"0": "ann", "1": "bob"}[k[2]]
			d.capstan(0, "answer", "r", "done: gone to "+to, "--question", k[1])
			answers++
		}
		if keys != nil {
			continue
		}
		asked := regexp.MustCompile(`running on \{"to":"(\w+)"\}\. Did the call take effect`).FindAllStringSubmatch(text, -1)
		if asked == nil {
			t.Fatalf("it asks nothing:\n%s", text)
		}
		d.capstan(0, "answer", "r", "done: gone to "+asked[len(asked)-1][1])
		answers++
	}
	d.capstan(0, "resume", "r")
	if got, want := strings.TrimSpace(d.stdout.String()), `["gone to ann","gone to bob","sent to cat","sent to dan"]`; strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(want), "") {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A desk runs capstan as a program in a folder.
type desk struct {
	t              *testing.T
	dir            string
	session        session
	stdout, stderr bytes.Buffer // of the last command
}

func newDesk(t *testing.T, files map[string]string) *desk {
	if testing.Short() {
		t.Skip(elsewhere)
	}
	d := &desk{t: t, dir: t.TempDir()}
	t.Cleanup(d.session.close)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// capstan runs one command line, which must end with the status.
func (d *desk) capstan(status int, args ...string) {
	d.t.Helper()
	d.stdout.Reset()
	d.stderr.Reset()
	e, err := d.session.run(order{Dir: d.dir, Env: append(os.Environ(), "CAPSTAN_STORE="+filepath.Join(d.dir, "runs.db")), Args: args})
	d.stdout.WriteString(e.Stdout)
	d.stderr.WriteString(e.Stderr)
	if err != nil {
		e.Status = -1 // killed
	}
	if e.Status != status {
		d.t.Fatalf("%q: %v, status %d, want %d\n%s%s", args, err, e.Status, status, &d.stdout, &d.stderr)
	}
}

// TestNotKept checks the advice about runs that could not be stored. Capstan
// suggests a resume only if all except the end is stored.
func TestNotKept(t *testing.T) {
	d := newDesk(t, map[string]string{"one.yaml": "cascade_id: one\nphases: [{name: a, compose: a}]"})
	d.capstan(0, "run", "one.yaml")
	for does, stored := range map[string]bool{"INSERT ON run": false, "INSERT ON result": true} {
		db, err := sql.Open("sqlite", filepath.Join(d.dir, "runs.db"))
		if err == nil {
			_, err = db.Exec("CREATE TRIGGER full BEFORE " + does + " BEGIN SELECT RAISE(ABORT, 'no room'); END")
		}
		if err != nil {
			t.Fatal(err)
		}
		d.capstan(exitBroken, "run", "one.yaml", "--run-id", "r")
		if advised := strings.Contains(d.stderr.String(), "next: capstan resume r continues"); advised != stored || !strings.Contains(d.stderr.String(), "no room") {
			t.Errorf("%s fails: %s", does, &d.stderr)
		}
		if _, err = db.Exec("DROP TRIGGER full"); err != nil {
			t.Error(err)
		}
		db.Close()
	}
	d.capstan(0, "resume", "r")
}

// TestFreezeOnFullDisk checks that test record reports a full disk, and
// succeeds when there is room again.
func TestFreezeOnFullDisk(t *testing.T) {
	d := newDesk(t, map[string]string{"one.yaml": "cascade_id: one\nphases: [{name: a, compose: a}]"})
	small := filepath.Join(d.dir, "tests")
	disk := func(args ...string) error { return exec.Command(args[0], append(args[1:], small)...).Run() }
	if err := errors.Join(os.Mkdir(small, 0o755), disk("mount", "-t", "tmpfs", "-o", "size=4k", "none")); err != nil {
		t.Skipf("no small disk here: %v", err)
	}
	t.Cleanup(func() {
		if err := disk("umount"); err != nil {
			t.Error(err)
		}
	})
	d.capstan(0, "run", "one.yaml")
	d.capstan(exitBroken, "test", "record", "last", "--name", "x")
	if err := disk("mount", "-o", "remount,size=1m"); err != nil {
		t.Fatal(err)
	}
	d.capstan(0, "test", "record", "last", "--name", "x")
	d.capstan(exitUsage, "test", "record", "last", "--name", "x/one.yaml", "--tests", "tests/x/cascade")
}

// lines returns the lines of a file in the folder.
func (d *desk) lines(name string) []string {
	text, _ := os.ReadFile(filepath.Join(d.dir, name))
	return strings.Fields(string(text))
}
