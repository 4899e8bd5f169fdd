package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A Provider describes an endpoint: its address, its protocol and its special cases.
// Package openai has the client.
type Provider struct {
	Name      string            // the prefix of a model's name, before the colon
	API       string            // the protocol: "" for chat completions, messages (Anthropic) or responses (OpenAI)
	BaseURL   string            // with the path of the version; "" if only BaseEnv has the address
	BaseEnv   string            // the environment variable with another base URL; may be ""
	KeyEnv    string            // the environment variable with the key; may be ""
	Keyless   bool              // reports whether the endpoint works without a key
	KeyHeader string            // the header for the key; "" for Authorization: Bearer
	Headers   map[string]string // headers of every request
	Prices    Prices            // the prices of its models; they replace the public prices
	Costs     bool              // reports whether the replies have the cost
	Limits    Limits            // the limits for requests

	LimitField  string   // the member for max_output_tokens; "" for max_tokens
	CacheField  string   // the member with the key for the prompt cache; may be ""
	CacheHeader string   // the header with the key for the prompt cache; may be ""
	Format      string   // the response_format: "" for json_schema, or json_object
	Finish      []string // further finish reasons of complete answers
	ForeignCall Extra    // the members that a tool call of another provider's model must have
	CallID      int      // the length that ids of tool calls must have, in letters and digits; 0 for any id
}

// Providers returns the built-in providers in the order of their names.
func Providers() []Provider {
	const limit = "max_completion_tokens" // OpenAI's reasoning models reject max_tokens
	return []Provider{
		{Name: "anthropic", API: Messages, BaseURL: "https://api.anthropic.com/v1", BaseEnv: "ANTHROPIC_BASE_URL", KeyEnv: "ANTHROPIC_API_KEY"},
		{Name: "azure", BaseEnv: "AZURE_OPENAI_ENDPOINT", KeyEnv: "AZURE_OPENAI_API_KEY", KeyHeader: "api-key", LimitField: limit, CacheField: "prompt_cache_key"},
		{Name: "deepseek", BaseURL: "https://api.deepseek.com/v1", KeyEnv: "DEEPSEEK_API_KEY", Format: "json_object"},
		{Name: "fireworks", BaseURL: "https://api.fireworks.ai/inference/v1", KeyEnv: "FIREWORKS_API_KEY"},
		{Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyEnv: "GEMINI_API_KEY",
			ForeignCall: `{"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}}`},
		{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", KeyEnv: "GROQ_API_KEY", LimitField: limit},
		{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1", BaseEnv: "LMSTUDIO_BASE_URL", KeyEnv: "LMSTUDIO_API_KEY", Keyless: true},
		{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", KeyEnv: "MISTRAL_API_KEY", CallID: 9},
		{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", BaseEnv: "OLLAMA_BASE_URL", KeyEnv: "OLLAMA_API_KEY", Keyless: true},
		{Name: OpenAI, BaseURL: "https://api.openai.com/v1", BaseEnv: "OPENAI_BASE_URL", KeyEnv: "OPENAI_API_KEY", LimitField: limit, CacheField: "prompt_cache_key"},
		{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY", Costs: true},
		{Name: "together", BaseURL: "https://api.together.xyz/v1", KeyEnv: "TOGETHER_API_KEY"},
		{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", BaseEnv: "VLLM_BASE_URL", KeyEnv: "VLLM_API_KEY", Keyless: true},
		{Name: "xai", BaseURL: "https://api.x.ai/v1", KeyEnv: "XAI_API_KEY", LimitField: limit, CacheHeader: "X-Grok-Conv-Id"},
	}
}

// Header returns the headers of a request. The headers of the provider replace
// the default ones.
func (p Provider) Header(key string) http.Header {
	h := http.Header{"User-Agent": {"capstan"}}
	switch {
	case key == "":
	case p.KeyHeader != "":
		h.Set(p.KeyHeader, key)
	case p.API == Messages:
		h.Set("X-Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	if p.API == Messages {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	for name, value := range p.Headers {
		h.Set(name, value)
	}
	return h
}

// Messages is the value of [Provider.API] for Anthropic's protocol.
const Messages = "messages"

// OpenAI is the provider of model names without a prefix.
const OpenAI = "openai"

// Builtin returns the built-in provider with the name.
func Builtin(name string) (Provider, bool) {
	all := Providers()
	if i := slices.IndexFunc(all, func(p Provider) bool { return p.Name == name }); i >= 0 {
		return all[i], true
	}
	return Provider{}, false
}

// SplitName splits a model's name at the first colon into provider and model.
// The provider of a name without a colon is [OpenAI]. Other providers must be
// built in or listed in more.
func SplitName(name string, more ...string) (provider, model string, err error) {
	prefix, rest, found := strings.Cut(name, ":")
	if !found {
		return OpenAI, name, nil
	}
	all := slices.Clone(more)
	for _, p := range Providers() {
		all = append(all, p.Name)
	}
	if !slices.Contains(all, prefix) {
		slices.Sort(all)
		return "", "", fmt.Errorf("model %s: there is no provider %q; the providers are %s. A model whose own name has a colon is written behind its provider, as in ollama:%s or %s:%s",
			name, prefix, strings.Join(slices.Compact(all), ", "), name, OpenAI, name)
	}
	if rest == "" {
		return "", "", fmt.Errorf("model %s: names no model; write %s:MODEL", name, prefix)
	}
	return prefix, rest, nil
}

// Base returns the base URL and the name of the environment variable with that
// URL. The name is "" for the default URL.
func (p Provider) Base(getenv func(string) string) (base, from string) {
	if p.BaseEnv == "" || strings.TrimSpace(getenv(p.BaseEnv)) == "" {
		return p.BaseURL, ""
	}
	base = strings.TrimSpace(getenv(p.BaseEnv))
	if u, err := url.Parse(base); err == nil && p.BaseURL == "" && !strings.Contains(u.Path, "/openai") { // an Azure resource; the API is below its address
		base = u.JoinPath("openai/v1").String()
	} else if err == nil && p.API == Messages && !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") { // as in Anthropic's SDKs
		base = u.JoinPath("v1").String()
	}
	return base, p.BaseEnv
}

// Missing returns a message about the environment variable that the provider
// needs, or "".
func (p Provider) Missing(getenv func(string) string) string {
	base, from := p.Base(getenv)
	switch {
	case base == "":
		return fmt.Sprintf("%s is not set: it says where %s is", p.BaseEnv, p.Name)
	case p.KeyEnv == "" || p.Keyless || from != "" && p.BaseURL != "" || strings.TrimSpace(getenv(p.KeyEnv)) != "":
		return ""
	case p.BaseEnv != "" && p.BaseURL != "":
		return fmt.Sprintf("%s is not set: %s needs a key (%s names another endpoint)", p.KeyEnv, p.Name, p.BaseEnv)
	}
	return fmt.Sprintf("%s is not set: %s needs a key", p.KeyEnv, p.Name)
}

// callID returns an id of a call that the provider accepts. Equal ids have
// equal results.
func (p Provider) callID(id string) string {
	if id == "" || p.CallID == 0 || len(id) == p.CallID && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:p.CallID]
}
