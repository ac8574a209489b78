/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"path/filepath"
	"strings"
	"time"
)

// tool is the program of the operator.
func (*engine) tool() string { return "transfer" }

// steps are the two that the Job of a restore has. The second one also makes the data that of the cluster.
func (e *engine) steps(h *history, into string) []step {
	environment := e.environment(into, h.engines.port)
	return []step{
		{environment: append(environment, "DBC_RECOVER=true"), words: e.restoring(h.engines, into)},
		{environment: environment, words: e.recovering(location(e.place(h.engines)), h.start, h.until.UTC().Format(time.RFC3339Nano))},
	}
}

func (*backrest) tool() string { return "pgbackrest" }

// steps are a restore, and a server, which ends nothing but the recovery.
func (r *backrest) steps(h *history, into string) []step {
	data, until := filepath.Join(into, "pgdata"), h.until.UTC().Format("2006-01-02 15:04:05.999999+00")
	words := append(r.words(h.backrest), "--pg1-path="+data)
	server := []string{"postgres", "-D", data}
	for _, setting := range []string{
		"listen_addresses=", "unix_socket_directories=" + r.folder, "port=" + h.backrest.port, "hot_standby=off", "archive_mode=off",
		"shared_buffers=128MB", "log_min_messages=warning", "recovery_target_action=promote", "recovery_target_timeline=current",
		"recovery_target_time=" + until,
		"restore_command=" + strings.Join(append(words, `archive-get %f "%p"`), " "),
	} {
		server = append(server, "-c", setting)
	}
	return []step{{words: append(words, "--type=time", "--target="+until, "restore")}, {words: server, serves: true}}
}
