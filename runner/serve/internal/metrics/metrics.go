// Package metrics counts the work of a server and its runs, and writes the counts in the
// text format of Prometheus.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators"
)

// Metrics are the metrics of one server. Make them with [New]. They are safe for
// concurrent use.
type Metrics struct {
	registry                *prometheus.Registry
	started, ended          *prometheus.CounterVec
	calls, tokens, verdicts *prometheus.CounterVec
	refused, cost           prometheus.Counter
	requests                *prometheus.CounterVec
	latency, store          *prometheus.HistogramVec
}

// New returns metrics that count from zero, with those of the Go runtime and the process.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		started:  counter("runs_started_total", "Runs started or resumed.", "cascade"),
		ended:    counter("runs_ended_total", "Runs that ended or stopped to wait for a person.", "cascade", "status"),
		refused:  total("runs_refused_total", "Runs and judgements refused because all places were taken."),
		calls:    counter("model_calls_total", "Model calls by result: ok, or the class of the failure.", "result"),
		tokens:   counter("model_tokens_total", "Tokens of model calls.", "direction"),
		verdicts: counter("verdicts_total", "Verdicts by gate: pass, fail, skipped, or error if the gate gave none.", "gate", "verdict"),
		cost:     total("model_cost_usd_total", "Cost of model calls in US dollars."),
		requests: counter("http_requests_total", "HTTP requests.", "route", "status"),
		latency:  histogram("http_request_duration_seconds", "Duration of HTTP requests.", "route"),
		store:    histogram("store_operation_duration_seconds", "Duration of operations of the store of runs.", "operation"),
	}
	m.registry.MustRegister(m.started, m.ended, m.refused, m.calls, m.tokens, m.verdicts, m.cost, m.requests, m.latency, m.store,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "capstan", Name: name, Help: help}, labels)
}

func total(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "capstan", Name: name, Help: help})
}

func histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	buckets := []float64{.001, .005, .025, .1, .5, 2.5, 10, 60, 300}
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "capstan", Name: name, Help: help, Buckets: buckets}, labels)
}

// Places registers the number of running runs and its maximum. It must not be called
// twice.
func (m *Metrics) Places(running func() int, limit int) {
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "capstan", Name: name, Help: help}, value))
	}
	gauge("runs_active", "Runs and judgements that have a place now.", func() float64 { return float64(running()) })
	gauge("runs_limit", "Maximum of runs_active.", func() float64 { return float64(limit) })
}

// Started counts the start of a run of an offered cascade.
func (m *Metrics) Started(cascade string) { m.started.WithLabelValues(cascade).Inc() }

// Ended counts the end of a run.
func (m *Metrics) Ended(cascade, status string) { m.ended.WithLabelValues(cascade, status).Inc() }

// Refused counts a run for which no place was free.
func (m *Metrics) Refused() { m.refused.Inc() }

// Emit implements [event.Sink]: it counts model calls and verdicts.
func (m *Metrics) Emit(e event.Event) {
	switch {
	case e.Kind == event.VerdictGiven && e.Verdict != nil:
		m.verdicts.WithLabelValues(e.Verdict.Validator, label(e.Verdict)).Inc()
	case e.Kind == event.ModelReplied && e.Response != nil:
		result := "ok"
		if f := e.Response.Failure; f != nil {
			result = string(f.Class)
		}
		m.calls.WithLabelValues(result).Inc()
		u := e.Response.Usage
		m.tokens.WithLabelValues("input").Add(max(0, float64(u.InputTokens)))
		m.tokens.WithLabelValues("output").Add(max(0, float64(u.OutputTokens)))
		m.cost.Add(max(0, u.CostUSD))
	}
}

func label(v *event.Verdict) string {
	switch {
	case v.Error != nil:
		return "error"
	case v.Skipped():
		return event.Skipped
	case v.Valid != nil && *v.Valid:
		return "pass"
	}
	return "fail"
}

// Judged counts the verdict of a gate on a posted text.
func (m *Metrics) Judged(gate string, v validators.Verdict, err error) {
	verdict := "fail"
	if err != nil {
		verdict = "error"
	} else if v.Valid {
		verdict = "pass"
	}
	m.verdicts.WithLabelValues(gate, verdict).Inc()
}

// Request records an answered HTTP request. The route is the pattern that served it.
func (m *Metrics) Request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(route).Observe(took.Seconds())
}

// Store measures an operation of the store. The returned function ends the
// measurement.
func (m *Metrics) Store(operation string) (done func()) {
	began := time.Now()
	return func() { m.store.WithLabelValues(operation).Observe(time.Since(began).Seconds()) }
}

// ServeHTTP writes the metrics.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}
