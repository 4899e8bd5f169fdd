package messages

import (
	"strings"

	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/templates/prompts"
)

// Task returns the description of a whole cascade's task, for the choice among
// its tries.
func Task(description string, input map[string]any) string {
	return strings.TrimSpace(description + "\n\nInput: " + Text(input))
}

// Evaluator returns the prompt to pick the best of several answers to a task,
// by its number from 1.
func Evaluator(task, instructions string, answers []string) (string, error) {
	return candidatesPrompt("sounding_evaluator", task, instructions, answers)
}

// Aggregator returns the prompt to combine several answers to a task into one.
func Aggregator(task, instructions string, answers []string) (string, error) {
	return candidatesPrompt("sounding_aggregator", task, instructions, answers)
}

func candidatesPrompt(name, task, instructions string, answers []string) (string, error) {
	var shown []any
	for i, text := range answers {
		shown = append(shown, map[string]any{"number": i + 1, "text": text})
	}
	mark := prompts.Mark(append([]string{task}, answers...)...)
	return Prompt(name, map[string]any{"task": task, "instructions": instructions, "candidates": shown, "mark": mark})
}

// Reforge returns the prompt to improve an answer. With whole, the answer is
// that of a whole cascade, and each phase improves its part.
func Reforge(task, answer, honing string, whole bool) (string, error) {
	return Prompt("sounding_reforge", map[string]any{"task": task, "answer": answer, "honing": honing, "whole": whole, "mark": prompts.Mark(answer)})
}

// PhaseTask returns the instructions of a phase after the changed task of the whole
// cascade. For an unchanged task it returns only the instructions.
func PhaseTask(whole, instructions string) string {
	if whole == "" {
		return instructions
	}
	return whole + "\n\n---\nYour part of it:\n\n" + instructions
}

// Rewrite returns the prompt to rephrase a task.
func Rewrite(task, mutation string) (string, error) {
	return Prompt("sounding_rewrite", map[string]any{"task": task, "mutation": mutation, "mark": prompts.Mark(task)})
}

// Mutation returns the i-th built-in mutation of a mode, from 0. After the last
// one it starts again.
func Mutation(mode string, i int) string {
	text, _ := prompts.Source("mutations_" + mode)
	list := strings.Split(strings.TrimSpace(text), "\n")
	return list[i%len(list)]
}

// WithMutation returns a task with a mutation before or after it.
func WithMutation(mode, task, mutation string) string {
	if mode == keywords.Augment {
		return mutation + "\n\n" + task
	}
	return task + "\n\n" + mutation
}
