package convert

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// texts rewrites what templates of LARS say that is called otherwise here, in every
// text.
func (m *mapping) texts(n *yaml.Node, done map[*yaml.Node]bool) {
	if done[n] || n.Kind == yaml.AliasNode || !m.w.lars {
		return
	}
	done[n] = true
	for _, e := range n.Content {
		m.texts(e, done)
	}
	if n.Kind != yaml.ScalarNode || !strings.Contains(n.Value, "{{") && !strings.Contains(n.Value, "{%") {
		return
	}
	text := n.Value
	for _, name := range m.w.phases {
		if name != "" {
			text = strings.ReplaceAll(text, "state.output_"+name, "outputs."+name)
		}
	}
	for _, filter := range []string{"fingerprint", "structure"} {
		for _, bar := range []string{" | ", "|", " |", "| "} {
			if cut := strings.ReplaceAll(text, bar+filter, ""); cut != text {
				text = cut
				m.note(n, "the filter "+filter+" is left out: the value itself stands there")
			}
		}
	}
	if cut := ofRun().ReplaceAllString(text, ""); cut != text {
		text = cut
		m.note(n, "the names of a run and of its questions are left out: no text is told them")
	}
	if id := m.text("cascade_id"); id != "" && !strings.Contains(id, "$") {
		text = ofFile().ReplaceAllString(text, id)
	}
	if text != n.Value {
		n.Value, m.w.changed = text, true
	}
}

// What a page of LARS is told of the run that it is of, and of its cascade.
var (
	ofRun  = patterns.Lazy(`\{\{-? *(?:session_id|checkpoint_id|run_id|trace_id) *-?\}\}`)
	ofFile = patterns.Lazy(`\{\{-? *cascade_id *-?\}\}`)
)

// asWritten keeps texts from being templates, in every text of a value: another
// program fills them in.
func asWritten(n *yaml.Node) {
	for _, e := range n.Content {
		asWritten(e)
	}
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "{{") && !strings.Contains(n.Value, "endraw") {
		n.Value = "{% raw %}" + n.Value + "{% endraw %}"
	}
}
