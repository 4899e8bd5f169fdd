package serve

// API lists what the API serves: "GET /v1/runs".
func (s *Server) API() []string {
	var list []string
	for _, r := range s.api() {
		list = append(list, r.method+" "+r.path)
	}
	return list
}

// Watching counts those who watch the store.
func (s *Server) Watching() int {
	_, n := s.feeds.Count()
	return n
}

// Pages lists the pages.
func (s *Server) Pages() []string {
	var list []string
	for _, r := range s.pages() {
		list = append(list, r.method+" "+r.path)
	}
	return list
}

// Feeds counts the runs that are followed.
func (s *Server) Feeds() int {
	n, _ := s.feeds.Count()
	return n
}
