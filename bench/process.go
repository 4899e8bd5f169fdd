package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The arguments that start the process of the model or of a system.
const modelProcess, systemProcess = "-model-process", "-system-process"

// scratch is the variable with the folder for temporary files.
const scratch = "BENCH_SCRATCH"

// An order requests one round: concurrent conversations for approximately a given time.
type order struct {
	AtOnce int           `json:"at_once"`
	For    time.Duration `json:"for"`
}

// A round is the result. CPU is the processor time of the system's own process.
// Peak is its maximum memory so far, in KB.
type round struct {
	Turns int           `json:"turns"`
	Wall  time.Duration `json:"wall"`
	CPU   time.Duration `json:"cpu"`
	Peak  int64         `json:"peak_kb"`
	Error string        `json:"error,omitempty"`
}

// serveSystem runs the process of a system. It reads one order per line and
// writes one round per line.
func serveSystem(ctx context.Context, name, url string, turns int) error {
	s, err := named(name)
	if err != nil {
		return err
	}
	hold, err := s.ready(url, turns)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	orders, rounds := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := rounds.Encode(measured(ctx, hold, turns, o)); err != nil {
			return err
		}
	}
}

// measured starts conversations until the time is over. It finishes and counts the running ones.
func measured(ctx context.Context, hold talk, turns int, o order) round {
	var (
		held  atomic.Int64
		fault atomic.Pointer[error]
		wait  sync.WaitGroup
	)
	runtime.GC() // the garbage of an earlier round must not count
	began := time.Now()
	before, _ := resources()
	for range o.AtOnce {
		wait.Go(func() {
			for fault.Load() == nil && time.Since(began) < o.For {
				if err := hold(ctx); err != nil {
					fault.Store(&err)
					return
				}
				held.Add(1)
			}
		})
	}
	wait.Wait()
	after, peak := resources()
	r := round{Turns: int(held.Load()) * turns, Wall: time.Since(began), CPU: after - before, Peak: peak}
	if err := fault.Load(); err != nil {
		r.Error = (*err).Error()
	}
	return r
}

// resources returns the processor time of this process so far, and its maximum
// memory, in KB on Linux.
func resources() (cpu time.Duration, peak int64) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), int64(u.Maxrss)
}

// A child is a process of this program that answers in lines.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a process on a list of cores; 0 is the first.
func start(ctx context.Context, cores []int, dir string, args ...string) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(len(cores)), scratch+"="+dir, "SSL_CERT_FILE="+filepath.Join(dir, authority))
	cmd.Stderr = os.Stderr
	c := &child{cmd: cmd}
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	return c, on(cores, cmd.Start)
}

// on calls start so that the new process stays on those cores.
func on(cores []int, start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, within unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	for _, n := range cores {
		within.Set(n)
	}
	if err := unix.SchedSetaffinity(0, &within); err != nil {
		return fmt.Errorf("core %v: %w", cores, err)
	}
	return errors.Join(start(), unix.SchedSetaffinity(0, &before))
}

func (c *child) line() (string, error) { return c.out.ReadString('\n') }

func (c *child) round(o order) (round, error) {
	line, err := json.Marshal(o)
	if err != nil {
		return round{}, err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return round{}, err
	}
	text, err := c.line()
	if err != nil {
		return round{}, err
	}
	var r round
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return round{}, err
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

func (c *child) stop() error {
	return errors.Join(c.in.Close(), c.cmd.Wait())
}
