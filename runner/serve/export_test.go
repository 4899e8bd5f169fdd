package serve

import (
	"maps"
	"slices"
)

// API lists what the API serves: "GET /v1/runs".
func (s *Server) API() []string { return slices.Sorted(maps.Keys(s.api())) }

// Watching counts those who watch the store.
func (s *Server) Watching() int {
	_, n := s.feeds.Count()
	return n
}

// Feeds counts the runs that are followed.
func (s *Server) Feeds() int {
	n, _ := s.feeds.Count()
	return n
}
