package inspectors

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/seed61713e19/capstan/internal/hosts"
	"github.com/seed61713e19/capstan/internal/process"
)

// startLimit is the maximum time of a start.
const startLimit = time.Minute

// chromiums are the names of Chromium programs. The headless builds come first,
// because they need a third of the CPU time.
var chromiums = []string{"chromium-headless-shell", "chrome-headless-shell", "headless-shell",
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// A chromium is a headless Chromium that starts with the first page. Its
// profile and its home are empty at the start, and deleted at the end.
type chromium struct {
	program string
	dir     string // the directory of screenshots
	limits  limits

	home        string
	certificate tls.Certificate // of its proxies
	cmd         *exec.Cmd       // nil before it is made
	ctx         context.Context
	stop        []func()
	problem     error
	landing     landing
}

func (b *chromium) close() {
	for i := len(b.stop) - 1; i >= 0; i-- {
		b.stop[i]()
	}
	b.stop = nil
}

// FindBrowser returns the path of the Chromium to use: program, or the first
// installed Chromium of the usual names if program is "".
func FindBrowser(program string) (string, error) {
	switch program {
	case NoBrowser:
		return "", errors.New("no Chromium: the browser is switched off")
	case "":
		for _, name := range chromiums {
			if at, err := exec.LookPath(name); err == nil {
				return at, nil
			}
		}
		return "", errors.New("no Chromium: none is installed")
	}
	at, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("no Chromium: %w", err)
	}
	return at, nil
}

// start starts the Chromium once, with two tries. A second failure is final for
// the inspection, unless a context ended.
func (b *chromium) start(ctx context.Context) error {
	if b.ctx != nil || b.problem != nil {
		return b.problem
	}
	program, err := FindBrowser(b.program)
	if err != nil {
		b.problem = err
		return err
	}
	for range 2 {
		if err = b.launch(ctx, program); err == nil {
			return nil
		}
		b.close()
		if ctx.Err() != nil {
			return fmt.Errorf("no Chromium: %s did not start: %w", program, context.Cause(ctx))
		}
	}
	b.problem = fmt.Errorf("no Chromium: %s did not start in two tries: %w", program, err)
	return b.problem
}

// launch starts a Chromium with a home and a proxy of its own.
func (b *chromium) launch(ctx context.Context, program string) (err error) {
	if b.home, err = os.MkdirTemp("", "capstan-browser-"); err != nil {
		return err
	}
	b.stop = append(b.stop, func() { os.RemoveAll(b.home) }, b.sweep)
	var key string
	if b.certificate, key, err = newCertificate(); err != nil {
		return err
	}
	// Pages have proxies of their own. The browser itself reaches nothing.
	nowhere, err := serveProxy(b.certificate, func(string, *url.URL) error { return hosts.ErrRefused }, nil)
	if err != nil {
		return err
	}
	b.stop = append(b.stop, nowhere.stop)
	// The browser outlives the criterion that starts it, not the inspection.
	allocator, stop := chromedp.NewExecAllocator(context.WithoutCancel(ctx), b.options(program, nowhere.address, key)...)
	b.stop = append(b.stop, stop)
	running, quit := chromedp.NewContext(allocator, chromedp.WithLogf(silent), chromedp.WithErrorf(silent))
	b.stop = append(b.stop, quit)
	late := context.AfterFunc(ctx, quit)
	defer late()
	timer := time.AfterFunc(startLimit, quit)
	defer timer.Stop()
	if err = chromedp.Do(running); err == nil {
		b.ctx = running
	}
	return err
}

func silent(string, ...any) {}

// group starts the program in a process group of its own. The program may be a
// script whose children outlive it, so the whole group is killed.
func (b *chromium) group(cmd *exec.Cmd) {
	process.OwnGroup(cmd)
	dieWithParent(cmd)
	cmd.Cancel = func() error { return process.KillGroup(cmd) }
	b.cmd = cmd
}

// sweep kills the remaining processes of the group.
func (b *chromium) sweep() {
	if b.cmd != nil && b.cmd.Process != nil {
		_ = process.KillGroup(b.cmd)
	}
}

// bypassNothing sends requests to the loopback through the proxy too.
const bypassNothing = "<-loopback>"

// options returns the flags of a Chromium that connects to proxies and nothing else. It
// trusts certificates with a key of the hash.
func (b *chromium) options(program, proxy, key string) []chromedp.ExecAllocatorOption {
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	for _, name := range []string{"disable-quic", "disable-component-update", "disable-domain-reliability", "no-pings"} {
		options = append(options, chromedp.Flag(name, true))
	}
	return append(options,
		chromedp.ExecPath(program),
		chromedp.Flag("proxy-server", proxy),
		chromedp.Flag("proxy-bypass-list", bypassNothing),
		chromedp.Flag("webrtc-ip-handling-policy", "disable_non_proxied_udp"),       // of Chromium
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"), // of the headless shell
		chromedp.Flag("ignore-certificate-errors-spki-list", key),
		chromedp.DisableGPU,
		chromedp.WindowSize(1280, 800),
		// Chromium has no sandbox as root.
		chromedp.Flag("no-sandbox", os.Geteuid() == 0),
		chromedp.Flag("disable-popup-blocking", false),
		chromedp.ModifyCmdFunc(b.group),
		chromedp.NoInheritEnv,
		chromedp.Env("PATH="+os.Getenv("PATH"), "HOME="+b.home, "TMPDIR="+b.home,
			"XDG_CONFIG_HOME="+b.home, "XDG_CACHE_HOME="+b.home),
	)
}

// open opens a tab with a browser context of its own. Its only way to the network is a
// proxy for the services. The tab ends with the context.
func (b *chromium) open(ctx context.Context, s *services) (*tab, error) {
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	network, err := serveProxy(b.certificate, s.admits, s.dial)
	if err != nil {
		return nil, fmt.Errorf("no page could be opened: %w", err)
	}
	inner, cancel := context.WithCancelCause(b.ctx)
	t := &tab{browser: b, services: s, network: network}
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	var done context.CancelFunc
	t.ctx, done = chromedp.NewContext(inner, chromedp.WithNewBrowserContext(func(p *target.CreateBrowserContextParams) {
		p.ProxyServer, p.ProxyBypassList = network.address, bypassNothing
	}))
	t.close = func() { done(); stop(); cancel(nil); network.stop() }
	if err := t.prepare(); err != nil {
		t.close()
		return nil, fmt.Errorf("no page could be opened: %w", err)
	}
	return t, nil
}

// refuseDownloads keeps pages from writing files.
func refuseDownloads(ctx context.Context) error {
	_, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
	})
	return err
}
