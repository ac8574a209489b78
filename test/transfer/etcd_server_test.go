//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/test/conformance/contract"
)

// etcd is a member of the engine etcd-v1 with its volume, on an address of its own, because the scripts have fixed ports.
type etcd struct {
	*world
	folder, address string
	member          *exec.Cmd
	token           string
}

func newEtcd(w *world) *etcd {
	w.t.Helper()
	e := &etcd{world: w, folder: w.t.TempDir(), address: fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 2+rand.IntN(250))}
	for name, variable := range map[string]string{"etcd": "DBC_ETCD", "etcdctl": "DBC_ETCDCTL", "etcdutl": "DBC_ETCDUTL"} {
		path := os.Getenv(variable)
		if path == "" {
			w.t.Skip(variable + " is not set: run `make test-s3`, which builds the programs of etcd")
		}
		bin := filepath.Join(e.folder, "bin")
		if err := errors.Join(os.MkdirAll(bin, 0o755), os.Symlink(path, filepath.Join(bin, name))); err != nil {
			w.t.Fatal(err)
		}
	}
	scripts := filepath.Join(e.folder, "scripts")
	for _, words := range [][]string{
		{"cp", "-r", "../../config/engines/etcd-v1/scripts", scripts},
		{"find", scripts, "-type", "f", "-exec", "sed", "-i", "s|/dbc/scripts|" + scripts + "|; s|127[.]0[.]0[.]1|" + e.address + "|", "{}", "+"},
		{"mkdir", filepath.Join(e.folder, "data"), filepath.Join(e.folder, "secrets")},
		{"sh", "-c", `printf secret > "$0/secrets/password"`, e.folder},
	} {
		if said, err := exec.CommandContext(w.t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil { //nolint:gosec // these programs
			w.t.Fatalf("%v: %v\n%s", words, err, said)
		}
	}
	return e
}

func (e *etcd) script(name string) string { return filepath.Join(e.folder, "scripts", name) }

// environment is that of a container of the engine.
func (e *etcd) environment() []string {
	declared, err := contract.ReadEngine("../../config/engines/etcd-v1.yaml")
	if err != nil {
		e.t.Fatal(err)
	}
	all := os.Environ()
	for _, variable := range declared.Spec.Container.Env {
		all = append(all, variable.Name+"="+strings.ReplaceAll(variable.Value, "127.0.0.1", e.address))
	}
	return append(all, "PATH="+filepath.Join(e.folder, "bin")+":"+os.Getenv("PATH"), "DBC_DATA_DIR="+filepath.Join(e.folder, "data"), "DBC_SECRETS_DIR="+filepath.Join(e.folder, "secrets"), "DBC_PORT=2379",
		"DBC_CLUSTER=orders", "DBC_ORDINAL=0", "DBC_MEMBERS="+e.address, "DBC_MEMBER="+e.address, "DBC_PARAM_SNAPSHOT_COUNT=10000",
		"DBC_PARAM_MAX_REQUEST_BYTES=8388608", "DBC_PARAM_HEARTBEAT_INTERVAL=100", "DBC_PARAM_ELECTION_TIMEOUT=1000", "DBC_PARAM_QUOTA_BACKEND_BYTES=",
		"DBC_PARAM_AUTO_COMPACTION_MODE=periodic", "DBC_PARAM_AUTO_COMPACTION_RETENTION=1h")
}

// run runs a program with the environment of the engine.
func (e *etcd) run(arguments ...string) outcome {
	e.t.Helper()
	cmd, finish := e.command(e.t.Context(), arguments...)
	cmd.Env = e.environment()
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	return finish()
}

// initialize creates the data.
func (e *etcd) initialize() {
	e.t.Helper()
	cmd := exec.CommandContext(e.t.Context(), e.script("initialize"))
	cmd.Env = e.environment()
	if said, err := cmd.CombinedOutput(); err != nil {
		e.t.Fatalf("%v\n%s", err, said)
	}
}

// log is a file for the output of a process.
func (e *etcd) log(name string) *os.File {
	e.t.Helper()
	log, err := os.OpenFile(filepath.Join(e.folder, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		e.t.Fatal(err)
	}
	return log
}

// said is the end of such a file.
func (e *etcd) said(name string) string {
	text, _ := os.ReadFile(filepath.Join(e.folder, name)) // it may not exist
	return string(text[max(0, len(text)-4000):])
}

// start runs the member, alone like a copy.
func (e *etcd) start() {
	e.t.Helper()
	log := e.log("member.log")
	defer log.Close()
	e.member = exec.Command(e.script("member")) //nolint:gosec // of the engine
	e.member.Env, e.member.Stdout, e.member.Stderr = append(e.environment(), "DBC_COPY=true"), log, log
	e.member.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := e.member.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(e.kill)
	e.token = ""
}

// kill ends the member as a crash does.
func (e *etcd) kill() {
	_ = e.member.Process.Kill()
	_ = e.member.Wait() // it was killed
}

// entry is a key. Values of all members of one revision are equal.
type entry struct {
	Key            string `json:"key"`
	Value          string `json:"value"`
	CreateRevision string `json:"create_revision"`
	ModRevision    string `json:"mod_revision"`
	Version        string `json:"version"`
	Lease          string `json:"lease"`
}

type answer struct {
	Header struct {
		Revision  string `json:"revision"`
		ClusterID string `json:"cluster_id"`
	} `json:"header"`
	Kvs   []entry `json:"kvs"`
	Token string  `json:"token"`
	ID    string  `json:"ID"`
}

func (a answer) revision() int64 {
	n, _ := strconv.ParseInt(a.Header.Revision, 10, 64)
	return n
}

var client = &http.Client{Timeout: 30 * time.Second}

// post sends a request, as root.
func (e *etcd) post(path, body string) (answer, error) {
	if e.token == "" && path != "auth/authenticate" {
		session, err := e.post("auth/authenticate", `{"name":"root","password":"secret"}`)
		if err != nil {
			return answer{}, err
		}
		e.token = session.Token
	}
	request, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, "http://"+e.address+":2379/v3/"+path, bytes.NewBufferString(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Authorization", e.token)
	response, err := client.Do(request)
	if err != nil {
		e.token = "" // a server that was killed has forgotten it
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		e.token = ""
		return answer{}, errors.Join(fmt.Errorf("%s: %d %s", path, response.StatusCode, content), err)
	}
	got := answer{}
	return got, json.Unmarshal(content, &got)
}

// must sends a request until the server answers.
func (e *etcd) must(path, body string) answer {
	e.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		got, err := e.post(path, body)
		if err == nil {
			return got
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("%v\n%s", err, e.said("member.log"))
		}
	}
}

// all are the keys at a revision; 0 for the last one.
func (e *etcd) all(revision int64) answer {
	e.t.Helper()
	return e.must("kv/range", fmt.Sprintf(`{"key":"AA==","range_end":"AA==","revision":"%d"}`, revision))
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func put(key, value, lease string) string {
	return fmt.Sprintf(`{"request_put":{"key":%q,"value":%q,"lease":%q}}`, encoded(key), encoded(value), cmp.Or(lease, "0"))
}

// remove deletes the keys from one to another.
func remove(from, to string) string {
	return fmt.Sprintf(`{"request_delete_range":{"key":%q,"range_end":%q}}`, encoded(from), encoded(to))
}

func transaction(operations ...string) string {
	return `{"success":[` + strings.Join(operations, ",") + `]}`
}

// archive runs the archive of the member, again if it ends.
func (e *etcd) archive() *exec.Cmd {
	e.t.Helper()
	call := protocol.Archive{To: "file:///" + protocol.ArchiveFolder("uid-1"), ID: "uid-1", MaxLag: 200 * time.Millisecond, Stalled: time.Second}
	call.Root, call.State = e.data, filepath.Join(e.t.TempDir(), "state")
	cmd, _ := e.command(e.t.Context(), append(protocol.Args(&call), "--", e.script("archive"))...)
	log := e.log("archive.log")
	defer log.Close()
	cmd.Env, cmd.Stderr = e.environment(), log
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	return cmd
}

// save backs the member up.
func (e *etcd) save(name string) {
	e.t.Helper()
	call := protocol.Backup{To: "file:///" + name, ID: name, Complete: true, About: protocol.About{protocol.AboutClusterUID: "uid-1"}, Check: []string{e.script("check")}}
	call.Root, call.Command = e.data, []string{e.script("backup")}
	e.world.must(e.run(protocol.Args(&call)...))
}

// recovered is a server with the data of a backup and of the archive until a time; zero for the end.
func (e *etcd) recovered(name string, until time.Time) (*etcd, outcome) {
	e.t.Helper()
	to := newEtcd(e.world)
	call := protocol.Restore{From: "file:///" + name, ID: "new-1", Into: filepath.Join(to.folder, "data"), Recover: []string{to.script("recover")}}
	call.Root, call.Command = e.data, []string{to.script("restore")}
	if !until.IsZero() {
		call.Until = until.UTC().Format(time.RFC3339Nano)
	}
	return to, to.run(protocol.Args(&call)...)
}

// compare fails unless the server has exactly what the other one had at the same revision, which it returns.
func (e *etcd) compare(with *etcd) int64 {
	e.t.Helper()
	got := e.all(0)
	want := with.all(got.revision())
	if !slices.Equal(got.Kvs, want.Kvs) {
		e.t.Errorf("at revision %d there are %d keys, want %d: %.300v\nwant %.300v", got.revision(), len(got.Kvs), len(want.Kvs), got.Kvs, want.Kvs)
	}
	return got.revision()
}
