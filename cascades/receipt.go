package cascades

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/signatures"
)

// Covers reports whether argument is the name of the text argument or of the receipt argument.
func (r *Receipt) Covers(argument string) bool {
	return argument == receiptText || argument == receiptArg
}

// The arguments of a tool that needs a receipt.
const (
	receiptText = "text"
	receiptArg  = "receipt"
)

// receipt reads the requires_receipt key of a tool. It returns nil if the tool does not have
// the key.
func (p *parser) receipt(o *reader.Object) *Receipt {
	from := o.Child("requires_receipt")
	if from == nil {
		return nil
	}
	r := &Receipt{Cascade: from.Text("cascade"), MaxAge: from.Duration("max_age"), Alone: !o.Has("parameters") && !o.Has("mcp")}
	for _, n := range from.List("gates") {
		g, err := signatures.ParseGateDemand(p.Word(n, "a gate"))
		if err != nil {
			p.Error(n, codes.Value, "gates: %v", err)
		}
		r.Gates = append(r.Gates, g)
	}
	if from.Needs("gates"); from.Has("gates") && len(r.Gates) == 0 {
		p.Error(from.Value["gates"], codes.Value, "gates must name one gate at least: a receipt alone proves no gate")
	}
	if n := from.Value["cascade"]; n != nil {
		if err := signatures.CheckDigest(r.Cascade); err != nil {
			p.Error(n, codes.Value, "cascade: %v", err)
		}
	}
	if from.Needs("pub"); from.Has("pub") {
		n := from.Get("pub")
		if err := p.trusted(p.Word(n, "pub"), r); err != nil {
			p.Error(n, codes.File, "pub: %v", err)
		}
	}
	from.Done()
	return r
}

// trusted reads the trusted public keys from a file.
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

// params returns the parameters of a tool that only takes a text and its receipt.
func (r *Receipt) params() map[string]any {
	text := func(what string) map[string]any { return map[string]any{"type": "string", "description": what} }
	return map[string]any{
		"type": "object", "required": []any{receiptText, receiptArg}, "additionalProperties": false,
		"properties": map[string]any{receiptText: text("the text, byte for byte"), receiptArg: text("its receipt, as capstan receipt sign makes it")},
	}
}

// demand makes the tool reject a text without a valid receipt.
func (p *parser) demand(o *reader.Object, t *Tool) {
	if t.Receipt == nil {
		return
	}
	if properties, _ := t.Params["properties"].(map[string]any); !o.Has("mcp") && (properties[receiptText] == nil || properties[receiptArg] == nil) {
		o.Conflict("requires_receipt", "parameters must have text and receipt among their properties: %s gets them", o.What)
	}
	verify := func(string, string) error { return errors.New("nothing checks receipts here") }
	if p.known.Receipts != nil {
		verify = p.known.Receipts(*t.Receipt)
	}
	t.Tool = t.Tool.WithCheck(func(arguments map[string]any) error {
		text, isText := arguments[receiptText].(string)
		receipt, isReceipt := arguments[receiptArg].(string)
		switch {
		case !isText || !isReceipt:
			return fmt.Errorf("it wants text and receipt, both texts")
		case t.Receipt.Alone && len(arguments) > 2:
			return fmt.Errorf("it takes only text and receipt")
		}
		return verify(text, receipt)
	})
}
