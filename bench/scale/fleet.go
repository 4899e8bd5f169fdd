// Command scale simulates a fleet of capstan processes that is larger than the
// measured one. The costs in the simulation are measured; the latencies and
// failures come from a seed. fleet_test.go compares the simulation with
// measurements.
//
//	cd bench && go run ./scale
package main

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A Fleet is a number of processes that share a store and a model provider.
type Fleet struct {
	Seed    uint64
	Runs    int
	AtATime int // concurrent runs
	Effects int // of each run, in sequence

	Workers, Cores int           // processes, and the cores of each
	StoreCores     int           // 0: the store uses the cores of the first process
	Worker, Store  time.Duration // processor time of an effect, on each of the two
	Writer         time.Duration // the time that an effect occupies the only writing connection of its process, including the store

	Latency  time.Duration // of a model call: the median of a log-normal distribution
	Spread   float64       // its sigma
	Fails    float64       // the share of calls that are repeated
	Provider float64       // its limit in calls per second, 0 for none; further calls get 429

	Kill  time.Duration // when the first process dies; 0 for never
	Lease time.Duration
}

// retryAfter is the delay that the provider sends with a 429. look is the
// interval at which a process looks for runs without an owner.
const (
	retryAfter = time.Second
	look       = time.Second
)

// An Outcome is the result of a simulation.
type Outcome struct {
	PerSecond   float64       // runs
	Median, P99 time.Duration // of an effect, without its model
	Refused     int           // calls with a 429
	Repeated    int           // unfinished effects of the dead process
	Again       int           // finished effects that were repeated
	Takeover    time.Duration // from the death to the first effect of the last resumed run
	Busy        float64       // the used share of the workers' cores
	StoreBusy   float64
}

// A pool is a number of cores, assigned in the order of requests.
type pool struct {
	free  int
	queue []func()
	busy  time.Duration
}

type moment struct {
	at  time.Duration
	seq int
	do  func()
}

type calendar []moment

func (c calendar) Len() int { return len(c) }
func (c calendar) Less(i, j int) bool {
	return c[i].at < c[j].at || c[i].at == c[j].at && c[i].seq < c[j].seq
}
func (c calendar) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

// Push implements [heap.Interface].
func (c *calendar) Push(x any) { *c = append(*c, x.(moment)) }

// Pop implements [heap.Interface].
func (c *calendar) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

type run struct {
	worker, done int
	epoch        int // callbacks of an older epoch belong to a dead process
	begun        bool
	lost         bool
	finished     []int // how often each effect was finished
}

type world struct {
	Fleet
	now     time.Duration
	seq     int
	todo    calendar
	rand    *rand.Rand
	workers []*pool
	writers []*pool
	store   *pool
	token   time.Duration // when the provider accepts the next call
	left    int
	took    []time.Duration
	out     Outcome
	live    []*run
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.todo, moment{w.now + d, w.seq, do})
}

// take waits for a core of a pool. then receives a function that releases it.
func (w *world) take(p *pool, then func(give func())) {
	give := func() {
		if len(p.queue) == 0 {
			p.free++
			return
		}
		next := p.queue[0]
		p.queue = p.queue[1:]
		next()
	}
	if p.free == 0 {
		p.queue = append(p.queue, func() { then(give) })
		return
	}
	p.free--
	then(give)
}

// use occupies a core for the duration of the work.
func (w *world) use(p *pool, d time.Duration, then func()) {
	w.take(p, func(give func()) {
		p.busy += d
		w.after(d, func() {
			give()
			then()
		})
	})
}

// write occupies the writing connection of a process, and a core of the store.
func (w *world) write(by int, then func()) {
	w.take(w.writers[by], func(give func()) {
		w.after(w.Writer-w.Store, func() {
			w.use(w.store, w.Store, func() {
				give()
				then()
			})
		})
	})
}

// Simulate simulates all runs of a fleet. The same fleet gives the same
// outcome.
func Simulate(f Fleet) Outcome {
	w := &world{Fleet: f, rand: rand.New(rand.NewPCG(f.Seed, 1)), left: f.Runs}
	for range f.Workers {
		w.workers, w.writers = append(w.workers, &pool{free: f.Cores}), append(w.writers, &pool{free: 1})
	}
	if w.store = w.workers[0]; f.StoreCores > 0 {
		w.store = &pool{free: f.StoreCores}
	}
	for i := range min(f.AtATime, f.Runs) {
		w.begin(i % f.Workers)
	}
	if f.Kill > 0 {
		w.after(f.Kill, w.kill)
	}
	for len(w.todo) > 0 {
		m := heap.Pop(&w.todo).(moment)
		w.now = m.at
		m.do()
	}
	slices.Sort(w.took)
	w.out.PerSecond = float64(f.Runs) / w.now.Seconds()
	w.out.Median, w.out.P99 = w.took[len(w.took)/2], w.took[len(w.took)*99/100]
	var busy time.Duration
	for _, p := range w.workers {
		busy += p.busy
	}
	w.out.Busy = busy.Seconds() / (w.now.Seconds() * float64(f.Workers*f.Cores))
	w.out.StoreBusy = w.store.busy.Seconds() / (w.now.Seconds() * float64(max(f.StoreCores, f.Cores)))
	return w.out
}

// begin begins the next run, if one is left.
func (w *world) begin(worker int) {
	if w.left == 0 {
		return
	}
	w.left--
	r := &run{worker: worker, finished: make([]int, w.Effects)}
	w.live = append(w.live, r)
	w.effect(r)
}

// effect performs the next effect of a run.
func (w *world) effect(r *run) {
	if r.done == w.Effects {
		w.live = slices.DeleteFunc(w.live, func(o *run) bool { return o == r })
		w.begin(r.worker)
		return
	}
	if r.lost {
		r.lost = false
		w.out.Takeover = max(w.out.Takeover, w.now-w.Kill)
	}
	epoch, began := r.epoch, w.now
	still := func(then func()) func() {
		return func() {
			if r.epoch == epoch {
				then()
			}
		}
	}
	w.use(w.workers[r.worker], w.Worker, still(func() {
		r.begun = true
		w.call(still(func() {
			waited := w.now
			w.write(r.worker, still(func() {
				w.took = append(w.took, w.now-waited+min(w.Worker, w.now-began))
				if r.finished[r.done]++; r.finished[r.done] > 1 {
					w.out.Again++
				}
				r.done, r.begun = r.done+1, false
				w.effect(r)
			}))
		}))
	}))
}

// call calls the model until it succeeds.
func (w *world) call(then func()) {
	if w.Provider > 0 {
		if w.token = max(w.token, w.now); w.token-w.now > retryAfter {
			w.out.Refused++
			w.after(retryAfter+time.Duration(w.rand.Float64()*float64(retryAfter)), func() { w.call(then) })
			return
		}
		w.token += time.Duration(float64(time.Second) / w.Provider)
	}
	d := time.Duration(float64(w.Latency) * math.Exp(w.Spread*w.rand.NormFloat64()))
	if w.rand.Float64() < w.Fails {
		w.after(d, func() { w.call(then) })
		return
	}
	w.after(d, then)
}

// kill ends the first process. The others resume its runs after its lease,
// which it last renewed within the last third, when one of them looks.
func (w *world) kill() {
	over := w.Lease - time.Duration(w.rand.Float64()*float64(w.Lease)/3)
	for i, r := range w.live {
		if r.worker != 0 {
			continue
		}
		if r.epoch++; r.begun {
			w.out.Repeated++
		}
		r.begun, r.lost = false, true
		r.worker = 1 + i%(w.Workers-1)
		w.after(over+time.Duration(w.rand.Float64()*float64(look)), func() { w.effect(r) })
	}
}
