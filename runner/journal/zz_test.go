package journal
import ("testing";"path/filepath";"github.com/seed61713e19/capstan/runner";"github.com/seed61713e19/capstan/runner/model")
func TestZZ(t *testing.T){ j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{}); r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
req := model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "Go."}}}
d, err := r.requestPrint("p", &req); t.Logf("%x %v", d, err)}
