package windlass

import "strings"

// What takes the place of the tools of a host.
const (
	declare    = "tools: {%s: {exec: [./%s]}} declares a program, {mcp: {command: […]}} an MCP server's"
	place      = "; a file %s.yaml or %s.tool.yaml in tackle/ beside it, or in --tackle DIR, is found too"
	byDrawing  = "what draws charts"
	byBrowser  = "what drives a browser"
	bySpeech   = "what speaks and listens"
	bySearch   = "what searches by meaning"
	byTables   = "what searches tables by meaning (sql_query finds them by name, in information_schema.columns or sqlite_schema)"
	byPictures = "what makes and reads pictures"
)

// hosts are the tools that Windlass and LARS bring along and we do not, by what
// they do. A name that ends in _ stands for all that begin so.
var hosts = map[string]string{
	"create_chart": byDrawing, "create_vega_lite": byDrawing, "create_plotly": byDrawing,
	"rabbitize_": byBrowser, "take_screenshot": byBrowser, "control_browser": byBrowser, "extract_page_content": byBrowser, "get_browser_status": byBrowser,
	"say": bySpeech, "transcribe_": bySpeech, "listen": bySpeech, "process_voice_recording": bySpeech,
	"sql_search": byTables, "sql_rag_search": byTables, "rag_": bySearch, "elastic_": bySearch, "vector_": bySearch, "embed_": bySearch,
	"list_images": byPictures, "read_image": byPictures, "read_images": byPictures, "save_image": byPictures, "generate_image": byPictures, "outpaint_": byPictures,
	"brave_web_search": "what searches the web", "web_search": "what searches the web",
	"spawn_cascade": "what runs a cascade (its file is a tool: tackle: [other.yaml], or other.yaml in tackle/)", "map_cascade": "what runs a cascade for every item (a phase with each and a tool does)",
	"await_signal": "what waits for an event", "fire_signal": "what tells of an event", "list_signals": "what tells of events",
	"python_data": "what runs code", "javascript_data": "what runs code", "js_data": "what runs code", "clojure_data": "what runs code", "bash_data": "what runs code",
	"rust_data": "what runs code", "lars_data": "what runs a model over rows", "windlass_data": "what runs a model over rows",
}

// nearly are the tools of theirs that have one here which does the same.
var nearly = map[string]string{
	"ask_human_custom": "ask_human", "request_decision": "ask_human",
	"linux_shell": "run_command", "shell": "run_command", "bash": "run_command",
	"run_sql": "sql_query", "smart_sql_run": "sql_query", "list_sql_connections": "sql_query", "sql_data": "sql_query", "sql_execute": "sql_query",
	"research_query": "sql_query", "research_execute": "sql_query",
	"fetch_url": "http_get", "curl_text": "http_get",
}

// unlike says how the tools of ours differ from those that they are read for.
var unlike = map[string]string{
	"run_command": ", with one program and its arguments, and without a shell or a container",
	"ask_human":   ", with a question and its options, and without a screen",
	"http_get":    ", with a text for an answer",
}

// Tool tells what takes the place of a tool that nobody here knows, and whether it
// is one that Windlass or LARS brings along. Here is the tool of ours that does
// what theirs did; it is empty where none does, and then Instead says how one is
// declared.
func Tool(name string) (w Word, theirs bool) {
	w = Word{Fate: Replaced, Here: nearly[name]}
	if w.Here != "" {
		w.Instead, w.Unlike = "what it did "+w.Here+" does here; capstan convert FILE writes it so", unlike[w.Here]
		return w, true
	}
	does := Host(name)
	if does != "" {
		w.Instead = does + " is of your choosing: " + strings.ReplaceAll(declare, "%s", Stem(name))
		return w, true
	}
	w.Instead = strings.ReplaceAll(declare+place, "%s", Stem(name))
	return w, false
}

// Stem is a name for a tool that is called by a path or a module:
// python:house.tools.check_stock is check_stock.
func Stem(name string) string {
	stem := strings.TrimRight(name, "./:")
	for _, ext := range []string{".sql", ".py", ".sh", ".yaml", ".yml", ".json"} {
		stem = strings.TrimSuffix(stem, ext)
	}
	stem = stem[strings.LastIndexAny(stem, ".:/")+1:]
	stem = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, stem)
	return stem[:min(len(stem), 64)]
}

// Host tells what a tool that Windlass or LARS brings along does; "" of any other.
func Host(name string) string {
	if does := hosts[name]; does != "" {
		return does
	}
	for prefix, does := range hosts {
		if strings.HasSuffix(prefix, "_") && strings.HasPrefix(name, prefix) {
			return does
		}
	}
	return ""
}

// Judge is what a validator of Windlass asks of a model where it stands without
// parameters: its meaning there, for a judge here; "" of any other.
func Judge(name string) string { return judges[name] }

var judges = map[string]string{
	"length_check":             "The text has at most 10000 characters.",
	"keyword_validator":        "The text has the word 'important' in it, in capitals or not.",
	"satisfied":                "The text shows that its author, or the person it answers, is satisfied with what was made; best where it says so. Small faults do not count against it.",
	"code_execution_validator": "The text shows what a program printed when it ran, and no error of it: no Traceback, no exit code other than 0. A program that was not run does not count.",
	"web_goal_achieved":        "The text shows with evidence, such as what the page says, that the goal on the web page was reached.",
}
