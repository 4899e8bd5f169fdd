package reading

// A Key is one near the top of a JSON text.
type Key struct {
	Name   []byte
	Source int16
}

// maxKeys bounds the keys kept of all texts together.
const maxKeys = 2000

// key keeps a key near the top.
func (d *Document) key(name []byte, source int16) {
	if len(d.Keys) < maxKeys {
		d.Keys = append(d.Keys, Key{name, source})
	}
}
