package inspectors

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
)

// counted returns a server that counts its requests and connections.
func counted(t *testing.T, handle http.HandlerFunc) (s *httptest.Server, n *atomic.Int32) {
	t.Helper()
	n = &atomic.Int32{}
	s = server(t, func(w http.ResponseWriter, r *http.Request) { n.Add(1); handle(w, r) })
	return s, n
}

func TestNetworkRefuses(t *testing.T) {
	t.Parallel()
	inside, reached := counted(t, func(http.ResponseWriter, *http.Request) {})
	allowed := server(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	host := strings.TrimPrefix(allowed.URL, "http://")
	other := strings.TrimPrefix(inside.URL, "http://")
	port, inPort := portOf(t, allowed), portOf(t, inside)
	both := &request.Services{APIURL: allowed.URL, AppURL: inside.URL}
	const pass, blocked = request.Pass, request.Blocked
	for _, c := range []struct {
		services *request.Services
		hosts    []string
		methods  []string
		hint     string
		status   request.Verdict
		evidence string
	}{
		{both, []string{host}, nil, "url: /x", pass, "status 200"},
		{both, []string{host}, nil, "url: HEAD /x", pass, "status 200"},
		{both, []string{"127.0.0.1"}, nil, "url: /x", pass, "status 200"},
		{both, []string{}, nil, "url: /x", blocked, "not checked: host \"" + host + "\" is not allowed; allowed are none; whoever starts Capstan allows it with --allow-host " + host},
		{both, []string{"example.com"}, nil, "url: /x", blocked, "capstan validate-request: --allow-services"},
		{both, []string{"127.0.0.1:1"}, nil, "url: /x", blocked, "--allow-host " + host},
		{both, []string{host}, nil, "url: POST /x", blocked, "--allow-method POST"},
		{both, []string{host}, nil, "url: DELETE /x status 404", blocked, "--allow-method DELETE"},
		{both, []string{host}, nil, "url: OPTIONS /x", blocked, "--allow-method OPTIONS"},
		{both, []string{host}, []string{"POST"}, "url: POST /x", pass, "status 200"},
		{both, []string{host}, nil, "url: POST /x status 200", blocked, "--allow-method POST"},
		{both, []string{host}, nil, "url: " + inside.URL + "/x status 404", blocked, "--allow-host " + other},
		{both, []string{host}, nil, "url: /x?to=" + url.QueryEscape(inside.URL), blocked, "--allow-host " + other},
		{&request.Services{APIURL: allowed.URL}, []string{host}, nil, "port: " + strconv.Itoa(port), pass, "listens"},
		{&request.Services{APIURL: allowed.URL}, []string{host}, nil, "port: " + strconv.Itoa(inPort), blocked, "--allow-host " + other},
		{nil, []string{}, nil, "port: " + strconv.Itoa(inPort), blocked, "--allow-host " + other},
		{&request.Services{RequiredPorts: []int{inPort}}, []string{}, nil, "file: .", blocked, "--allow-host " + other},
		{&request.Services{APIURL: "http://localhost:" + strconv.Itoa(inPort)}, []string{"127.0.0.2"}, nil, "url: /", blocked, "--allow-host localhost"},
		{&request.Services{AppURL: inside.URL}, []string{host}, nil, "page: /x", blocked, "--allow-host " + other},
	} {
		i := &Inspector{Network: Network{Hosts: c.hosts, Methods: c.methods}}
		r := request.Request{Services: c.services, WorktreePath: t.TempDir()}
		if strings.HasPrefix(c.hint, "page") {
			r.ValidationType = request.Browser
		}
		one(t, i, r, c.hint, c.status, c.evidence)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests reached a server that is not allowed", n)
	}
}

// TestNetworkPages checks that a page cannot send a request to other hosts or
// with other methods. Each rejected request makes the criterion BLOCKED.
func TestNetworkPages(t *testing.T) {
	needChromium(t)
	inside, reached := counted(t, func(http.ResponseWriter, *http.Request) {})
	secure := httptest.NewTLSServer(inside.Config.Handler)
	t.Cleanup(secure.Close)
	stun, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stun.Close()
	other, secret := strings.TrimPrefix(inside.URL, "http://"), strings.TrimPrefix(secure.URL, "https://")
	pages := map[string]string{
		"/":       `<form method="post" action="/sent"><button>Send</button></form>`,
		"/image":  `<img src="http://` + other + `/x.png">`,
		"/frame":  `<iframe src="http://` + other + `/x"></iframe>`,
		"/nested": `<iframe src="/frame"></iframe>`,
		"/secure": `<img src="https://` + secret + `/x.png">`,
		"/socket": `<script>new WebSocket("ws://` + other + `/s")</script>`,
		"/worker": `<script>new Worker(URL.createObjectURL(new Blob(["fetch('http://` + other + `/w')"])))</script>`,
		"/beacon": `<script>navigator.sendBeacon("http://` + other + `/b", "x")</script>`,
		"/window": `<iframe srcdoc="<script>open('http://` + other + `/w')</script>"></iframe>`,
		"/fetch":  `<script>fetch("/x", {method: "POST"})</script>`,
		"/rtc": `<script>const c = new RTCPeerConnection({iceServers: [{urls: "stun:` + stun.LocalAddr().String() + `"}]});
			c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o))</script>`,
	}
	var sent atomic.Int32
	allowed := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			sent.Add(1)
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<h1>Hello</h1>", pages[r.URL.Path])
	})
	none := ` element "#none"`
	cases := []hinted{
		{`page: / text "Hello"`, request.Pass, ""},
		{"page: /image" + none, request.Blocked, "--allow-host " + other},
		{"page: /frame" + none, request.Blocked, "GET http://" + other + "/x: not checked"},
		{"page: /nested" + none, request.Blocked, "--allow-host " + other},
		{"page: /secure" + none, request.Blocked, "GET https://" + secret + "/x.png: not checked"},
		{"page: /socket" + none, request.Blocked, "GET http://" + other + "/s: not checked"},
		{"page: /worker" + none, request.Blocked, "GET http://" + other + "/w: not checked"},
		{"page: /beacon" + none, request.Blocked, "POST http://" + other + "/b: not checked"},
		{"page: /window" + none, request.Fail, ""},
		{"page: /rtc" + none, request.Fail, ""},
	}
	r := request.Request{Services: &request.Services{AppURL: allowed.URL}, ValidationType: request.Browser}
	patiently(t, Network{Hosts: []string{strings.TrimPrefix(allowed.URL, "http://")}}, r, append(cases,
		hinted{"page: /fetch" + none, request.Blocked, "--allow-method POST"},
		hinted{`page: / click "button" text "Sent"`, request.Blocked, "--allow-method POST"}))
	if reached.Load() != 0 || sent.Load() != 0 {
		t.Errorf("%d requests reached a host that is not allowed, %d had another method than GET", reached.Load(), sent.Load())
	}
	_ = stun.SetReadDeadline(time.Now().Add(time.Millisecond))
	if n, _, err := stun.ReadFrom(make([]byte, 1500)); err == nil {
		t.Errorf("a page sent a datagram of %d bytes", n)
	}
}
