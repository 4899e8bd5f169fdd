package protocol

import "github.com/seed61713e19/capstan/runner/model/internal/jsontree"

// named returns the count of a name. Endpoints have several names for the same count.
func (t *Tally) named(name string) *Count {
	switch name {
	case "prompt_tokens", "input_tokens":
		return &t.Input
	case "completion_tokens", "output_tokens":
		return &t.Output
	case "total_tokens":
		return &t.Total
	case "cached_tokens", "prompt_cache_hit_tokens":
		return &t.Cached
	case "cache_write_tokens":
		return &t.CacheWrite
	case "reasoning_tokens":
		return &t.Reasoning
	}
	return nil
}

// Read takes the counts of a usage object of OpenAI's protocols. A missing or
// invalid number changes nothing.
func (t *Tally) Read(usage jsontree.Value) {
	for name, value := range usage.Members() {
		switch string(name) {
		case "prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details":
			for name, value := range value.Members() {
				if n := string(name); n == "cached_tokens" || n == "cache_write_tokens" || n == "reasoning_tokens" {
					t.named(n).Read(value)
				}
			}
		case "cost":
			if usd, ok := number(value); ok {
				t.Cost = &usd
			}
		default:
			if k := t.named(string(name)); k != nil {
				k.Read(value)
			}
		}
	}
}

// Read takes a number of tokens.
func (c *Count) Read(v jsontree.Value) {
	if n, ok := tokens(v); ok {
		*c = Count{n, true}
	}
}
