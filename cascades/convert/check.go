package convert

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// checks rewrites the validator under a key where it is written in place.
func (m *mapping) checks(key string) {
	if n := m.get(key); n != nil && n.Kind == yaml.ScalarNode && m.w.lines[n.Value] == 0 {
		m.w.lines[n.Value] = n.Line
	}
	v := m.child(key)
	if v == nil {
		return
	}
	v.validator("a validator in place")
	if key != "validator" {
		return
	}
	// A ward and the soundings' filter name the form themselves.
	if m.inside == "soundings" || m.inside == "threshold" {
		return
	}
	m.remove(key)
	m.node.Content = append(append([]*yaml.Node{}, v.node.Content...), m.node.Content...)
}

// programs run the code that a validator of LARS is, and print its verdict. The
// code reads content and original_input, and sets result or prints.
var programs = map[string]func(code string) *yaml.Node{
	"python": func(code string) *yaml.Node {
		return argv("python3", "-c", "import json, sys\nsubject = json.load(sys.stdin)\ncontent, original_input, result = subject['content'], subject['input'], None\n"+code+"\nprint(json.dumps(result))\n")
	},
	"javascript": func(code string) *yaml.Node {
		return argv("node", "-e", "const subject = JSON.parse(require('fs').readFileSync(0, 'utf8'));\nconst content = subject.content, original_input = subject.input;\nlet result;\n"+code+"\nconsole.log(JSON.stringify(result));\n")
	},
	"bash": func(code string) *yaml.Node {
		return argv("bash", "-c", "SUBJECT=$(cat)\nexport CONTENT=$(jq -r .content <<<\"$SUBJECT\") ORIGINAL_INPUT=$(jq -c .input <<<\"$SUBJECT\")\n"+code+"\n")
	},
}

func argv(words ...string) *yaml.Node {
	n := sequence(words...)
	n.Style = 0
	return n
}

// validator rewrites one that is written out: what is asked of a model, or code.
func (m *mapping) validator(kind string) {
	for _, language := range []string{"python", "javascript", "bash"} {
		code := m.get(language)
		if tool := m.text("tool"); code == nil && (tool == language+"_data" || tool == language) {
			in := &mapping{node: m.get("inputs")}
			if in.node != nil && in.node.Kind == yaml.MappingNode {
				if code = in.get("code"); code == nil {
					code = in.get("script")
				}
				m.remove("tool")
				m.remove("inputs")
			}
		} else if code != nil {
			m.remove(language)
		}
		if code == nil || code.Kind != yaml.ScalarNode || m.has("exec") {
			continue
		}
		m.set("exec", programs[language](strings.TrimRight(code.Value, "\n")))
		m.note(code, "validators in "+language+" are programs here: this one reads the subject from its standard input, and prints its verdict")
	}
	for _, language := range []string{"sql", "clojure", "tool"} {
		if n := m.get(language); n != nil && !m.has("exec") {
			m.remove(language)
			m.set("exec", argv("./check_"+language))
			m.note(n, language+brief(n)+" is a program here, which is yours to write: it reads {content, input} as JSON and prints {valid, reason}")
		}
	}
	m.words(kind)
	m.model("model")
	if m.has("judge") && m.has("exec") {
		m.drop("judge", "there is exec already")
	}
}
