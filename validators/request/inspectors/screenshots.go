package inspectors

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/chromedp/chromedp"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/worktree"
)

// screenshot keeps a picture of the page as evidence of the criterion at hand.
func (t *tab) screenshot(n *inspection, description string) error {
	ctx, cancel := context.WithTimeout(t.ctx, n.limits.Answer)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		if t.silent = ctx.Err() != nil && t.ctx.Err() == nil; t.silent {
			return errSilent
		}
		return t.fault(err)
	}
	at, err := t.browser.keep(picture, n.number)
	if err != nil {
		return err
	}
	t.pictures++
	n.show(at, description)
	return nil
}

func (n *inspection) show(at, description string) {
	n.cite(fmt.Sprintf("screenshots/%d", len(n.evidence.Screenshots)))
	n.evidence.Screenshots = append(n.evidence.Screenshots, request.Screenshot{
		Path: at, Description: clip(description, 300), Step: n.at.ID,
	})
}

// keep writes a picture to a file whose name consists of the criterion's number
// and the picture's digest. The name contains no foreign text, so a picture
// cannot replace another, and a forged picture can be detected.
func (b *chromium) keep(picture []byte, number int) (string, error) {
	if b.dir == "" {
		dir, err := os.MkdirTemp("", worktree.EvidenceDirs)
		if err != nil {
			return "", err
		}
		b.dir = dir
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return "", err
	}
	digest := sha256.Sum256(picture)
	at, err := filepath.Abs(filepath.Join(b.dir, fmt.Sprintf("%03d-%x.png", number, digest[:8])))
	if err != nil {
		return "", err
	}
	// The file is written under another name and renamed, so a file of this
	// name is complete.
	f, err := os.CreateTemp(b.dir, "screenshot-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(picture)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), at)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return at, nil
}

// A landing is the picture of the app's first page, which criteria share that
// look at no page of their own.
type landing struct {
	taken   bool
	at      string
	problem error
}

// pictured takes a screenshot for a criterion of a request for pages unless
// there is one. Without a screenshot, the criterion does not pass.
func (n *inspection) pictured(ctx context.Context, f finding) finding {
	if n.request.ValidationType == request.Code || n.hasPicture() {
		return f
	}
	l := &n.browser.landing
	if !l.taken {
		l.at, l.problem = n.land(ctx)
		l.taken = ctx.Err() == nil || l.problem == nil
	} else if l.problem == nil {
		n.show(l.at, "the first page of the app")
	}
	if l.problem != nil {
		return sum([]finding{f, blocked("%s validation needs a screenshot: %v", n.request.ValidationType, l.problem)})
	}
	return f
}

func (n *inspection) hasPicture() bool {
	return slices.ContainsFunc(n.evidence.Screenshots[n.shown:], func(s request.Screenshot) bool { return s.Step == n.at.ID })
}

// land takes the picture of the app's first page.
func (n *inspection) land(ctx context.Context) (string, error) {
	if n.services.app == nil {
		if n.services.problem != nil {
			return "", n.services.problem
		}
		return "", fmt.Errorf("the request has no app_url")
	}
	if err := n.services.up(ctx, n.services.app); err != nil {
		return "", err
	}
	t, err := n.browser.open(ctx, n.services)
	if err != nil {
		return "", err
	}
	defer t.close()
	if _, err := t.navigate(n.services.app.String()); err != nil {
		return "", err
	}
	if err := t.screenshot(n, "the first page of the app"); err != nil {
		return "", err
	}
	return n.evidence.Screenshots[len(n.evidence.Screenshots)-1].Path, nil
}
