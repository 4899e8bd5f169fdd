package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/runner/event"
)

// A pack returns exactly the rows that it was made from.
func FuzzRows(f *testing.F) {
	f.Add("p/attempt[1]/turn[0]", "p/attempt[1]/turn[0]/model", string(event.ModelCalled), `{"phase":"p","attempt":1,"turn":0,"request":{"model":"m","phase":"p","attempt":1,"messages":[{"role":"user","content":"a, \"b\" ]}"}]}}`, []byte("print"))
	f.Add("p/ward[0]", "p/ward[0]", string(event.VerdictGiven), `{"verdict":{"path":"p/ward[0]","phase":"p","attempt":1,"turn":0,"moment":"turn","validator":"v","mode":"retry","valid":true,"reason":"r","error":null}}`, []byte(nil))
	f.Add("é/ward[0]", "è", ModelEffect, `{"model":"m","phase":"p","attempt":1,"turn":1,"response":{"text":"t","model":"m","finish":"stop","usage":{"model_calls":1,"input_tokens":1,"output_tokens":1,"cost_usd":0}}}`, []byte("print"))
	f.Add("a", "b", FindingEffect, `{"finding":{"verdict":{"valid":true,"reason":"r"}}}`, []byte{})
	f.Add("0", "0", "00", `"`, []byte{})
	f.Fuzz(func(t *testing.T, first, second, kind, data string, p []byte) {
		if !utf8.ValidString(first) || !utf8.ValidString(second) || !utf8.ValidString(kind) || len(kind) < 2 {
			t.Skip() // we write every kind, and a kind is a word
		}
		if list, ok := encodings.Elements(nil, []byte("["+data+"]")); !ok || len(list) != 1 || !json.Valid([]byte(data)) {
			data = "null" // must be JSON
		}
		var made bytes.Buffer // our own JSON has no spaces
		if err := json.Compact(&made, []byte(data)); err != nil {
			t.Fatal(err)
		}
		data = made.String()
		rows := []Row{
			{N: 7, Time: 5, Kind: string(event.TurnStarted), Path: first},
			{N: 8, Time: 9, Kind: kind, Path: second, Fingerprint: p, Data: []byte(data)},
			{N: 9, Time: 9, Took: 3, Kind: kind, Path: second, Fingerprint: p, Data: []byte(data)},
			{N: 10, Time: 12, Kind: string(event.VerdictGiven), Path: second, Data: []byte(data)},
		}
		k := NewPack(1, 4, rows)
		list, ok := k.Rows(nil)
		if !ok || len(list) != len(rows) {
			t.Fatalf("%s does not read", k.Data)
		}
		seq := int64(4)
		for i, l := range list {
			w, number := rows[i], int64(0)
			if IsEvent(w.Kind) {
				seq++
				number = seq
			}
			if string(w.Data) == "null" {
				w.Data = nil
			}
			if l.shape != nil && !l.shape.took {
				w.Took = 0 // of a finding, which nobody reads
			}
			clear(l.JSON()) // the caller owns it
			want := fmt.Sprint(w.N, number, w.Time, w.Took, w.Kind, w.Path, string(w.Data), w.Fingerprint == nil, string(w.Fingerprint))
			if got := fmt.Sprint(l.Row, l.Seq, l.Time, l.Took, l.Kind, string(l.Path), string(l.JSON()), l.Fingerprint == nil, string(l.Fingerprint)); got != want {
				t.Fatalf("row %d: got %s\nwant %s\nin %s", i, got, want, k.Data)
			}
		}
		some, ok := k.Rows(func(is string) bool { return is == kind })
		all := slices.DeleteFunc(list, func(l StoredRow) bool { return l.Kind != kind })
		if !ok || fmt.Sprint(some) != fmt.Sprint(all) {
			t.Fatalf("of kind %s there are %v, want %v, in %s", kind, some, all, k.Data)
		}
	})
}

// tooShort are truncated rows.
var tooShort = []string{`["t","p",0]`, `["b","p",0]`, `["m","p",0]`, `["m","p",0,1]`, `["v","p"]`, `["v","p",0]`, `["x"]`, `["b"`, `[""]`, `["tool_called","p",0,1,null]`}

func TestShortRowsAreRefused(t *testing.T) {
	for _, short := range tooShort {
		k := Pack{Run: 1, First: 1, Last: 1, Data: "[" + short + "]"}
		if list, ok := k.Rows(nil); ok {
			t.Errorf("%s reads as %+v", short, list)
		}
	}
}

// A row without a kind is rejected, whatever kinds are wanted.
func TestKindlessRowsAreRefused(t *testing.T) {
	for _, row := range []string{`[7,"p",0]`, `[]`, `7`, `"x"`} {
		k := Pack{Run: 1, First: 1, Last: 1, Data: "[" + row + "]"}
		if _, ok := k.Rows(func(string) bool { return false }); ok {
			t.Errorf("%s reads", row)
		}
	}
}

// A damaged pack is read or rejected without a panic.
func FuzzDamagedPack(f *testing.F) {
	f.Add(`[["f",1],`+"\n"+`["v","p/ward[0]",3,"p",1,0,"turn","x","retry",true,"r"]]`, int64(2))
	f.Add(`[["c","p/model",0,"QUJD","a",1,3,"m",6,5,"f",1,7,[{"role":"user","content":"x"}]],["m","p/model",3,9,"=","m","a",1,3,"t","g","stop",1,2,3,0]]`, int64(2))
	f.Add(`[["f",9]]`, int64(1))
	f.Add(`[["f",1],`+"\n"+`["v","p/ward[0]",3,"p",1,0,"turn","x","retry",true,"r"]]`, int64(3))
	f.Add(`[[7,"p",0]]`, int64(1))
	f.Add(`[["f",9]]`, int64(2))
	f.Add(`[["v"],["tool_called","",0,0,"=",null],["tool_called","",0,0,"=",{}]]`, int64(3))
	f.Add(`[["tool_called","p",0,1,"=",null]]`, int64(1))
	for _, before := range []string{`["v"]`, `["feedback"]`, `["feedback","",0,0]`, `["b","",0]`, `["b"`} {
		f.Add("["+before+",\n"+`["tool_called","",0,0,"=",null]]`, int64(2))
	}
	for _, short := range tooShort {
		f.Add("["+short+"]", int64(1))
	}
	f.Fuzz(func(t *testing.T, data string, last int64) {
		k := Pack{Run: 1, First: 1, Last: last, Data: data}
		list, ok := k.Rows(nil)
		if ok && int64(len(list)) != last {
			t.Errorf("%d rows of %d", len(list), last)
		}
		some, _ := k.Rows(func(kind string) bool { return kind == string(event.ToolCalled) }) // other rows are not decoded
		list = append(list, some...)
		for i := range list {
			_, _ = list[i].Verdict()
			list[i].JSON()
		}
	})
}
