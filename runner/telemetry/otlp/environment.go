package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// FromEnvironment reads the OTEL_EXPORTER_OTLP_ variables, of which those with
// TRACES in their name go first: ENDPOINT, PROTOCOL, HEADERS, TIMEOUT,
// COMPRESSION, CERTIFICATE, CLIENT_CERTIFICATE and CLIENT_KEY. Without an
// endpoint it is http://localhost:4318/v1/traces, without a protocol
// http/protobuf. An error names the variable, never its value where that may
// be a key.
func FromEnvironment(getenv func(string) string) (Options, error) {
	o := Options{}
	for _, read := range []func(environment, *Options) error{endpoint, protocol, headers, timeout, compression, certificates} {
		if err := read(getenv, &o); err != nil {
			return Options{}, err
		}
	}
	return o, nil
}

type environment func(string) string

const prefix = "OTEL_EXPORTER_OTLP_"

// get reads a variable of the exporter, and says which one it is.
func (env environment) get(name string) (variable, v string) {
	for _, variable := range []string{prefix + "TRACES_" + name, prefix + name} {
		if v := strings.TrimSpace(env(variable)); v != "" {
			return variable, v
		}
	}
	return prefix + name, ""
}

func endpoint(env environment, o *Options) error {
	variable, text := env.get("ENDPOINT")
	u, err := url.Parse(cmp.Or(text, "http://localhost:4318"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%s: want a URL such as http://localhost:4318", variable)
	}
	// The one for traces is the whole address; the common one is where the
	// signals' paths begin.
	if variable == prefix+"ENDPOINT" {
		u = u.JoinPath("v1/traces")
	} else if u.Path == "" {
		u.Path = "/"
	}
	o.URL = u.String()
	return nil
}

func protocol(env environment, o *Options) error {
	switch variable, text := env.get("PROTOCOL"); text {
	case "", "http/protobuf":
	case "http/json":
		o.JSON = true
	default:
		return fmt.Errorf("%s: %s is not supported, only http/protobuf and http/json", variable, text)
	}
	return nil
}

func headers(env environment, o *Options) error {
	variable, text := env.get("HEADERS")
	o.Headers = map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, v, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		v, err := url.PathUnescape(strings.TrimSpace(v))
		if !found || err != nil || !token(name) || strings.ContainsAny(v, "\r\n\x00") {
			return fmt.Errorf("%s: want name=value,name=value", variable)
		}
		o.Headers[name] = v
	}
	return nil
}

// token says whether a text may name a header.
func token(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r)
	})
}

func timeout(env environment, o *Options) error {
	variable, text := env.get("TIMEOUT")
	if text == "" {
		return nil
	}
	ms, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return fmt.Errorf("%s: want milliseconds", variable)
	}
	o.Timeout = time.Duration(ms) * time.Millisecond
	return nil
}

func compression(env environment, o *Options) error {
	switch variable, text := env.get("COMPRESSION"); text {
	case "", "none":
	case "gzip":
		o.Gzip = true
	default:
		return fmt.Errorf("%s: %s is not supported, only gzip and none", variable, text)
	}
	return nil
}

func certificates(env environment, o *Options) error {
	config := &tls.Config{}
	if variable, file := env.get("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", variable, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s: %s holds no certificate", variable, file)
		}
		o.TLS = config
	}
	variable, file := env.get("CLIENT_CERTIFICATE")
	if file == "" {
		return nil
	}
	_, key := env.get("CLIENT_KEY")
	pair, err := tls.LoadX509KeyPair(file, key)
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	config.Certificates = []tls.Certificate{pair}
	o.TLS = config
	return nil
}
