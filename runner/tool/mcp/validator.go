package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

// Validator returns an impure validator that calls a tool of a server. The arguments
// are the subject (content, output, input, state, outputs, turn, attempt, key) and the
// parameters (with), as far as the input schema of the tool declares them. If the
// schema is open and declares no properties, the tool gets all of them. If the schema
// does not declare with, the parameters are arguments of their own, such as text. A
// parameter that the schema does not declare is an error.
//
// The verdict is the structured content or the text of the result. If the tool reports
// an error, returns no verdict or cannot be reached, the validator returns an error and
// no verdict.
func (c *Client) Validator(name string, s Server, toolName string) validators.Validator {
	description := fmt.Sprintf("the verdict of %s of the MCP server %s on the text", toolName, s)
	judge := func(ctx context.Context, with map[string]any, subject validators.Subject) (validators.Verdict, error) {
		v, err := c.judge(ctx, s, toolName, with, subject)
		if err != nil {
			return validators.Verdict{}, fmt.Errorf("validator %s: %w", name, err)
		}
		return v, nil
	}
	return validators.New(name, description, judge, validators.Impure)
}

func (c *Client) judge(ctx context.Context, s Server, name string, with map[string]any, subject validators.Subject) (validators.Verdict, error) {
	_, params, err := c.describe(ctx, s, name)
	if err != nil {
		return validators.Verdict{}, err
	}
	arguments, err := arguments(params, with, subject)
	if err != nil {
		return validators.Verdict{}, fmt.Errorf("mcp tool %s: %w", name, err)
	}
	result, err := c.call(ctx, s, name, arguments)
	if err != nil {
		return validators.Verdict{}, err
	}
	v, err := verdictOf(result)
	if err != nil {
		return v, fmt.Errorf("mcp tool %s: %w", name, err)
	}
	return v, nil
}

// arguments returns the arguments that the input schema declares.
func arguments(params, with map[string]any, subject validators.Subject) (map[string]any, error) {
	all, err := subjectMap(subject)
	if err != nil {
		return nil, err
	}
	declared, _ := params["properties"].(map[string]any)
	if len(declared) == 0 && params["additionalProperties"] != false {
		if len(with) > 0 {
			all["with"] = with
		}
		return all, nil
	}
	if _, ok := declared["with"]; ok {
		all["with"] = with
	} else {
		for name := range with {
			if _, ok := declared[name]; !ok {
				return nil, fmt.Errorf("it takes no argument %q, but %s", name, strings.Join(slices.Sorted(maps.Keys(declared)), ", "))
			}
		}
		maps.Copy(all, with)
	}
	maps.DeleteFunc(all, func(name string, _ any) bool { _, ok := declared[name]; return !ok })
	return all, nil
}

// subjectMap returns the fields of the subject by name, without empty fields.
func subjectMap(s validators.Subject) (map[string]any, error) {
	plain, err := schema.Plain(s)
	if err != nil {
		return nil, err
	}
	all, ok := plain.(map[string]any)
	if !ok {
		return nil, errors.New("the subject is not an object")
	}
	for name, value := range all {
		if value != nil {
			continue
		}
		if name == "output" {
			delete(all, name)
		} else {
			all[name] = map[string]any{}
		}
	}
	return all, nil
}

func verdictOf(r *sdk.CallToolResult) (validators.Verdict, error) {
	if r.IsError {
		return validators.Verdict{}, fmt.Errorf("it reports an error: %s", clip(textOf(r)))
	}
	value, err := structured(r)
	if err != nil {
		return validators.Verdict{}, fmt.Errorf("verdict: %w", err)
	}
	if value != nil {
		// If a server wraps a scalar into an object, the text has the scalar.
		if object, ok := value.(map[string]any); !ok || object["valid"] != nil || len(r.Content) == 0 {
			return validators.VerdictFrom(value)
		}
	}
	text := textOf(r)
	v, err := validators.VerdictIn(text)
	return v, validators.Unreadable(err, text)
}

// clip cuts a text of a server for a message.
func clip(s string) string { return clips.Bytes(s, maxTail) }
