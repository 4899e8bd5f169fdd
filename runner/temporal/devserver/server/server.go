// Package server makes a Temporal server in this process, tuned for one machine.
package server

import (
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/temporaltest"
)

// New starts a server that keeps nothing, with a namespace of its own. An effect
// takes a few milliseconds on it, where the defaults of a cluster take a hundred:
// tasks are fetched as they come, and a worker that is there gets them at once.
func New(options ...temporaltest.TestServerOption) *temporaltest.TestServer {
	fast := dynamicconfig.StaticClient{
		dynamicconfig.MakeKey("history.transferProcessorMaxPollRPS"):  10000,
		dynamicconfig.MakeKey("history.timerProcessorMaxPollRPS"):     10000,
		dynamicconfig.MakeKey("system.enableActivityEagerExecution"):  true,
		dynamicconfig.MakeKey("matching.numTaskqueueReadPartitions"):  1,
		dynamicconfig.MakeKey("matching.numTaskqueueWritePartitions"): 1,
	}
	return temporaltest.NewServer(append([]temporaltest.TestServerOption{
		temporaltest.WithBaseServerOptions(temporal.WithDynamicConfigClient(fast)),
	}, options...)...)
}
