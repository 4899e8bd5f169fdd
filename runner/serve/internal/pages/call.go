package pages

import (
	"context"
	"net/http"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A callPageView is a model call with its whole prompt and its reply.
type callPageView struct {
	frame
	RunID    string
	Path     event.Path
	Model    string
	Messages []messageView
	Hidden   int // number of messages that are not shown
	All      string
	Tools    []string
	Schema   textView
	Reply    *callView // nil without a reply, and in a part of a page, which already has the reply
}

type messageView struct {
	Role  model.Role
	Text  textView
	Calls []model.ToolCall
	New   bool // the last message
}

// maxMessages is the number of newest messages that are shown, unless the client asks for all.
const maxMessages = 60

// request returns the request of the model call at a path of a run.
func (s *Site) request(ctx context.Context, id string, at event.Path) (*model.Request, error) {
	request, err := s.o.Store.Requests(ctx, id)
	if err != nil {
		return nil, err
	}
	return request(at)
}

func (s *Site) callPage(w http.ResponseWriter, r *http.Request) error {
	id, at := r.PathValue("id"), event.Path(r.URL.Query().Get("at"))
	req, err := s.request(r.Context(), id, at)
	if err != nil {
		return err
	}
	v := callPageView{frame: s.frame("Prompt · "+id, "runs"), RunID: id, Path: at, Model: req.Model, All: link(runLink(id, "/call"), "at", string(at), "all", "1")}
	for _, t := range req.Tools {
		v.Tools = append(v.Tools, t.Name)
	}
	if req.Schema != nil {
		shape, _ := schema.Parse(req.Schema) // the run has compiled it
		v.Schema = newTextView(id, "schema", prettyJSON(shape), textRef{What: "schema", At: at})
	}
	for i, m := range req.Messages {
		if r.URL.Query().Get("all") == "" && i > 0 && i < len(req.Messages)-maxMessages {
			v.Hidden++
			continue
		}
		v.Messages = append(v.Messages, messageView{
			Role: m.Role, Calls: m.ToolCalls, New: i == len(req.Messages)-1,
			Text: newTextView(id, string(m.Role), m.Content, textRef{What: "message", At: at, N: i}),
		})
	}
	if isPart(r) {
		return s.render(w, http.StatusOK, "call-part", v)
	}
	if v.Reply, err = s.reply(r, id, at); err != nil {
		return err
	}
	return s.render(w, http.StatusOK, "call", v)
}

func (s *Site) reply(r *http.Request, id string, at event.Path) (*callView, error) {
	_, t, err := s.trees.Load(r.Context(), id)
	if err != nil {
		return nil, err
	}
	var found *callView
	for p := range t.All() {
		p.Visit(trace.Visitor{Call: func(c *trace.Call) {
			if c.Path == at {
				found = &callViews(id, []*trace.Call{c})[0]
			}
		}})
	}
	return found, nil
}
