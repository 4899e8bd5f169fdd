// Package otlp sends spans and metrics to a receiver of OpenTelemetry's protocol
// over HTTP, as the standard variables say: in protobuf or JSON, again where the
// receiver asks for that.
//
// OpenTelemetry's own exporters do the same, and link all of gRPC to share their
// options with those that speak it: 50 packages that a program initialises at
// every start, sent or not. What makes the protocol's messages of spans is
// theirs; tests hold that the same arrives.
package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Settings are how one signal is sent.
type Settings struct {
	url        *url.URL
	header     http.Header
	json, gzip bool
	timeout    time.Duration // of one request; 0 has none
	tls        *tls.Config
	delta      string // of what metrics there are only changes: delta, lowmemory; else of none
	histogram  string
}

// Read reads the variables of a signal, TRACES or METRICS: the
// OTEL_EXPORTER_OTLP_ ones with its name in them, then those without. What a
// wrong one says is not repeated in the error: it may be a key.
func Read(getenv func(string) string, signal string) (Settings, error) {
	v := variables{getenv, signal}
	s := Settings{header: http.Header{}, timeout: 10 * time.Second}
	for _, one := range []struct {
		name, otherwise, want string
		take                  func(value string) bool
	}{
		{"ENDPOINT", "http://localhost:4318", "want a URL such as http://localhost:4318", s.endpoint},
		{"PROTOCOL", "http/protobuf", "only http/protobuf and http/json are supported", chosen(&s.json, "http/json", "http/protobuf")},
		{"COMPRESSION", "none", "only gzip and none are supported", chosen(&s.gzip, "gzip", "none")},
		{"TIMEOUT", "10000", "want milliseconds", s.milliseconds},
		{"HEADERS", "", "want name=value,name=value", s.headers},
	} {
		value, variable := v.look(one.name)
		if !one.take(cmp.Or(value, one.otherwise)) {
			return s, fmt.Errorf("%s: %s", variable, one.want)
		}
	}
	if _, variable := v.look("ENDPOINT"); !strings.Contains(variable, signal) {
		s.url = s.url.JoinPath("v1", strings.ToLower(signal))
	}
	s.url.Path = cmp.Or(s.url.Path, "/")
	s.delta = strings.ToLower(getenv(prefix + "METRICS_TEMPORALITY_PREFERENCE"))
	s.histogram = strings.ToLower(getenv(prefix + "METRICS_DEFAULT_HISTOGRAM_AGGREGATION"))
	return s, s.certificates(v)
}

const prefix = "OTEL_EXPORTER_OTLP_"

type variables struct {
	getenv func(string) string
	signal string
}

// look gives a value and the variable that has it: the signal's own goes first.
func (v variables) look(name string) (value, variable string) {
	variable = prefix + v.signal + "_" + name
	if value = strings.TrimSpace(v.getenv(variable)); value != "" {
		return value, variable
	}
	variable = prefix + name
	return strings.TrimSpace(v.getenv(variable)), variable
}

func chosen(into *bool, yes, no string) func(string) bool {
	return func(value string) bool {
		*into = value == yes
		return value == yes || value == no
	}
}

func (s *Settings) endpoint(value string) (ok bool) {
	u, err := url.Parse(value)
	s.url = u
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func (s *Settings) milliseconds(value string) bool {
	n, err := strconv.ParseUint(value, 10, 31)
	s.timeout = time.Duration(n) * time.Millisecond
	return err == nil
}

func (s *Settings) headers(value string) bool {
	for pair := range strings.SplitSeq(value, ",") {
		name, value, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(value)
		switch {
		case strings.TrimSpace(pair) == "":
		case !found || err != nil || name == "" || strings.ContainsAny(name+value, "\r\n\x00"):
			return false
		default:
			s.header.Set(name, strings.TrimSpace(value))
		}
	}
	return true
}

// certificates reads the files of whom to trust, and of who we are.
func (s *Settings) certificates(v variables) error {
	var config tls.Config
	trusted, variable := v.look("CERTIFICATE")
	if trusted != "" {
		text, err := os.ReadFile(trusted)
		if config.RootCAs = x509.NewCertPool(); err != nil || !config.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s: want a PEM file of certificates", variable)
		}
	}
	own, variable := v.look("CLIENT_CERTIFICATE")
	key, _ := v.look("CLIENT_KEY")
	if own != "" && key != "" {
		pair, err := tls.LoadX509KeyPair(own, key)
		if err != nil {
			return fmt.Errorf("%s: want PEM files of a certificate and its key", variable)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if config.RootCAs == nil && config.Certificates == nil {
		return nil
	}
	if s.url.Scheme != "https" {
		return errors.New(prefix + "ENDPOINT: has certificates, so want https")
	}
	s.tls = &config
	return nil
}
