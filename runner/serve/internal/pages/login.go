package pages

import (
	"net/http"
	"strings"

	"github.com/seed61713e19/capstan/runner/serve/internal/api"
)

type loginView struct {
	frame
	To    string
	Wrong bool
}

func (s *Site) loginForm(w http.ResponseWriter, r *http.Request) error {
	if s.o.Guard.Open() {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	return s.render(w, http.StatusOK, "login", loginView{frame: frame{Title: "Log in"}, To: inside(r.FormValue("to"))})
}

func (s *Site) login(w http.ResponseWriter, r *http.Request) error {
	form, err := api.Form(w, r, 64<<10)
	if err != nil {
		return err
	}
	to := inside(form("to"))
	if !s.o.Guard.Login(w, r, form("token")) {
		return s.render(w, http.StatusForbidden, "login", loginView{frame: frame{Title: "Log in"}, To: to, Wrong: true})
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

func (s *Site) logout(w http.ResponseWriter, r *http.Request) error {
	s.o.Guard.Logout(w, r)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

// inside returns a path of this server, "/" for other addresses such as "//elsewhere".
func inside(to string) string {
	if !strings.HasPrefix(to, "/") || len(to) > 1 && (to[1] == '/' || to[1] == '\\') || strings.ContainsAny(to, "\r\n\t\\") {
		return "/"
	}
	return to
}
