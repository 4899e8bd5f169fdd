package runner_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The limits that every reader must keep to.
const (
	feedSize    = 64 * mib
	freeMemory  = 64 * mib
	perByte     = 20
	mostRatio   = 2.5
	slowProcess = 5 * time.Minute
	leastTime   = 400 * time.Millisecond // less is not compared: garbage collection on a busy machine differs by that much
	slowTests   = 12 * time.Minute       // readers that have not begun by then are skipped
)

// A sample is the measurement of a process.
type sample struct {
	CPU    time.Duration `json:"cpu"`
	Err    string        `json:"err"`
	Memory int           `json:"-"` // bytes at its peak, the input included
}

// TestReadersSlow feeds each reader 64 MiB of its worst inputs and compares processor
// time at 8 and 4 MB, each in a process of its own. CAPSTAN_SLOW is "all", or a
// number of readers to draw by CAPSTAN_SLOW_SEED, or a reader's name. The seed also
// orders all readers, so that those skipped for want of time differ.
func TestReadersSlow(t *testing.T) {
	wanted := os.Getenv("CAPSTAN_SLOW")
	if wanted == "" {
		t.Skip("takes minutes: .ci/slow starts it")
	}
	begun := time.Now()
	for _, r := range drawn(readers(), wanted, os.Getenv("CAPSTAN_SLOW_SEED")) {
		for _, input := range slices.Sorted(maps.Keys(r.inputs)) {
			t.Run(r.name+"/"+input, func(t *testing.T) {
				t.Parallel()
				if time.Since(begun) > slowTests {
					t.Skipf("not measured: no time is left; .ci/slow '%s' measures it", r.name)
				}
				compare(t, r, input)
			})
		}
	}
}

func drawn(all []reader, wanted, seed string) []reader {
	n, err := strconv.Atoi(wanted)
	if wanted == "all" {
		n, err = len(all), nil
	}
	if err == nil {
		order := func(r reader) uint64 {
			h := fnv.New64a()
			h.Write([]byte(seed + r.name))
			return h.Sum64()
		}
		slices.SortFunc(all, func(a, b reader) int { return cmp.Compare(order(a), order(b)) })
		return all[:min(n, len(all))]
	}
	return slices.DeleteFunc(all, func(r reader) bool { return r.name != wanted && r.row != wanted })
}

func compare(t *testing.T, r reader, input string) {
	feed := feedSize
	if r.limit == feedSize {
		feed -= 4 << 10 // so that it is read, with what is around it
	}
	whole := readInProcess(t, r, input, feed)
	most := freeMemory + perByte*feedSize
	large := 8_000_000
	if r.limit > 0 {
		large = min(large, r.limit-r.limit/8)
	}
	var first, second sample
	ratio := math.Inf(1)
	for try := 0; try < 2 && ratio > mostRatio; try++ { // once more if something else was running
		first, second = best(t, r, input, large/2), best(t, r, input, large)
		ratio = float64(second.CPU) / float64(max(first.CPU, leastTime))
	}
	t.Logf("64 MiB: %s, %d MiB; %d bytes: %s, %d bytes: %s, ratio %.2f; %s", whole.CPU.Round(time.Millisecond), whole.Memory/mib,
		large/2, first.CPU.Round(time.Millisecond), large, second.CPU.Round(time.Millisecond), ratio, whole.Err)
	switch {
	case r.exempt != "":
		t.Logf("not compared: %s", r.exempt)
	case whole.Memory > most:
		t.Errorf("64 MiB take %d MiB of memory, the limit is %d MiB", whole.Memory/mib, most/mib)
	case ratio > mostRatio:
		t.Errorf("twice the bytes take %.2f times the processor time, the limit is %.1f", ratio, mostRatio)
	case second.Err != "" && (r.refused == "" || !strings.Contains(second.Err, r.refused)):
		t.Errorf("%d bytes: %s", large, second.Err)
	}
}

// best is the fastest of three.
func best(t *testing.T, r reader, input string, n int) sample {
	least := readInProcess(t, r, input, n)
	for range 2 {
		if s := readInProcess(t, r, input, n); s.CPU < least.CPU {
			least = s
		}
	}
	return least
}

// readInProcess reads n bytes in a process of its own, which [TestReadersProcess] is.
func readInProcess(t *testing.T, r reader, input string, n int) (s sample) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), slowProcess)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestReadersProcess$", "-test.v")
	c.Env = append(os.Environ(), "CAPSTAN_READER="+r.name, "CAPSTAN_READER_INPUT="+input, "CAPSTAN_READER_SIZE="+strconv.Itoa(n))
	out, err := c.CombinedOutput()
	_, line, found := bytes.Cut(out, []byte("measured: "))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	if err != nil || !found || json.Unmarshal(line, &s) != nil {
		t.Fatalf("%d bytes: %v: %.2000s", n, err, out)
	}
	s.Memory = int(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10
	return s
}

// TestReadersProcess reads one input and prints what that took.
func TestReadersProcess(t *testing.T) {
	name := os.Getenv("CAPSTAN_READER")
	if name == "" {
		t.Skip("a process of TestReadersSlow")
	}
	n, err := strconv.Atoi(os.Getenv("CAPSTAN_READER_SIZE"))
	if err != nil {
		t.Fatal(err)
	}
	all := readers()
	r := all[slices.IndexFunc(all, func(r reader) bool { return r.name == name })]
	text := r.inputs[os.Getenv("CAPSTAN_READER_INPUT")](n)
	var s sample
	before := processorTime()
	if err := r.read(t, text); err != nil {
		s.Err = fmt.Sprintf("%.300s", err)
	}
	s.CPU = processorTime() - before
	line, _ := json.Marshal(s)
	fmt.Printf("measured: %s\n", line)
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
