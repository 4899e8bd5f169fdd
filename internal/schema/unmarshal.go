package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"
)

// Unmarshal decodes one JSON document into the value that into points to, as
// encoding/json does. Every any in it becomes a plain value, with numbers as
// [Parse] reads them. A type with its own UnmarshalJSON must do this itself.
func Unmarshal(text []byte, into any) error { return unmarshal(text, into, false) }

func unmarshal(text []byte, into any, strict bool) error {
	if strict || !decodePooled(text, into) {
		if err := decodeOnce(text, into, strict); err != nil {
			return err
		}
	}
	return makePlain(reflect.ValueOf(into).Elem())
}

// decodeOnce decodes with a new decoder and adds the position to an error.
func decodeOnce(text []byte, into any, strict bool) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(into); err != nil {
		return describe(err, text)
	}
	return checkTrailing(text, int(d.InputOffset()))
}

// A pooledDecoder decodes one document after another. Creating a decoder takes
// a quarter of the time of a short document.
type pooledDecoder struct {
	bytes.Reader
	to *json.Decoder
}

var decoderPool = sync.Pool{New: func() any {
	s := &pooledDecoder{}
	s.to = json.NewDecoder(s)
	s.to.UseNumber()
	return s
}}

// maxPooled is the maximum length of a document for a pooled decoder, in bytes.
// It limits the memory that the pool holds.
const maxPooled = 16 << 10

// decodePooled decodes a short, valid document and reports whether it did. A
// decoder with unread input is not returned to the pool.
func decodePooled(text []byte, into any) bool {
	if len(text) > maxPooled {
		return false
	}
	text = bytes.TrimRight(text, " \t\r\n")
	s := decoderPool.Get().(*pooledDecoder)
	before := s.to.InputOffset()
	s.Reset(text)
	if s.to.Decode(into) != nil || s.to.InputOffset() != before+int64(len(text)) {
		return false
	}
	s.Reset(nil)
	decoderPool.Put(s)
	return true
}

// makePlain converts the values of every any within v to plain values.
func makePlain(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() || v.NumMethod() > 0 {
			return nil
		}
		made, err := plain(v.Interface())
		if err == nil && made != nil {
			v.Set(reflect.ValueOf(made))
		}
		return err
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return makePlain(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				if err := makePlain(field); err != nil {
					return err
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			if err := makePlain(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		return makeMapPlain(v)
	}
	return nil
}

func makeMapPlain(m reflect.Value) error {
	value := reflect.New(m.Type().Elem()).Elem()
	for _, key := range m.MapKeys() {
		value.Set(m.MapIndex(key))
		if err := makePlain(value); err != nil {
			return err
		}
		m.SetMapIndex(key, value)
	}
	return nil
}
