package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
)

// A system is one way to run the conversation.
type system struct {
	name  string
	kind  string // its features
	of    string // the module whose version the table shows
	ready func(url string, turns int) (talk, error)
}

// A talk runs one whole conversation. It is safe for concurrent use.
type talk func(context.Context) error

// bareName is the name of the baseline of all comparisons.
const bareName = "go-openai"

func systems() []system {
	const capstan, goOpenAI = "github.com/seed61713e19/capstan", "github.com/sashabaranov/go-openai"
	return []system{
		{bareName, "a bare call without checks", goOpenAI, bare},
		{"net/http", "by hand, without checks", "", byHand},
		{"a loop by hand", "go-openai, text/template, checks, retries", goOpenAI, loop},
		{"Capstan", "template, three wards, every event sent to a sink", capstan, gated},
		{"Capstan with journal", "the same, with the run stored", capstan, journaled},
		{"Eino", "chain of template, model, checks", "github.com/cloudwego/eino", einoChain},
		{"langchaingo", "prompt template, model, checks", "github.com/tmc/langchaingo", langchain},
		{"Genkit", "flow of prompt, model, checks", "github.com/firebase/genkit/go", genkitFlow},
	}
}

// selected returns the bare call and the named systems.
func selected(names string) ([]system, error) {
	all := systems()
	if names == "" {
		return all, nil
	}
	list := all[:1:1]
	for _, name := range strings.Split(names, ",") {
		s, err := named(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if s.name != bareName {
			list = append(list, s)
		}
	}
	return list, nil
}

func named(name string) (system, error) {
	var names []string
	for _, s := range systems() {
		if strings.EqualFold(s.name, name) {
			return s, nil
		}
		names = append(names, s.name)
	}
	return system{}, fmt.Errorf("no system %q: there are %s", name, strings.Join(names, ", "))
}

// version returns the measured version of a module, or "" if it is unknown.
func version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == module && m.Replace == nil {
			return m.Version
		}
	}
	return ""
}
