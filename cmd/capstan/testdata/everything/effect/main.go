// Effect is the program behind the exec tool and validator of everything.yaml:
// the test answers for it. It speaks HTTP by hand, as it starts hundreds of times and
// Go's own takes longer to start and to link than all that is said.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

func main() {
	asked, err := io.ReadAll(os.Stdin)
	if err != nil || !json.Valid(asked) {
		os.Exit(3) // whoever asked was killed before it had done so
	}
	host, path, _ := strings.Cut(strings.TrimPrefix(os.Getenv("CAPSTAN_TEST_EFFECT"), "http://"), "/")
	to, err := net.Dial("tcp", host)
	if err != nil {
		os.Exit(3)
	}
	fmt.Fprintf(to, "POST /%s HTTP/1.0\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", path, host, len(asked), asked)
	reply, err := io.ReadAll(to)
	head, answer, whole := bytes.Cut(reply, []byte("\r\n\r\n"))
	if err != nil || !whole || !bytes.Contains(head, []byte(" 200 OK")) {
		os.Exit(3)
	}
	os.Stdout.Write(answer)
}
