package words

import (
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/templates/prompts"
)

// Task is what a whole cascade is to do, for whoever is to choose among its tries.
func Task(description string, input map[string]any) string {
	return strings.TrimSpace(description + "\n\nInput: " + Text(input))
}

// Evaluator asks for the best of several answers to a task, by its number from 1.
func Evaluator(task, instructions string, answers []string) (string, error) {
	return ofSeveral("sounding_evaluator", task, instructions, answers)
}

// Aggregator asks for one answer to a task that is made of several.
func Aggregator(task, instructions string, answers []string) (string, error) {
	return ofSeveral("sounding_aggregator", task, instructions, answers)
}

func ofSeveral(name, task, instructions string, answers []string) (string, error) {
	var shown []any
	for i, text := range answers {
		shown = append(shown, map[string]any{"number": i + 1, "text": text})
	}
	mark := prompts.Mark(append([]string{task}, answers...)...)
	return Prompt(name, map[string]any{"task": task, "instructions": instructions, "candidates": shown, "mark": mark})
}

// Reforge asks for a better answer to a task than one that was picked; of a whole
// cascade each phase is asked for its part of one.
func Reforge(task, answer, honing string, whole bool) (string, error) {
	return Prompt("sounding_reforge", map[string]any{"task": task, "answer": answer, "honing": honing, "whole": whole, "mark": prompts.Mark(answer)})
}

// Part is the instructions of one phase behind what the whole is asked, where that
// is another than it was: a try that is to be made otherwise.
func Part(whole, instructions string) string {
	if whole == "" {
		return instructions
	}
	return whole + "\n\n---\nYour part of it:\n\n" + instructions
}

// Rewrite asks for a task in other words.
func Rewrite(task, mutation string) (string, error) {
	return Prompt("sounding_rewrite", map[string]any{"task": task, "mutation": mutation, "mark": prompts.Mark(task)})
}

// Mutation is the i-th of the shipped mutations of a mode, from 0, round and
// round.
func Mutation(mode string, i int) string {
	text, _ := prompts.Source("mutations_" + mode)
	list := strings.Split(strings.TrimSpace(text), "\n")
	return list[i%len(list)]
}

// Mutated is a task with a mutation, which stands behind it or in front of it.
func Mutated(mode, task, mutation string) string {
	if mode == cascades.Augment {
		return mutation + "\n\n" + task
	}
	return task + "\n\n" + mutation
}
