package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
)

// A system is one way to hold the conversation.
type system struct {
	name  string
	kind  string // what it does beside asking
	of    string // the module whose version the table tells
	ready func(url string, turns int) (talk, error)
}

// A talk holds one whole conversation. It may be held by many at once.
type talk func(context.Context) error

// bareName is the system that the others are divided by.
const bareName = "go-openai"

func systems() []system {
	const capstan, goOpenAI = "github.com/seed61713e19/capstan", "github.com/sashabaranov/go-openai"
	return []system{
		{bareName, "a bare call, nothing is checked", goOpenAI, bare},
		{"net/http", "by hand, nothing is checked", "", byHand},
		{"a loop by hand", "go-openai, text/template, checks, retries", goOpenAI, loop},
		{"Capstan", "template, three wards, every event told", capstan, gated},
		{"Capstan with journal", "and its run kept", capstan, kept},
		{"Eino", "chain of template, model, checks", "github.com/cloudwego/eino", einoChain},
		{"langchaingo", "prompt template, model, checks", "github.com/tmc/langchaingo", langchain},
		{"Genkit", "flow of prompt, model, checks", "github.com/firebase/genkit/go", genkitFlow},
	}
}

// chosen are the bare call and the systems of the names.
func chosen(names string) ([]system, error) {
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

// version is what was measured of a module, "" where that is not known.
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
