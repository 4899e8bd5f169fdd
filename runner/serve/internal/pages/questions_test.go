package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
)

// TestQuestionShowsText expects the text of a question, the verdict on it and the
// difference to the previous version on the page of its run.
func TestQuestionShowsText(t *testing.T) {
	w := servetest.New(t)
	page := w.Want(200, "GET", "/runs/"+w.Start("revise", nil), nil).Text
	question, _, _ := strings.Cut(page, `<div class="headline">`)
	for _, want := range []string{"A short text.", "<strong>max_length</strong>", "phase draft", "Changes since the previous version", "d-removed", "d-added"} {
		if !strings.Contains(question, want) {
			t.Errorf("no %q in %s", want, question)
		}
	}
}

func TestQuestionsPageAnswers(t *testing.T) {
	w := servetest.New(t)
	if page := w.Want(200, "GET", "/questions", nil).Text; !strings.Contains(page, "No run waits for an answer") {
		t.Error(page)
	}
	a, b, other := w.Start("revise", nil), w.Start("revise", nil), w.Start("choose", nil)
	page := w.Want(200, "GET", "/questions", nil).Text
	for _, want := range []string{"approve of revise: 2 questions", "draft of choose: 1 question", `value="` + a + ` approve/human_input"`, `value="` + other + ` draft/human_input"`, "A short text."} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if r := postForm(w, "/questions", url.Values{"value": {"yes"}}); r.StatusCode != 422 {
		t.Errorf("no question: %d", r.StatusCode)
	}
	r := postForm(w, "/questions", url.Values{"value": {"yes"}, "by": {"Kim"}, "question": {a + " approve/human_input", b + " approve/human_input", other + " draft/human_input"}})
	<-w.Done
	<-w.Done
	if r.StatusCode != 200 || strings.Count(r.Text, "</a> answered") != 2 || !strings.Contains(r.Text, "not answered: want one of red, blue") {
		t.Errorf("%d %s", r.StatusCode, r.Text)
	}
	for _, id := range []string{a, b} {
		if run := w.Want(200, "GET", "/v1/runs/"+id, nil).JSON(t); run["status"] != "succeeded" || run["answers"].([]any)[0].(map[string]any)["by"] != "Kim" {
			t.Errorf("got %v", run)
		}
	}
}

// TestQuestionsInBrowser deselects a question, answers the others, and expects the
// deselected one to remain.
func TestQuestionsInBrowser(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	first, second := w.Start("revise", nil), w.Start("revise", nil)
	b.open("/questions")
	b.shoot("questions")
	b.click(`input[value^="` + first + ` "]`)
	b.leave(`button[value=yes]`)
	<-w.Done
	b.until("document.body.innerText.includes('answered')")
	if left := js[string](b, "Array.from(document.querySelectorAll('[name=question]')).map(function (i) { return i.value }).join()"); !strings.HasPrefix(left, first+" ") || strings.Contains(left, second) {
		t.Errorf("left: %s", left)
	}
}

// TestFiltersFold checks that filters are folded on a narrow screen until the key /
// is pressed. On a wide screen, they are open and have no summary.
func TestFiltersFold(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	seen := "document.getElementById('filter').checkVisibility()"
	for width, open := range map[int64]bool{390: false, 1280: true} {
		b.do(chromedp.EmulateViewport(width, 844))
		for _, path := range []string{"/", "/trends"} {
			b.open(path)
			if got := js[bool](b, seen); got != open {
				t.Errorf("%s at %d pixels: the filter is visible: %v", path, width, got)
			}
			if got := js[bool](b, "document.querySelector('.filters > summary').checkVisibility()"); got == open {
				t.Errorf("%s at %d pixels: the summary is visible: %v", path, width, got)
			}
			js[any](b, "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}))")
			if !js[bool](b, "document.activeElement.id === 'filter' && "+seen) {
				t.Errorf("%s at %d pixels: the key / does not reach the filter", path, width)
			}
		}
	}
}

// TestLiveRunLogsNothing shows a run whose models write in folded phases. The console
// must stay empty until the run has ended.
func TestLiveRunLogsNothing(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	s := &speaker{make(chan bool, 9), make(chan string)}
	w.Model = s
	r := postForm(w, "/start", form(w.Send("GET", "/start?cascade=pair", nil).Text))
	for range 2 {
		if !<-s.asked {
			t.Fatal("a call does not stream")
		}
	}
	b.open(r.Header.Get("Location"))
	for range 3 {
		s.says <- "Owls "
		b.until("document.querySelector('#drafts').innerText.includes('Owls')")
	}
	close(s.says)
	<-w.Done
	b.until("document.querySelector('#head').innerText.includes('succeeded')")
}
