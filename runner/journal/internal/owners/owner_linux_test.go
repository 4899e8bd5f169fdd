package owners

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// An ended process is gone, even before it was reaped. Machines are
// distinguished without revealing their ids.
func TestEndedProcessIsGone(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(ended.Process.Pid)
	if err := unix.Waitid(unix.P_PID, ended.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + pid); err != nil {
		t.Fatalf("the process was asked: %v", err)
	}
	if at, mine := startTime(pid), startTime("self"); at != "" || mine == "" || mine != startTime(strconv.Itoa(os.Getpid())) {
		t.Errorf("it counts as begun at %q, this process at %q", at, mine)
	}
	if err := ended.Wait(); err != nil {
		t.Fatal(err)
	}
	id, err := os.ReadFile("/etc/machine-id")
	if id = bytes.TrimSpace(id); err == nil && len(id) > 0 && (len(localPlace().Machine) != 16 || strings.Contains(string(id), localPlace().Machine)) {
		t.Errorf("the machine is %q", localPlace().Machine)
	}
}
