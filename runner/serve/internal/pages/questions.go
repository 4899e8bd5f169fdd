package pages

import (
	"net/http"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// maxQuestions is the maximum number of waiting runs on the page of questions.
const maxQuestions = 200

// A questionsView contains the open questions of all runs, and the results of the answers just
// received.
type questionsView struct {
	frame
	Groups   []*questionGroup
	Results  []answerResult
	More     bool // older runs wait too
	CanOrder bool
}

// A questionGroup contains the questions that one answer can answer.
type questionGroup struct {
	Cascade, Phase string
	Asks           []askView
}

// First returns the first question. The other questions have the same type and
// options.
func (g *questionGroup) First() askView { return g.Asks[0] }

// has reports whether a question of a cascade belongs to the group.
func (g *questionGroup) has(cascade string, a askView) bool {
	first := g.First()
	return g.Cascade == cascade && g.Phase == a.Question.Phase && first.Question.Type == a.Question.Type &&
		first.Head.External == a.Head.External && slices.Equal(first.Question.Options, a.Question.Options)
}

type answerResult struct {
	RunID, URL string
	Problem    string // why the answer is not stored; "" if it is stored
}

func (s *Site) questionsPage(w http.ResponseWriter, r *http.Request) error {
	return s.questions(w, r, nil)
}

// questions shows the open questions after the results of answers.
func (s *Site) questions(w http.ResponseWriter, r *http.Request, results []answerResult) error {
	v := questionsView{frame: s.frame("Questions", "questions"), Results: results, CanOrder: s.o.Orders.Enabled() == nil}
	runs, err := s.o.Store.Runs(r.Context(), journal.Filter{Status: engine.Waiting, Limit: maxQuestions + 1})
	if err != nil {
		return err
	}
	if v.More = len(runs) > maxQuestions; v.More {
		runs = runs[:maxQuestions]
	}
	for _, one := range runs {
		run, t, err := s.trees.Load(r.Context(), one.RunID)
		if err != nil {
			return err
		}
		for _, a := range s.head(run, t).Asks {
			if !a.Expired {
				v.add(run.CascadeID, a)
			}
		}
	}
	return s.render(w, http.StatusOK, "questions", v)
}

// add puts a question into its group.
func (v *questionsView) add(cascade string, a askView) {
	i := slices.IndexFunc(v.Groups, func(g *questionGroup) bool { return g.has(cascade, a) })
	if i < 0 {
		i = len(v.Groups)
		v.Groups = append(v.Groups, &questionGroup{Cascade: cascade, Phase: a.Question.Phase})
	}
	g := v.Groups[i]
	a.N = i
	g.Asks = append(g.Asks, a)
}

// questionsForm gives one answer to all selected questions.
func (s *Site) questionsForm(w http.ResponseWriter, r *http.Request) error {
	form, err := api.Values(w, r, api.MaxBody)
	if err != nil {
		return err
	}
	if len(form["question"]) == 0 {
		return orders.NewProblem(http.StatusUnprocessableEntity, "invalid_body", "no question is selected")
	}
	var results []answerResult
	for _, one := range form["question"] {
		id, key, _ := strings.Cut(one, " ")
		result := answerResult{RunID: id, URL: runLink(id)}
		run, err := s.o.Orders.Run(r.Context(), id)
		if err == nil {
			err = s.answer(r, run, event.Path(key), strings.ReplaceAll(form.Get("value"), "\r\n", "\n"), form.Get("by"))
		}
		if err != nil {
			result.Problem = orders.ProblemOf(w, r, err).Detail
		}
		results = append(results, result)
	}
	return s.questions(w, r, results)
}

// answer stores the answer of a form and resumes the run.
func (s *Site) answer(r *http.Request, run *journal.Run, key event.Path, text, by string) error {
	var value any = text
	if p, err := run.Question(key); err == nil && p.Question.Type == cascades.Confirmation {
		switch text {
		case "yes":
			value = true
		case "no":
			value = false
		}
	}
	return s.o.Orders.Answer(r.Context(), run, key, engine.Answer{Value: value, By: by})
}
