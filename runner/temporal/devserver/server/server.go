// Package server runs a Temporal server in the current process, tuned for one
// machine.
package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

// A Server is a cluster of four services with one SQLite file.
type Server struct {
	// Address is host:port. Only this machine can reach it.
	Address string
	own     temporal.Server
}

// Namespace is the only namespace. It defines the search attributes of
// capstan-temporal.
const Namespace = "default"

// attributes are the search attributes of runs: see docs/explanation/scale.md.
var attributes = map[string]enums.IndexedValueType{
	"CapstanCascade": enums.INDEXED_VALUE_TYPE_KEYWORD,
	"CapstanStatus":  enums.INDEXED_VALUE_TYPE_KEYWORD,
	"CapstanPhase":   enums.INDEXED_VALUE_TYPE_KEYWORD,
}

// Start starts a server at host:port; port 0 means any free port. The server
// stores its data in the file. After a restart, it continues with this data. An
// effect takes a few milliseconds and not a hundred, as with the defaults of a
// cluster: tasks are fetched immediately, and waiting workers get them at once.
func Start(address, file string) (*Server, error) {
	host, port, err := listen(address)
	if err != nil {
		return nil, err
	}
	c := configuration(host, port, file)
	store := c.Persistence.DataStores[c.Persistence.DefaultStore].SQL
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if err := sqlite.SetupSchema(store); err != nil {
			return nil, fmt.Errorf("file %s: %w", file, err)
		}
	}
	namespace, err := sqlite.NewNamespaceConfig(c.ClusterMetadata.CurrentClusterName, Namespace, false, attributes)
	if err == nil {
		err = sqlite.CreateNamespaces(store, namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("namespace %s: %w", Namespace, err)
	}
	own, err := temporal.NewServer(
		temporal.WithConfig(c), temporal.ForServices(temporal.DefaultServices), temporal.WithLogger(log.NewNoopLogger()),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithDynamicConfigClient(fast),
	)
	if err == nil {
		err = own.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return &Server{net.JoinHostPort(host, strconv.Itoa(port)), own}, nil
}

// Stop ends the server. The data stays in its file.
func (s *Server) Stop() error { return s.own.Stop() }

// fast has the settings for development.
var fast = dynamicconfig.StaticClient{
	dynamicconfig.MakeKey("history.transferProcessorMaxPollRPS"):            10000,
	dynamicconfig.MakeKey("history.timerProcessorMaxPollRPS"):               10000,
	dynamicconfig.MakeKey("system.enableActivityEagerExecution"):            true,
	dynamicconfig.MakeKey("system.forceSearchAttributesCacheRefreshOnRead"): true,
	dynamicconfig.MakeKey("matching.numTaskqueueReadPartitions"):            1,
	dynamicconfig.MakeKey("matching.numTaskqueueWritePartitions"):           1,
	// Experiments may begin thousands of runs at once.
	dynamicconfig.MakeKey("frontend.namespaceRPS"): 100000,
	dynamicconfig.MakeKey("frontend.rps"):          100000,
}

func listen(address string) (host string, port int, err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", 0, err
	}
	defer l.Close()
	at := l.Addr().(*net.TCPAddr)
	return at.IP.String(), at.Port, nil
}
