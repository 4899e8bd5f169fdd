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

// maxLook is how long a provider is waited for.
const maxLook = 3 * time.Second

const modelsPage = "docs/reference/models.md lists the environment variables of every provider; --model scripted:FILE needs none"

// providerSigns looks at every provider that the environment has set up, at all
// of them together, and names the others in one line.
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
	return append(out, sign{What: "provider", Name: "others", State: absent, Says: "not set up: " + strings.Join(off, ", "), Mend: modelsPage})
}

// firstOf is the variable that sets a provider up.
func firstOf(key, base string, keyless bool) string {
	if keyless {
		return base
	}
	return key
}

// providerSign asks a provider for the list of its models, which costs nothing
// and tells whether it is there and takes the key. One that needs no key is
// absent where nothing says that it should be there and it is not.
func (c *Command) providerSign(ctx context.Context, p model.Provider) sign {
	s := sign{What: "provider", Name: p.Name}
	base, from := p.Base(c.Getenv)
	key := strings.TrimSpace(c.Getenv(p.KeyEnv))
	if p.Missing(c.Getenv) != "" {
		s.State = absent
		if key != "" || from != "" { // one of two is there
			s.State, s.Says, s.Mend = lacking, p.Missing(c.Getenv), modelsPage
		}
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, maxLook)
	defer cancel()
	status, err := look(ctx, p, base, key)
	base = shownURL(base)
	switch {
	case err != nil && key == "" && from == "":
		s.State, s.Says = absent, base
	case err != nil:
		s.State, s.Says, s.Mend = broken, fmt.Sprintf("%s cannot be reached: %v", base, err), "check the address, and HTTPS_PROXY if you need a proxy"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		s.State, s.Says, s.Mend = broken, fmt.Sprintf("%s rejects the key (%d)", base, status), "check "+p.KeyEnv
	case status >= http.StatusInternalServerError:
		s.State, s.Says = broken, fmt.Sprintf("%s answers %d", base, status)
	default:
		s.State, s.Says = healthy, base+" answers"
		if status == http.StatusOK && key != "" {
			s.Says += " and accepts the key"
		}
		s.Says += "; an output_schema goes there as " + cmp.Or(p.Format, "json_schema")
		if p.API != "" {
			s.Says += "; the protocol is " + p.API
		}
	}
	return s
}

// shownURL is an address without what may be secret in it.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "its base URL"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// look gives the status that a provider answers with. Its key is for its base
// URL: no redirect is followed.
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

// askedOnce returns a function that looks at providers, at each once.
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
		s.Says = "phase " + phase + " can ask it: " + of.Says
	case absent: // a provider without a key at its usual address, which needs nothing that is set
		s.State, s.Says, s.Mend = lacking, "phase "+phase+": nobody answers at "+of.Says, modelsPage
	default:
		s.State, s.Says, s.Mend = of.State, "phase "+phase+": "+of.Says, of.Mend
	}
}
