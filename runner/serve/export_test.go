package serve

import (
	"maps"
	"slices"
)

// API lists the routes of the API.
func (s *Server) API() []string { return slices.Sorted(maps.Keys(s.api())) }

// Subscribers returns the number of streams and requests that wait for changes.
func (s *Server) Subscribers() int { return s.live.Subscribers() }
