package main

import (
	"fmt"
	"math"
	"time"
)

// Measurements on 2 cores with PostgreSQL on the same machine.
// docs/explanation/scale.md has the commands.
const (
	capstanCost = 83 * time.Microsecond  // processor time of an effect with the journal
	storeCost   = 37 * time.Microsecond  // processor time of the server for it
	writerTime  = 118 * time.Microsecond // time on the writing connection: 943 runs/s of 9 effects
	alone       = 180 * time.Microsecond // the median time of an effect of a single run
	beforeWrite = alone - writerTime     // the process's own part of it
	bytesKept   = 1267                   // the size of an effect in the store, with texts of a sentence
)

func main() {
	const perSecond, effects = 1000, 9
	each := float64(perSecond * effects)
	fmt.Printf("%d runs/s of %d effects: %.1f cores of capstan, %.1f of PostgreSQL, %.0f MB/s in the store\n",
		perSecond, effects, each*capstanCost.Seconds(), each*storeCost.Seconds(), each*bytesKept/1e6)
	fmt.Printf("with Temporal between: %.0f to %.0f cores of its server, %.0f to %.0f of workers\n\n",
		math.Ceil(each/200), math.Ceil(each/145), math.Ceil(perSecond/90.), math.Ceil(perSecond/60.))
	fmt.Println("machines of 2 cores  store cores  calls/s of the provider  runs/s  p99 of an effect  store busy  429")
	for _, f := range []Fleet{
		{Workers: 1, StoreCores: 2}, {Workers: 2, StoreCores: 2}, {Workers: 4, StoreCores: 2}, {Workers: 8, StoreCores: 2}, {Workers: 8, StoreCores: 4}, {Workers: 8, StoreCores: 8},
		{Workers: 8, StoreCores: 2, Provider: 9000},
	} {
		f.Seed, f.Runs, f.AtATime, f.Effects, f.Cores = 1, 40000, 10000, effects, 2
		f.Worker, f.Store, f.Writer = beforeWrite, storeCost, writerTime
		f.Latency, f.Spread, f.Fails = 100*time.Millisecond, 0.6, 0.02
		o := Simulate(f)
		fmt.Printf("%19d  %11d  %23.0f  %6.0f  %16v  %9.0f%%  %d\n", f.Workers, f.StoreCores, f.Provider, o.PerSecond, o.P99.Round(10*time.Microsecond), 100*o.StoreBusy, o.Refused)
	}
}
