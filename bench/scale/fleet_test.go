package main

import (
	"testing"
	"time"
)

func measured() Fleet {
	return Fleet{Seed: 1, Runs: 2000, AtATime: 64, Effects: 9, Workers: 1, Cores: 2, Worker: beforeWrite, Store: storeCost, Writer: writerTime}
}

// What was measured comes out before what was not is believed: a run that is alone
// has its effects in the time of one, and 64 at a time are as many a second.
func TestMeasured(t *testing.T) {
	f := measured()
	f.AtATime = 1
	if o := Simulate(f); o.Median < alone*85/100 || o.Median > alone*115/100 {
		t.Errorf("an effect alone takes %v, and took %v", o.Median, alone)
	}
	o := Simulate(measured())
	if o.PerSecond < 943*85/100 || o.PerSecond > 943*115/100 {
		t.Errorf("%+v", o)
	}
}

// One of three dies with 200 runs under way: nothing that had finished is made again,
// and all go on within the lease and two seconds.
func TestOneOfThreeDies(t *testing.T) {
	for seed := range uint64(20) {
		f := measured()
		f.Seed, f.Runs, f.AtATime, f.Workers, f.StoreCores = seed, 200, 200, 3, 2
		f.Latency, f.Spread, f.Kill, f.Lease = time.Second, 0.5, 3*time.Second, 10*time.Second
		o := Simulate(f)
		if o.Again != 0 || o.Repeated == 0 || o.Takeover < 6*time.Second || o.Takeover > f.Lease+2*time.Second {
			t.Errorf("%d: %+v", seed, o)
		}
		if o != Simulate(f) {
			t.Errorf("%d: not the same twice", seed)
		}
	}
}

// A provider that takes less than the fleet asks is the limit, and what it refuses is
// asked for again until all is done.
func TestProvider(t *testing.T) {
	f := measured()
	f.Workers, f.StoreCores, f.Latency, f.AtATime, f.Runs, f.Provider = 4, 2, 100*time.Millisecond, 1000, 1000, 900
	o := Simulate(f)
	if o.Refused == 0 || o.PerSecond > 101 || o.PerSecond < 80 {
		t.Errorf("%+v", o)
	}
}
