package mcp

import (
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/runner/tool"
)

// valueOf returns the structured content of a reply, or else its text, see
// [tool.Value].
func valueOf(r *sdk.CallToolResult) (any, error) {
	value, err := structured(r)
	if err != nil {
		return nil, fmt.Errorf("structured content: %w", err)
	}
	if value != nil {
		return value, nil
	}
	return tool.Value(textOf(r)), nil
}

// textOf joins the texts of a reply. Other content is described in brackets.
func textOf(r *sdk.CallToolResult) string {
	parts := make([]string, 0, len(r.Content))
	for _, content := range r.Content {
		parts = append(parts, text(content))
	}
	return strings.ToValidUTF8(strings.Join(parts, "\n"), "\uFFFD")
}

func text(content sdk.Content) string {
	switch content := content.(type) {
	case *sdk.TextContent:
		return content.Text
	case *sdk.ImageContent:
		return fmt.Sprintf("[image %s, %d bytes]", content.MIMEType, len(content.Data))
	case *sdk.AudioContent:
		return fmt.Sprintf("[audio %s, %d bytes]", content.MIMEType, len(content.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("[resource %s]", content.URI)
	case *sdk.EmbeddedResource:
		if content.Resource == nil {
			return ""
		}
		if content.Resource.Blob != nil {
			return fmt.Sprintf("[resource %s, %d bytes]", content.Resource.URI, len(content.Resource.Blob))
		}
		return content.Resource.Text
	}
	return ""
}
