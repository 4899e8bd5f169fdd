package main

import (
	"testing"
	"time"
)

func measured() Fleet {
	return Fleet{Seed: 1, Runs: 2000, AtATime: 64, Effects: 9, Workers: 1, Cores: 2, Worker: beforeWrite, Store: storeCost, Writer: writerTime}
}

// TestMeasured compares the simulation with measurements: the effects of a
// single run, and the effects per second of 64 concurrent runs.
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

// TestOneOfThreeDies kills one of three processes with 200 running runs. No
// finished effect is repeated, and all runs continue within the lease plus two
// seconds.
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

// TestProvider checks that the provider's limit is the limit of the fleet, and
// that rejected calls are repeated until all runs are done.
func TestProvider(t *testing.T) {
	f := measured()
	f.Workers, f.StoreCores, f.Latency, f.AtATime, f.Runs, f.Provider = 4, 2, 100*time.Millisecond, 1000, 1000, 900
	o := Simulate(f)
	if o.Refused == 0 || o.PerSecond > 101 || o.PerSecond < 80 {
		t.Errorf("%+v", o)
	}
}
