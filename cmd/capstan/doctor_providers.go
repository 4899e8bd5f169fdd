package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
)

// maxLook is the time limit for a provider's answer.
const maxLook = 3 * time.Second

const modelsPage = "docs/reference/models.md lists the environment variables of every provider; --model scripted:FILE needs none"

// providerSigns checks all configured providers concurrently. One line names the
// unconfigured providers.
func (c *Command) providerSigns(ctx context.Context) []sign {
	all := model.Providers()
	signs := make([]sign, len(all))
	var looking sync.WaitGroup
	for i, p := range all {
		looking.Go(func() { signs[i] = c.providerSign(ctx, p) })
	}
	looking.Wait()
	var out []sign
	var off []string
	for i, s := range signs {
		if s.State != absent {
			out = append(out, s)
			continue
		}
		off = append(off, fmt.Sprintf("%s (%s)", all[i].Name, firstOf(all[i].KeyEnv, all[i].BaseEnv, all[i].Keyless)))
	}
	return append(out, sign{Kind: "provider", Name: "others", State: absent, Message: "not set up: " + strings.Join(off, ", "), Fix: modelsPage})
}

// firstOf returns the variable that configures a provider.
func firstOf(key, base string, keyless bool) string {
	if keyless {
		return base
	}
	return key
}

// providerSign requests the list of a provider's models, which is free and
// shows whether the key is valid. A provider without a key is absent if it is
// not configured and does not answer.
func (c *Command) providerSign(ctx context.Context, p model.Provider) sign {
	s := sign{Kind: "provider", Name: p.Name}
	base, from := p.Base(c.Getenv)
	key := strings.TrimSpace(c.Getenv(p.KeyEnv))
	if p.Missing(c.Getenv) != "" {
		s.State = absent
		if key != "" || from != "" { // one of two is set
			s.State, s.Message, s.Fix = missing, p.Missing(c.Getenv), modelsPage
		}
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, maxLook)
	defer cancel()
	status, err := look(ctx, p, base, key)
	base = shownURL(base)
	switch {
	case err != nil && key == "" && from == "":
		s.State, s.Message = absent, base
	case err != nil:
		s.State, s.Message, s.Fix = broken, fmt.Sprintf("%s cannot be reached: %v", base, err), "check the address, and HTTPS_PROXY if you need a proxy"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		s.State, s.Message, s.Fix = broken, fmt.Sprintf("%s rejects the key (%d)", base, status), "check "+p.KeyEnv
	case status >= http.StatusInternalServerError:
		s.State, s.Message = broken, fmt.Sprintf("%s answers %d", base, status)
	default:
		s.State, s.Message = healthy, base+" answers"
		if status == http.StatusOK && key != "" {
			s.Message += " and accepts the key"
		}
		s.Message += "; an output_schema goes there as " + cmp.Or(p.Format, "json_schema") + "; the protocol is " + cmp.Or(p.API, "chat")
	}
	return s
}

// shownURL returns an address without secrets.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "its base URL"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// look returns the status of a provider's answer. It follows no redirect,
// because the key is for the base URL only.
func look(ctx context.Context, p model.Provider, base, key string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/models", nil)
	if err != nil {
		return 0, errors.New("the address is invalid")
	}
	req.Header = p.Header(key)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if at, ok := errors.AsType[*url.Error](err); ok {
		return 0, at.Err // without the URL, which may hold a password
	}
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, nil
}

// askedOnce returns a function that checks each provider once.
func (c *Command) askedOnce(ctx context.Context) func(model.Provider) sign {
	signs := map[string]sign{}
	return func(p model.Provider) sign {
		if _, known := signs[p.Name]; !known {
			signs[p.Name] = c.providerSign(ctx, p)
		}
		return signs[p.Name]
	}
}

// reaches adds the result of a request to its provider to the sign of a model.
func (s *sign) reaches(phase string, of sign) {
	switch of.State {
	case healthy:
		s.Message = "phase " + phase + " can ask it: " + of.Message
	case absent: // a provider without a key at its default address, which needs no configuration
		s.State, s.Message, s.Fix = missing, "phase "+phase+": nobody answers at "+of.Message, modelsPage
	default:
		s.State, s.Message, s.Fix = of.State, "phase "+phase+": "+of.Message, of.Fix
	}
}
