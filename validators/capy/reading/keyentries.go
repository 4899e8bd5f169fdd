package reading

import "bytes"

// keyEntry takes in an event of JSON.
func (r *reader) keyEntry(e *event, base int) {
	x := &r.index
	if e.kind == closes {
		for len(x.keys) > 0 && x.keys[len(x.keys)-1].depth >= e.depth {
			x.list[x.keys[len(x.keys)-1].entry].end = int32(base + e.from)
			x.keys = x.keys[:len(x.keys)-1]
		}
		if x.status > 0 && e.depth < x.status {
			x.status = 0
		}
		return
	}
	name := Entry{Form: JSON, At: e.at}
	if len(e.key) > 0 {
		r.named(&name, e)
		name.from = int32(r.ledger.offset(e.key, e.at.Source))
		name.to = name.from + int32(len(e.key))
	}
	if e.kind == scalar && len(e.value) > 2 && e.value[0] == '"' {
		r.identified(&name, e, base)
		if x.strings != 0 && len(e.value) > 12 {
			m, _, _ := x.topics.phrases.all(e.value[:min(len(e.value), maxPiece)])
			name.Topics |= m & x.strings
		}
	}
	if name.Topics == 0 && name.Artifact == 0 && name.ID == "" {
		return
	}
	name.body = int32(base + e.from)
	name.end = name.body + int32(len(e.value))
	name.rest = name.end
	if i := x.add(name); i >= 0 && e.kind == opens {
		x.keys = append(x.keys, openKey{i, e.depth})
	}
}

// named finds out what a key names.
func (r *reader) named(name *Entry, e *event) {
	x := &r.index
	if e.note.entry == nil {
		e.note.entry = x.topics.named(e.key)
	}
	k := e.note.entry
	name.Topics = k.topics
	if k.artifact == 0 && k.status && e.kind == opens && x.status == 0 {
		x.status = e.depth + 1
	}
	if x.status == 0 {
		name.Artifact = k.artifact
	}
	if x.item != nil && e.kind == opens {
		if id, end := x.item(e.key, 0); id != "" && (end == len(e.key) || e.key[end] == '_') {
			name.ID = id
		}
	}
}

// named is what a key says of its entry.
func (t *Topics) named(key []byte) *keyName {
	l := tokens(key)
	k := &keyName{topics: t.key(&l), artifact: int8(KeyArtifact(key)), status: l.has(statusWords...)}
	k.naming = l.has("id", "rq", "number", "name", "question", "finding", "label", "code", "query") && !l.has("parent", "linked", "related", "source")
	k.numbered = l.has("rq", "finding") && l.has("id", "number", "rq")
	return k
}

// statusWords are keys of containers that say which artifacts there should be.
var statusWords = []string{"inventory", "status", "checklist", "manifest", "validation", "verification", "missing", "required", "received", "loaded", "consumed", "references", "dependencies", "integrity", "consistency", "check", "spot"}

// identified finds out what a string says its object is: an artifact, an item.
func (r *reader) identified(name *Entry, e *event, base int) {
	x := &r.index
	v := unquoted(e.value)
	if e.depth <= 2 && x.status == 0 && len(v) < 100 {
		switch string(bytes.ToLower(e.key[:min(len(e.key), 20)])) {
		case "artifact", "artifact_id", "artifact_name", "artifact_type", "artifactid":
			name.Artifact = int8(KeyArtifact(v))
		case "schema_version", "schema":
			name.Artifact = int8(schemaArtifact(v))
		}
	}
	k := e.note.entry
	if x.item == nil || k == nil || !k.naming || e.depth == 0 || len(v) == 0 || len(e.path) == 0 || e.path[len(e.path)-1].array {
		return
	}
	id, end := x.item(v, 0)
	if id == "" && k.numbered && len(v) < 4 {
		id, _ = x.item(append([]byte("RQ"), v...), 0)
		end = len(v)
	}
	if id != "" && (end >= len(v) || !isASCIIWord(v[end])) {
		r.object(id, e, base)
	}
}

// object makes an item of the object around an event. Its body begins where
// the object does and ends where that will close.
func (r *reader) object(id string, e *event, base int) {
	x := &r.index
	n := Entry{ID: id, Form: JSON, At: e.at}
	n.from = int32(r.ledger.offset(e.value, e.at.Source))
	n.to = n.from + int32(len(e.value))
	n.body = int32(base + e.path[len(e.path)-1].from)
	n.end = n.to
	if i := x.add(n); i >= 0 {
		x.keys = append(x.keys, openKey{i, e.depth - 1})
	}
}
