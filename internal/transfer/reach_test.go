/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestAFailedActionNamesANetworkThatDropsItsPackets(t *testing.T) {
	const address = "orders-0.orders-headless:5432"
	dialing := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for name, one := range map[string]struct {
		err  error
		want string
	}{
		"the member answers":            {nil, ""},
		"the server is down":            {dialing(os.NewSyscallError("connect", syscall.ECONNREFUSED)), ""},
		"the member does not run":       {dialing(&net.DNSError{Name: "orders-0.orders-headless", IsNotFound: true}), ""},
		"packets are dropped":           {dialing(os.ErrDeadlineExceeded), "The pod of the Job cannot connect to orders-0.orders-headless:5432. Check the NetworkPolicies"},
		"packets are rejected":          {dialing(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "cannot connect to orders-0.orders-headless:5432"},
		"packets to DNS are dropped":    {dialing(&net.DNSError{Name: "orders-0.orders-headless", IsTimeout: true}), "gets no answer from the DNS for orders-0.orders-headless. Check"},
		"the DNS reports its own fault": {dialing(&net.DNSError{Name: "orders-0.orders-headless", IsTemporary: true}), "gets no answer from the DNS"},
	} {
		got := unreachable(t.Context(), address, func(_ context.Context, _, to string) (net.Conn, error) {
			if to != address {
				t.Errorf("%s: connects to %s", name, to)
			}
			ours, _ := net.Pipe()
			return ours, one.err
		})
		if (one.want == "") != (got == "") || !strings.Contains(got, one.want) {
			t.Errorf("%s: got %q, want %q", name, got, one.want)
		}
	}
}

func TestAStoppedActionConnectsToNothing(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := unreachable(ended, "127.0.0.1:1", new(net.Dialer).DialContext); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestOnlyAnActionOnARunningMemberHasAMember(t *testing.T) {
	for name, one := range map[string]struct{ host, port, offline, want string }{
		"online":        {"orders-0.orders-headless", "5432", "", "orders-0.orders-headless:5432"},
		"offline":       {"orders-0.orders-headless", "5432", "true", ""},
		"no member":     {"", "5432", "", ""},
		"an older call": {"orders-0.orders-headless", "", "", ""},
	} {
		t.Setenv("DBC_MEMBER", one.host)
		t.Setenv("DBC_PORT", one.port)
		t.Setenv("DBC_OFFLINE", one.offline)
		if got := memberAddress(); got != one.want {
			t.Errorf("%s: got %q, want %q", name, got, one.want)
		}
	}
}
