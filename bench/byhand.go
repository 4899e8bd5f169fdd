package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"text/template"

	openai "github.com/sashabaranov/go-openai"
)

func client(url string) *openai.Client {
	config := openai.DefaultConfig("key")
	config.BaseURL = url
	config.HTTPClient = pooled()
	return openai.NewClientWithConfig(config)
}

// say sends a request with go-openai and returns the text of the answer.
func say(ctx context.Context, c *openai.Client, messages []openai.ChatCompletionMessage) (string, error) {
	reply, err := c.CreateChatCompletion(ctx, openai.ChatCompletionRequest{Model: "m", Messages: messages})
	if err != nil {
		return "", err
	}
	if len(reply.Choices) == 0 {
		return "", errors.New("no choices")
	}
	return reply.Choices[0].Message.Content, nil
}

// bare sends requests without checks.
func bare(url string, turns int) (talk, error) {
	c := client(url)
	return func(ctx context.Context) error {
		var messages []openai.ChatCompletionMessage
		for i := range turns {
			messages = append(messages, openai.ChatCompletionMessage{Role: "user", Content: question(i)})
			text, err := say(ctx, c, messages)
			if err != nil {
				return err
			}
			messages = append(messages, openai.ChatCompletionMessage{Role: "assistant", Content: text})
		}
		return nil
	}, nil
}

// loop is a handwritten loop: prompts from templates, checks, and retries with
// the reason.
func loop(url string, turns int) (talk, error) {
	c := client(url)
	prompts, err := template.New("first").Parse("Say: {{ .words }}")
	if err == nil {
		_, err = prompts.New("next").Parse("{{ .words }}")
	}
	input := map[string]any{"words": words}
	return func(ctx context.Context) error {
		var messages []openai.ChatCompletionMessage
		for i := range turns {
			name := "next"
			if i == 0 {
				name = "first"
			}
			var prompt bytes.Buffer
			if err := prompts.ExecuteTemplate(&prompt, name, input); err != nil {
				return err
			}
			messages = append(messages, openai.ChatCompletionMessage{Role: "user", Content: prompt.String()})
			reason := ""
			for range attempts {
				text, err := say(ctx, c, messages)
				if err != nil {
					return err
				}
				messages = append(messages, openai.ChatCompletionMessage{Role: "assistant", Content: text})
				if reason = fault(text); reason == "" {
					break
				}
				messages = append(messages, openai.ChatCompletionMessage{Role: "user", Content: reason})
			}
			if reason != "" {
				return errors.New(reason)
			}
		}
		return nil
	}, err
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// byHand is the minimum with the standard library.
func byHand(url string, turns int) (talk, error) {
	c := pooled()
	return func(ctx context.Context) error {
		var messages []message
		for i := range turns {
			messages = append(messages, message{"user", question(i)})
			text, err := post(ctx, c, url, messages)
			if err != nil {
				return err
			}
			messages = append(messages, message{"assistant", text})
		}
		return nil
	}, nil
}

func post(ctx context.Context, c *http.Client, url string, messages []message) (string, error) {
	body, err := json.Marshal(map[string]any{"model": "m", "messages": messages})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer key")
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var reply struct {
		Choices []struct{ Message message } `json:"choices"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK || len(reply.Choices) == 0 {
		return "", fmt.Errorf("answered %s", resp.Status)
	}
	return reply.Choices[0].Message.Content, nil
}
