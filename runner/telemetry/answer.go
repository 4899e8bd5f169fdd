package telemetry

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/runner/model"
)

// answerer returns the attributes of the model and the server that gave an answer.
func answerer(r *model.Response) []attribute.KeyValue {
	var attributes []attribute.KeyValue
	if r.Provider != "" {
		attributes = append(attributes, providerName.String(convention(clips.Bytes(r.Provider, maxName))))
	}
	if r.Model != "" {
		attributes = append(attributes, responseModel.String(clips.Bytes(r.Model, maxName)))
	}
	if r.Server != "" {
		host, port := r.Server, 0
		if name, number, err := net.SplitHostPort(r.Server); err == nil {
			host = name
			port, _ = strconv.Atoi(number)
		}
		attributes = append(attributes, serverAddress.String(clips.Bytes(host, maxName)))
		if port > 0 {
			attributes = append(attributes, serverPort.Int(port))
		}
	}
	return attributes
}

// answerOf returns the other attributes of an answer.
func answerOf(r *model.Response) []attribute.KeyValue {
	u := r.Usage
	attributes := []attribute.KeyValue{
		inputTokens.Int(u.InputTokens), outputTokens.Int(u.OutputTokens), calls.Int(u.Calls),
		finishReasons.StringSlice([]string{clips.Bytes(cmp.Or(r.Finish, finished(*r)), maxName)}),
	}
	if r.ID != "" {
		attributes = append(attributes, responseID.String(clips.Bytes(r.ID, maxName)))
	}
	if u.Cached > 0 {
		attributes = append(attributes, cachedTokens.Int(u.Cached))
	}
	if u.CacheWrite > 0 {
		attributes = append(attributes, writtenTokens.Int(u.CacheWrite))
	}
	if u.Reasoning > 0 {
		attributes = append(attributes, reasoningTokens.Int(u.Reasoning))
	}
	if u.Estimated {
		attributes = append(attributes, estimated.Bool(true))
	}
	if u.CostUSD != 0 {
		attributes = append(attributes, cost.Float64(u.CostUSD))
	}
	return attributes
}

// replaced returns a list of attributes in which the second list overrides the first.
func replaced(list, with []attribute.KeyValue) []attribute.KeyValue {
	out := slices.Clone(with)
	for _, a := range list {
		if !slices.ContainsFunc(with, func(b attribute.KeyValue) bool { return a.Key == b.Key }) {
			out = append(out, a)
		}
	}
	return out
}

// providers are the prefixes of models' names, with the names of the conventions if they
// differ.
var providers = map[string]string{
	"openai": "", "azure": "azure.ai.openai", "anthropic": "", "gemini": "gcp.gemini", "openrouter": "", "mistral": "mistral_ai", "groq": "",
	"deepseek": "", "together": "", "fireworks": "", "xai": "x_ai", "ollama": "", "vllm": "", "lmstudio": "", "scripted": "", "replay": "",
}

func convention(provider string) string { return cmp.Or(providers[provider], provider) }

// provided splits a model's name into the provider and the name there.
func (t *Telemetry) provided(name string) (provider, model string) {
	if provider, model, cut := strings.Cut(name, ":"); cut {
		if _, known := providers[provider]; known {
			return convention(provider), model
		}
	}
	return t.provider, name
}
