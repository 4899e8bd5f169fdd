package telemetry_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/telemetry"
)

// answering is a model whose responses have all fields.
type answering struct {
	contexts []string // the traceparent of each call
	tell     func(model.Request) model.Response
}

func (a *answering) Call(ctx context.Context, r model.Request) (model.Response, error) {
	a.contexts = append(a.contexts, traceparent(ctx))
	resp := a.tell(r)
	if resp.Failure != nil {
		return resp, resp.Failure
	}
	return resp, nil
}

func secretResponse(model.Request) model.Response {
	return model.Response{
		Text: "a secret place", Model: "gpt-5-2026", Finish: "length", ID: "resp-7", Provider: "azure", Server: "llm.example:8443",
		Usage: model.Usage{Calls: 1, InputTokens: 100, OutputTokens: 20, Cached: 60, Reasoning: 5, Estimated: true},
	}
}

const plainCascade = "cascade_id: one\nphases: [{name: say, instructions: Tell of a secret place., wards: {post: [{validator: non_empty}, {validator: contains, with: {text: owl}, mode: advisory}]}}]\n"

// fromEnvironment returns a Telemetry for the variables of this process.
func fromEnvironment(t *testing.T, r *receiver, variables ...string) *telemetry.Telemetry {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
	for i := 0; i < len(variables); i += 2 {
		t.Setenv(variables[i], variables[i+1])
	}
	tel, err := telemetry.FromEnvironment(t.Context(), os.Getenv, telemetry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tel
}

// TestAnswerIsTold checks the attributes of a response, and that no content is sent.
func TestAnswerIsTold(t *testing.T) {
	rec := newReceiver(t)
	tel := fromEnvironment(t, rec)
	if _, err := runWith(t, tel, "r", &answering{tell: secretResponse}, plainCascade); err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	s := rec.span("chat gpt-5")
	for key, want := range map[string]string{
		"gen_ai.provider.name": "azure.ai.openai", "gen_ai.response.model": "gpt-5-2026", "gen_ai.response.id": "resp-7", "server.address": "llm.example",
	} {
		if got := text(s, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := find(s.Attributes, "gen_ai.response.finish_reasons").GetArrayValue().GetValues(); len(got) != 1 || got[0].GetStringValue() != "length" {
		t.Errorf("finish reasons %v", got)
	}
	for key, want := range map[string]int64{
		"gen_ai.usage.input_tokens": 100, "gen_ai.usage.cache_read.input_tokens": 60, "gen_ai.usage.reasoning.output_tokens": 5, "server.port": 8443,
	} {
		if got := number(s, key); got != want {
			t.Errorf("%s is %d, want %d", key, got, want)
		}
	}
	for _, s := range []string{"chat gpt-5", "invoke_workflow one"} {
		if !find(rec.span(s).Attributes, "capstan.usage.estimated").GetBoolValue() {
			t.Errorf("%s does not say that its tokens are estimated", s)
		}
	}
	if strings.Contains(rec.raw.String(), "secret place") {
		t.Error("what was said is sent")
	}
}

// points returns the values of a metric by its attributes.
func (r *receiver) points(name string) map[string]string {
	out := map[string]string{}
	put := func(attributes []*common.KeyValue, value string) {
		words := map[string]string{}
		for _, a := range attributes {
			words[a.Key] = a.Value.GetStringValue()
			if _, is := a.Value.GetValue().(*common.AnyValue_StringValue); !is {
				words[a.Key] = a.Value.String()
			}
		}
		var line []string
		for _, key := range slices.Sorted(maps.Keys(words)) {
			line = append(line, key+"="+words[key])
		}
		out[strings.Join(line, " ")] = value
	}
	for _, batch := range r.metrics {
		for _, rm := range batch.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, m := range sm.Metrics {
					if m.Name != name {
						continue
					}
					if h, ok := m.Data.(*metricspb.Metric_Histogram); ok {
						for _, p := range h.Histogram.DataPoints {
							put(p.Attributes, fmt.Sprintf("%d, %g %s", p.Count, p.GetSum(), m.Unit))
						}
					}
					if s, ok := m.Data.(*metricspb.Metric_Sum); ok {
						for _, p := range s.Sum.DataPoints {
							put(p.Attributes, fmt.Sprint(p.GetAsInt()))
						}
					}
				}
			}
		}
	}
	return out
}

// TestMetrics checks tokens, durations and verdicts, also without spans.
func TestMetrics(t *testing.T) {
	rec := newReceiver(t)
	tel := fromEnvironment(t, rec, "OTEL_TRACES_EXPORTER", "none")
	for _, id := range []string{"a", "b"} {
		if _, err := runWith(t, tel, id, &answering{tell: secretResponse}, plainCascade); err != nil {
			t.Fatal(err)
		}
	}
	failing := &answering{tell: func(model.Request) model.Response {
		return model.Response{Failure: &model.Failure{Class: model.Rejected, Message: "no"}}
	}}
	if _, err := runWith(t, tel, "c", failing, plainCascade); err == nil {
		t.Fatal("it answered")
	}
	stop(t, tel)
	if len(rec.requests) > 0 {
		t.Error("spans were sent")
	}
	by := "gen_ai.operation.name=chat gen_ai.provider.name=azure.ai.openai gen_ai.request.model=gpt-5 gen_ai.response.model=gpt-5-2026"
	at := "server.address=llm.example server.port=int_value:8443"
	wanted := map[string]string{
		"capstan.usage.estimated=bool_value:true " + by + " gen_ai.token.type=input " + at:  "2, 200 {token}",
		"capstan.usage.estimated=bool_value:true " + by + " gen_ai.token.type=output " + at: "2, 40 {token}",
	}
	if got := rec.points("gen_ai.client.token.usage"); !maps.Equal(got, wanted) {
		t.Errorf("tokens: got %v\nwant %v", got, wanted)
	}
	durations := rec.points("gen_ai.client.operation.duration")
	failed := "error.type=rejected gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-5"
	if len(durations) != 2 || !strings.HasPrefix(durations[by+" "+at], "2, ") || !strings.HasPrefix(durations[failed], "1, ") {
		t.Errorf("durations: %v", durations)
	}
	verdicts := map[string]string{
		"capstan.mode=blocking capstan.moment=post gen_ai.evaluation.name=non_empty gen_ai.evaluation.score.label=pass": "2",
		"capstan.mode=advisory capstan.moment=post gen_ai.evaluation.name=contains gen_ai.evaluation.score.label=fail":  "2",
	}
	if got := rec.points("capstan.verdicts"); !maps.Equal(got, verdicts) {
		t.Errorf("verdicts: got %v\nwant %v", got, verdicts)
	}
}

// TestLostMetrics checks that lost metrics are reported at the end.
func TestLostMetrics(t *testing.T) {
	rec := newReceiver(t)
	rec.Config.Handler = http.NotFoundHandler()
	tel := fromEnvironment(t, rec, "OTEL_TRACES_EXPORTER", "none")
	if _, err := runWith(t, tel, "a", &answering{tell: secretResponse}, plainCascade); err != nil {
		t.Fatal(err)
	}
	if err := tel.Shutdown(t.Context()); err == nil || !strings.Contains(err.Error(), "metrics") {
		t.Errorf("got %v", err)
	}
}
