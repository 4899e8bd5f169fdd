package engine

import (
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/model"
)

// opening returns the messages before the model's first answer, those that live longest
// first: the system text, the examples, what earlier phases gave, and the instructions.
// Each of these parts ends a beginning that other conversations can share.
func (t *try) opening() ([]model.Message, error) {
	var list []model.Message
	part := func(messages ...model.Message) {
		if list = append(list, messages...); len(messages) > 0 {
			list[len(list)-1].CacheEnd = true
		}
	}
	if t.system != "" {
		part(model.Message{Role: model.System, Content: t.system})
	}
	var examples, documents []model.Message
	for _, e := range t.p.Examples {
		examples = append(examples, model.Message{Role: model.User, Content: e.User}, model.Message{Role: model.Assistant, Content: e.Assistant})
	}
	before := messages.History{Lineage: t.s.Lineage, Previous: t.s.Previous, Input: t.s.Input, State: t.s.State, Outputs: t.s.Outputs}
	for _, text := range before.Context(t.p, t.c.Has) {
		documents = append(documents, model.Message{Role: model.User, Content: text})
	}
	part(examples...)
	part(documents...)
	text := t.prompt
	block, err := t.loopBlock()
	if block != "" {
		text += "\n\n" + block
	}
	part(model.Message{Role: model.User, Content: text})
	return list, err
}

// loopBlock returns the description of loop_until for the author, or "" without
// loop_until.
func (t *try) loopBlock() (string, error) {
	rules := &t.p.Rules
	if rules.Loop == nil || rules.Loop.Ward.Silent {
		return "", nil
	}
	sentence := ""
	v := rules.Loop.Validator
	if rules.LoopPrompt != nil {
		vars := t.vars(rules.LoopPrompt)
		vars["max_attempts"], vars["validator"], vars["description"] = rules.MaxAttempts, v.Name, v.Description
		var err error
		if sentence, err = rules.LoopPrompt.Render(vars); err != nil {
			return "", unreadable(t.at, "loop_until_prompt", err)
		}
	}
	return messages.Prompt("loop_until", map[string]any{
		"validator": v.Name, "description": v.Description, "sentence": sentence, "attempts": rules.MaxAttempts,
	})
}
