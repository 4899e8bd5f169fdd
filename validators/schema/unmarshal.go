package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"
)

// Unmarshal reads one JSON document into what into points to, as encoding/json
// does, but every any in it holds a plain value, its numbers as [Parse] reads
// them. A type with an UnmarshalJSON of its own has to see to its own.
func Unmarshal(text []byte, into any) error { return unmarshal(text, into, false) }

func unmarshal(text []byte, into any, strict bool) error {
	if strict || !decoded(text, into) {
		if err := decodeAnew(text, into, strict); err != nil {
			return err
		}
	}
	return settle(reflect.ValueOf(into).Elem())
}

// decodeAnew decodes with a decoder of its own, and gives what is wrong its place.
func decodeAnew(text []byte, into any, strict bool) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(into); err != nil {
		return describe(err, text)
	}
	return behind(text, int(d.InputOffset()))
}

// A source gives one decoder the documents that it decodes one after the other: to make
// one takes a quarter of the time that a short document takes.
type source struct {
	bytes.Reader
	to *json.Decoder
}

var sources = sync.Pool{New: func() any {
	s := &source{}
	s.to = json.NewDecoder(s)
	s.to.UseNumber()
	return s
}}

// manyBytes bounds what a decoder that is kept holds of documents.
const manyBytes = 16 << 10

// decoded decodes a document of few bytes in which nothing is wrong, and tells whether
// it is one. A decoder that has anything left does not decode another.
func decoded(text []byte, into any) bool {
	if len(text) > manyBytes {
		return false
	}
	text = bytes.TrimRight(text, " \t\r\n")
	s := sources.Get().(*source)
	before := s.to.InputOffset()
	s.Reset(text)
	if s.to.Decode(into) != nil || s.to.InputOffset() != before+int64(len(text)) {
		return false
	}
	s.Reset(nil)
	sources.Put(s)
	return true
}

// settle makes what any holds within v plain.
func settle(v reflect.Value) error {
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
		return settle(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				if err := settle(field); err != nil {
					return err
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			if err := settle(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		return settleMap(v)
	}
	return nil
}

func settleMap(m reflect.Value) error {
	value := reflect.New(m.Type().Elem()).Elem()
	for _, key := range m.MapKeys() {
		value.Set(m.MapIndex(key))
		if err := settle(value); err != nil {
			return err
		}
		m.SetMapIndex(key, value)
	}
	return nil
}
