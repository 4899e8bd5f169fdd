package main

import (
	"context"
	"errors"

	einoopenai "github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/prompt"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core/api"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai"
	"github.com/openai/openai-go/option"
	"github.com/tmc/langchaingo/llms"
	lcopenai "github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/prompts"
)

// turnsOf runs the conversation of a framework with messages of type M. ask
// renders the question, sends it, checks the answer, and returns the new
// history and the reason of a rejection. A retry sends that reason.
func turnsOf[M any](turns int, ask func(ctx context.Context, first bool, text string, history []M) ([]M, string, error)) talk {
	return func(ctx context.Context) error {
		var history []M
		for i := range turns {
			next, reason, err := ask(ctx, i == 0, words, history)
			for n := 1; err == nil && reason != "" && n < attempts; n++ {
				next, reason, err = ask(ctx, false, reason, next)
			}
			if err == nil && reason != "" {
				err = errors.New(reason)
			}
			if err != nil {
				return err
			}
			history = next
		}
		return nil
	}
}

// einoChain is a compiled chain of Eino: a chat template with the history, the
// model, and a lambda with the checks.
func einoChain(url string, turns int) (talk, error) {
	ctx := context.Background()
	chat, err := einoopenai.NewChatModel(ctx, &einoopenai.ChatModelConfig{BaseURL: url, APIKey: "key", Model: "m", HTTPClient: pooled()})
	if err != nil {
		return nil, err
	}
	chains := map[bool]compose.Runnable[map[string]any, checked]{}
	for first, text := range map[bool]string{true: "Say: {words}", false: "{words}"} {
		chain := compose.NewChain[map[string]any, checked]()
		chain.AppendChatTemplate(prompt.FromMessages(schema.FString, schema.MessagesPlaceholder("history", true), schema.UserMessage(text))).
			AppendChatModel(chat).
			AppendLambda(compose.InvokableLambda(func(_ context.Context, m *schema.Message) (checked, error) {
				return checked{m, fault(m.Content)}, nil
			}))
		if chains[first], err = chain.Compile(ctx); err != nil {
			return nil, err
		}
	}
	return turnsOf(turns, func(ctx context.Context, first bool, text string, history []*schema.Message) ([]*schema.Message, string, error) {
		out, err := chains[first].Invoke(ctx, map[string]any{"words": text, "history": history})
		if err != nil {
			return nil, "", err
		}
		if first {
			text = "Say: " + text
		}
		return append(history, schema.UserMessage(text), out.message), out.reason, nil
	}), nil
}

type checked struct {
	message *schema.Message
	reason  string
}

// langchain uses the prompt template and the model of langchaingo. Its chains
// store a conversation as one text, so they cannot send the same messages.
func langchain(url string, turns int) (talk, error) {
	model, err := lcopenai.New(lcopenai.WithBaseURL(url), lcopenai.WithToken("key"), lcopenai.WithModel("m"), lcopenai.WithHTTPClient(pooled()))
	if err != nil {
		return nil, err
	}
	first := prompts.NewPromptTemplate("Say: {{.words}}", []string{"words"})
	next := prompts.NewPromptTemplate("{{.words}}", []string{"words"})
	return turnsOf(turns, func(ctx context.Context, isFirst bool, text string, history []llms.MessageContent) ([]llms.MessageContent, string, error) {
		template := next
		if isFirst {
			template = first
		}
		text, err := template.Format(map[string]any{"words": text})
		if err != nil {
			return nil, "", err
		}
		history = append(history, llms.TextParts(llms.ChatMessageTypeHuman, text))
		reply, err := model.GenerateContent(ctx, history)
		if err != nil {
			return nil, "", err
		}
		answer := reply.Choices[0].Content
		return append(history, llms.TextParts(llms.ChatMessageTypeAI, answer)), fault(answer), nil
	}), nil
}

// genkitFlow is a flow of Genkit around Generate, with its plugin for
// OpenAI-compatible endpoints.
func genkitFlow(url string, turns int) (talk, error) {
	ctx := context.Background()
	plugin := &compat_oai.OpenAICompatible{Provider: "bench", APIKey: "key", BaseURL: url, Opts: []option.RequestOption{option.WithHTTPClient(pooled())}}
	g := genkit.Init(ctx, genkit.WithPlugins(plugin))
	defined := plugin.DefineModel("bench", "m", ai.ModelOptions{Label: "m", Supports: &compat_oai.BasicText})
	genkit.RegisterAction(g, defined.(api.Action))
	model := genkit.LookupModel(g, api.NewName("bench", "m"))
	if model == nil {
		return nil, errors.New("the model is not defined")
	}
	hold := turnsOf(turns, func(ctx context.Context, first bool, text string, history []*ai.Message) ([]*ai.Message, string, error) {
		if first {
			text = "Say: " + text
		}
		history = append(history, ai.NewUserTextMessage(text))
		reply, err := genkit.Generate(ctx, g, ai.WithModel(model), ai.WithMessages(history...))
		if err != nil {
			return nil, "", err
		}
		return append(history, reply.Message), fault(reply.Text()), nil
	})
	flow := genkit.DefineFlow(g, "conversation", func(ctx context.Context, _ string) (string, error) {
		return answer, hold(ctx)
	})
	return func(ctx context.Context) error {
		_, err := flow.Run(ctx, words)
		return err
	}, nil
}
