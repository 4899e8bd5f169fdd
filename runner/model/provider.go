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

// A Provider is an endpoint, with the protocol that it speaks and what is different
// about it. It is data: the client is in package openai.
type Provider struct {
	Name      string            // before the colon of a model's name
	API       string            // the protocol: "" for chat completions, messages (Anthropic's), or responses (OpenAI's)
	BaseURL   string            // with the version's path; "" where only BaseEnv says it
	BaseEnv   string            // the variable that says another base URL; "" for none
	KeyEnv    string            // the variable that holds the key; "" for none
	Keyless   bool              // it answers without a key
	KeyHeader string            // the header that the key goes in as it is; "" for Authorization: Bearer
	Headers   map[string]string // sent with every request
	Prices    Prices            // of its models; win over the shipped ones
	Costs     bool              // it reports what an answer costs
	Limits    Limits            // of the requests to it

	LimitField  string   // what max_output_tokens is called; "" for max_tokens
	CacheField  string   // the member that names a run for its prompt cache; "" for none
	CacheHeader string   // the header that does
	Format      string   // the response_format that it takes: "" for json_schema, or json_object
	Finish      []string // finish reasons that mean a normal end, beside the known ones
	ForeignCall Extra    // what a tool call of another provider's model has to carry
	CallID      int      // how many letters and digits the id of a tool call must be; 0 for any id
}

// Providers returns the built-in providers in the order of their names.
func Providers() []Provider {
	const limit = "max_completion_tokens" // max_tokens is refused by OpenAI's reasoning models
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

// Header is what the provider wants in that of every request; what it says of it
// wins over the rest.
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

// Messages is the protocol of Anthropic, see [Provider.API].
const Messages = "messages"

// OpenAI is the provider of names that name none.
const OpenAI = "openai"

// Builtin is the built-in provider of a name.
func Builtin(name string) (Provider, bool) {
	all := Providers()
	if i := slices.IndexFunc(all, func(p Provider) bool { return p.Name == name }); i >= 0 {
		return all[i], true
	}
	return Provider{}, false
}

// SplitName is the provider and the model that a name means: what stands before
// the first colon is one of the built-in providers or of more; a name without a
// colon is of [OpenAI]. An unknown provider, or a missing model, is an error
// that tells how such a name is written.
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

// Base is the endpoint's base URL, and where it is from: a variable of the
// environment, or "".
func (p Provider) Base(getenv func(string) string) (base, from string) {
	if p.BaseEnv == "" || strings.TrimSpace(getenv(p.BaseEnv)) == "" {
		return p.BaseURL, ""
	}
	base = strings.TrimSpace(getenv(p.BaseEnv))
	if u, err := url.Parse(base); err == nil && p.BaseURL == "" && !strings.Contains(u.Path, "/openai") { // a resource of Azure's, whose door is below it
		base = u.JoinPath("openai/v1").String()
	} else if err == nil && p.API == Messages && !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") { // as Anthropic's SDKs have it
		base = u.JoinPath("v1").String()
	}
	return base, p.BaseEnv
}

// Missing says what the environment has to have before the provider can be
// asked; "" if it has it.
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

// callID is a call's id as the provider takes it. Another provider's may not be
// such; it is the same one each time.
func (p Provider) callID(id string) string {
	if id == "" || p.CallID == 0 || len(id) == p.CallID && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:p.CallID]
}
