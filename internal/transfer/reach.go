/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// reachTimeout is the time in which a member, or the DNS, must answer.
const reachTimeout = 5 * time.Second

// dialer opens a connection.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// memberAddress is the address of the server that an action works on; "" for none. An offline action has no server.
func memberAddress() string {
	host, port := os.Getenv("DBC_MEMBER"), os.Getenv("DBC_PORT")
	if host == "" || port == "" || os.Getenv("DBC_OFFLINE") == "true" {
		return ""
	}
	return net.JoinHostPort(host, port)
}

// unreachable explains why packets of this pod do not reach a member, which a failed action cannot tell from a server
// that is down. It returns "" if the member, or its node, answers, and if the member has no DNS name: then it does
// not run.
func unreachable(ctx context.Context, address string, dial dialer) string {
	if address == "" {
		return ""
	}
	within, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	connection, err := dial(within, "tcp", address)
	if err == nil {
		_ = connection.Close()
	}
	lookup, isLookup := errors.AsType[*net.DNSError](err)
	if err == nil || ctx.Err() != nil || errors.Is(err, syscall.ECONNREFUSED) || isLookup && lookup.IsNotFound {
		return ""
	}
	what := fmt.Sprintf("The pod of the Job cannot connect to %s", address)
	if isLookup {
		what = fmt.Sprintf("The pod of the Job gets no answer from the DNS for %s", lookup.Name)
	}
	return what + ". Check the NetworkPolicies of the namespace: Jobs of the cluster must be able to connect to the members and to the DNS. "
}
