package reading

import "bytes"

// A Manner is how a text speaks: as a report, as instructions to its reader,
// or as a program.
type Manner struct {
	Lines     int // of prose, items and headings outside of fences
	Orders    int // that begin with an order: Generate …
	Addresses int // that speak to their reader: You must …, your task
	Program   int // that are statements of a programming language
	Declares  int // that begin a package, a function, a class
}

func (m *Manner) see(l *line) {
	switch l.kind {
	case prose, item, html, heading, row:
	default:
		return
	}
	m.Lines++
	t := trimLeft(l.text, &leaning)
	if len(t) == 0 {
		return
	}
	if l.kind != heading && l.kind != row {
		m.program(l.raw, t)
	}
	switch {
	case l.seen.has(addressList) && addresses.Has(t[:min(len(t), 160)]):
		m.Addresses++
	case ordering(t):
		m.Orders++
	}
}

// ordering says that a line begins with an order.
func ordering(t []byte) bool {
	w := wordAt(t, 0)
	var buf wordBuffer
	if len(w) == 0 || len(w) >= len(t) || !isUpper(t[0]) || t[len(w)] != ' ' || !orders[string(buf.fold(w))] {
		return false
	}
	rest := bytes.TrimLeft(t[len(w):], " ")
	return len(rest) > 0 && (isASCIIWord(rest[0]) || rest[0] == '`' || rest[0] == '*' || rest[0] == '"') && bytes.IndexByte(t[:min(len(t), 30)], ':') < 0
}

// addresses are what speaks to a reader.
var addresses = NewPhrases("you", "your", "Do not", "DO NOT", "Never")

var orders = set("generate", "emit", "produce", "return", "ensure", "verify", "calculate", "compute", "provide", "include", "use", "read", "load", "execute", "output", "write", "identify", "assess", "list",
	"apply", "derive", "document", "define", "describe", "explain", "check", "construct", "create", "extract", "flag", "follow", "report", "specify", "select", "search", "summarize", "summarise", "perform", "assign",
	"adjudicate", "analyze", "analyse", "avoid", "begin", "build", "cite", "combine", "concatenate", "confirm", "consider", "convert", "determine", "estimate", "evaluate", "fill", "format", "give", "make", "map", "present", "preserve", "record", "replace", "respond", "review", "run", "set", "state", "stop", "store", "treat", "update", "validate", "wait")

// program counts a line that is a statement of a programming language.
func (m *Manner) program(raw, t []byte) {
	end := trimRight(t, &blanks)
	last := end[len(end)-1]
	if statement(t, last) || last == '{' || last == ';' || last == '}' || bytes.Contains(t, []byte(":=")) && bytes.Contains(t, []byte(" := ")) || bytes.HasSuffix(end, []byte("):")) || bytes.HasSuffix(end, []byte("),")) || bytes.HasPrefix(t, []byte("//")) {
		m.Program++
	} else if last == ')' && len(raw) > len(t) && bytes.IndexByte(t, '(') > 0 && bytes.IndexByte(t[:bytes.IndexByte(t, '(')], ' ') < 0 {
		m.Program++ // call(…)
	}
	if !isLower(raw[0]) && raw[0] != '@' && raw[0] != '#' {
		return
	}
	for _, s := range []string{"@", "package ", "func ", "import ", "def ", "class ", "from ", "#include", "#!/", "const ", "var ", "let ", "type ", "public ", "private ", "fn ", "use ", "struct ", "interface ", "export ", "function ", "async "} {
		if bytes.HasPrefix(raw, []byte(s)) {
			m.Declares++
			return
		}
	}
}

// statement says that a line is an assignment of a call, or the head of a
// block.
func statement(t []byte, last byte) bool {
	switch last {
	case ')', ']':
		name, _, ok := bytes.Cut(t, []byte(" = "))
		return ok && len(name) < 60 && bytes.IndexByte(name, ' ') < 0
	case ':':
		var buf wordBuffer
		return blocks[string(buf.fold(wordAt(t, 0)))] && isLower(t[0])
	}
	return bytes.HasPrefix(t, []byte("return ")) && len(t) < 80
}

var blocks = set("for", "if", "while", "with", "try", "else", "elif", "except", "def", "class", "case", "switch")
