package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Validator makes an impure validator of a server's tool. Of the subject
// (content, output, input, state, outputs, turn, attempt, key) and the
// parameters (with) the tool is sent what its input schema declares; a schema
// that declares nothing and is open gets everything. Parameters under their
// own names go to a tool that does not declare with, which is how content
// reaches one that calls it text; one that the tool does not declare is an
// error.
//
// The verdict is the tool's structured content, or else stands in its text. A
// tool that reports an error or answers anything but a verdict, and a server
// that cannot be reached or does not answer, are errors, never a no.
func (c *Client) Validator(name string, s Server, toolName string) validators.Validator {
	description := fmt.Sprintf("what %s of the MCP server %s says of the text", toolName, s)
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

// arguments picks what the input schema params declares.
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

// subjectMap is the subject by name; what it does not have is left out.
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
		// A scalar that a server wraps into an object stands in the text as it is.
		if object, ok := value.(map[string]any); !ok || object["valid"] != nil || len(r.Content) == 0 {
			return validators.VerdictFrom(value)
		}
	}
	text := textOf(r)
	v, err := validators.VerdictIn(text)
	return v, validators.Unreadable(err, text)
}

// clip bounds what is quoted of a server's words.
func clip(s string) string { return schema.Clip(s, maxTail) }
