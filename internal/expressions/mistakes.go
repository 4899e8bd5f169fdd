package expressions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/file"
)

// maxFurther limits the mistakes of an expression after its first.
const maxFurther = 20

// further returns the mistakes of an expression after the first, in the order in which the check
// finds them. It replaces each wrong part by the variable output, whose type is any, and checks
// the rest again. After a syntax error it finds no further mistakes.
func further(source string, locals []string) (list []*Error) {
	config := language()
	tree, err := parse(source, config)
	if err != nil || readLocals(tree, locals) != nil {
		return nil
	}
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	for range maxFurther + 1 {
		if _, err = inspect(tree); err == nil {
			_, err = checker.Check(tree, config)
		}
		var at *file.Error
		if !errors.As(err, &at) {
			break
		}
		list = append(list, located(err).(*Error))
		wrong := &mistaken{at: at.Location}
		if ast.Walk(&tree.Node, wrong); wrong.last == nil {
			break
		}
		ast.Patch(wrong.last, &ast.IdentifierNode{Value: "output"})
	}
	return list[min(1, len(list)):]
}

// mistaken finds the outermost node at a place.
type mistaken struct {
	at   file.Location
	last *ast.Node
}

// Visit implements [ast.Visitor].
func (m *mistaken) Visit(node *ast.Node) {
	if (*node).Location() == m.at {
		m.last = node
	}
}

// usual returns a better message for a mistake that is valid in other
// languages, and the wrong word.
func usual(source, message string) (hint, word string) {
	if strings.Contains(source, "{{") || strings.Contains(source, "{%") {
		return "an expression is written without {{ }}: it is no template", ""
	}
	for _, quote := range "\u201c\u201d\u2018\u2019" {
		if strings.Contains(message, fmt.Sprintf("%U", quote)) {
			return fmt.Sprintf("a text stands in straight quotes, ' or \", not in %c", quote), ""
		}
	}
	if strings.HasPrefix(message, "unexpected token EOF") {
		return "the expression ends here: a bracket is not closed, or a value is missing", ""
	}
	if strings.HasPrefix(message, `unexpected token Operator("=")`) && (strings.Contains(source, "===") || strings.Contains(source, "!==")) {
		return "== and != compare: there is no === and no !==", ""
	}
	if strings.HasPrefix(message, `unexpected token Operator("=")`) {
		return "= gives a name to a value, in let; == compares", "="
	}
	if rest, ok := strings.CutPrefix(message, `unexpected token Identifier("`); ok {
		word, _, _ = strings.Cut(rest, `"`)
		return fmt.Sprintf("%s is unexpected here: operators such as and, or, not and in need values around them", word), word
	}
	if message == "literal not terminated" {
		return "the text in quotes does not end on its line: a line's end in it is written \\n, which is \\\\n in double quotes of YAML", ""
	}
	if message == "invalid operation: in (mismatched types string and string)" {
		return "in looks for an element of a list: write content contains 'x'", ""
	}
	if name, ok := strings.CutPrefix(message, "type string has no field "); ok && (name == "length" || name == "size") {
		return message + ": len(content) counts its characters", ""
	}
	return "", ""
}

// insteadOf returns the operator or function for a method of another language.
func insteadOf(n *ast.CallNode) string {
	m, _ := n.Callee.(*ast.MemberNode)
	if m == nil {
		return ""
	}
	name, _ := m.Property.(*ast.StringNode)
	if name == nil {
		return ""
	}
	switch name.Value {
	case "contains", "includes":
		return ": write content contains 'x'"
	case "startsWith", "startswith":
		return ": write content startsWith 'x'"
	case "endsWith", "endswith":
		return ": write content endsWith 'x'"
	case "toLowerCase", "lower":
		return ": write lower(content)"
	case "match", "matches", "test":
		return ": write content matches 'x'"
	}
	return ""
}
