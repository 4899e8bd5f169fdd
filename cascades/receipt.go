package cascades

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// A Receipt is what a tool wants of the receipt that comes with a text before it
// is called. The tool takes the arguments text and receipt.
type Receipt struct {
	Gates   []GateDemand
	Cascade string        // digest of the cascade and its files; "" for any
	MaxAge  time.Duration // 0 for any
	Trust   signatures.Trust
	Alone   bool // the tool takes no other argument
}

// Covers tells whether an argument is the text, or the receipt itself.
func (r *Receipt) Covers(argument string) bool {
	return argument == receiptText || argument == receiptArg
}

// Receipts makes the check of a text and its receipt. A clock belongs to it, so
// the host has it.
type Receipts func(Receipt) func(text, receipt string) error

// The arguments of a tool that wants a receipt.
const (
	receiptText = "text"
	receiptArg  = "receipt"
)

// A GateDemand wants that a gate of that name passed the text, and, unless
// Digest is "", that it was exactly that gate.
type GateDemand struct{ Name, Digest string }

// String is the demand as it is typed.
func (g GateDemand) String() string {
	if g.Digest == "" {
		return g.Name
	}
	return g.Name + "=" + g.Digest
}

var digestForm = patterns.Lazy(`^sha256:[0-9a-f]{64}$`)

// ParseGateDemand reads name, or name=sha256: and 64 hexadecimal digits.
func ParseGateDemand(text string) (GateDemand, error) {
	g := GateDemand{Name: text}
	if i := strings.LastIndex(text, "=sha256:"); i >= 0 {
		g.Name, g.Digest = text[:i], text[i+1:]
		if err := IsDigest(g.Digest); err != nil {
			return g, err
		}
	}
	if g.Name == "" || strings.HasSuffix(g.Name, "=") {
		return g, fmt.Errorf("there must be the name of a gate, or name=digest")
	}
	return g, nil
}

// IsDigest is nil for sha256: and 64 hexadecimal digits, as receipts write them.
func IsDigest(text string) error {
	if !digestForm().MatchString(text) {
		return fmt.Errorf("a digest is sha256: and 64 hexadecimal digits, not %q", text)
	}
	return nil
}

// receipt reads requires_receipt of a tool; nil where there is none.
func (p *parser) receipt(o *object) *Receipt {
	from := o.child("requires_receipt")
	if from == nil {
		return nil
	}
	r := &Receipt{Cascade: from.text("cascade"), MaxAge: from.duration("max_age"), Alone: !o.has("parameters") && !o.has("mcp")}
	for _, n := range from.list("gates") {
		g, err := ParseGateDemand(p.word(n, "a gate"))
		if err != nil {
			p.report(n, CodeValue, "gates: %v", err)
		}
		r.Gates = append(r.Gates, g)
	}
	if from.needs("gates"); from.has("gates") && len(r.Gates) == 0 {
		p.report(from.value["gates"], CodeValue, "gates must name one gate at least: a receipt alone proves no gate")
	}
	if n := from.value["cascade"]; n != nil {
		if err := IsDigest(r.Cascade); err != nil {
			p.report(n, CodeValue, "cascade: %v", err)
		}
	}
	if from.needs("pub"); from.has("pub") {
		n := from.get("pub")
		if err := p.trusted(p.word(n, "pub"), r); err != nil {
			p.report(n, CodeFile, "pub: %v", err)
		}
	}
	from.done()
	return r
}

// trusted reads the keys whose receipts are taken.
func (p *parser) trusted(name string, r *Receipt) error {
	text, err := p.readFile(p.beside(name))
	if err == nil && bytes.Contains(text, []byte("PRIVATE KEY")) {
		return fmt.Errorf("%s holds a private key: whoever checks a receipt needs the public one alone", name)
	}
	if err == nil {
		r.Trust, err = signatures.ParseTrust(text)
	}
	return err
}

// params are the arguments of a tool that wants a receipt and says of no others.
func (r *Receipt) params() map[string]any {
	text := func(what string) map[string]any { return map[string]any{"type": "string", "description": what} }
	return map[string]any{
		"type": "object", "required": []any{receiptText, receiptArg}, "additionalProperties": false,
		"properties": map[string]any{receiptText: text("the text, byte for byte"), receiptArg: text("its receipt, as capstan receipt sign makes it")},
	}
}

// demand has the tool called only with a text whose receipt holds.
func (p *parser) demand(o *object, t *Tool) {
	if t.Receipt == nil {
		return
	}
	if properties, _ := t.Params["properties"].(map[string]any); !o.has("mcp") && (properties[receiptText] == nil || properties[receiptArg] == nil) {
		o.conflict("requires_receipt", "parameters must have text and receipt among their properties: %s gets them", o.what)
	}
	holds := func(string, string) error { return errors.New("nothing checks receipts here") }
	if p.known.Receipts != nil {
		holds = p.known.Receipts(*t.Receipt)
	}
	t.Tool = t.Tool.Behind(func(arguments map[string]any) error {
		text, isText := arguments[receiptText].(string)
		sealed, isReceipt := arguments[receiptArg].(string)
		switch {
		case !isText || !isReceipt:
			return fmt.Errorf("it wants text and receipt, both texts")
		case t.Receipt.Alone && len(arguments) > 2:
			return fmt.Errorf("it takes text and receipt alone: of what else is given no receipt is")
		}
		return holds(text, sealed)
	})
}
