//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func TestOnlyConfiguredCredentialsAreUsed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	node := answering(t, func(out http.ResponseWriter, in *http.Request) { // the node's identity
		asked.Add(1)
		switch in.URL.Path {
		case "/latest/api/token":
			out.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "100")
			fmt.Fprint(out, "token")
		case "/latest/meta-data/iam/security-credentials/":
			fmt.Fprint(out, "node")
		default:
			fmt.Fprintf(out, `{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":%q,"SecretAccessKey":%q,"Token":"","Expiration":"2099-01-01T00:00:00Z"}`, accessKey, secretKey)
		}
	})
	shared := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(shared, fmt.Appendf(nil, "[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n", accessKey, secretKey), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, environment := range map[string][]string{
		"the node's identity":      {"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + node},
		"keys in the environment":  {"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey},
		"a file of credentials":    {"AWS_SHARED_CREDENTIALS_FILE=" + shared},
		"nothing at all":           {},
		"a container's, unnamed":   {"AWS_CONTAINER_CREDENTIALS_FULL_URI=" + node + "/credentials"},
		"an empty workload, AWS's": {"AWS_WEB_IDENTITY_TOKEN_FILE=", "AWS_ROLE_ARN="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.keys, w.environment = "", environment
			w.fails(w.backup("echo rows"), protocol.ExitPrecondition, protocol.CredentialsRefused, "credentialsSecretName", "credentialSource: WorkloadIdentity")
			if name != "a container's, unnamed" {
				w.fails(w.backup("echo rows", "--workload-identity"), protocol.ExitPrecondition, protocol.CredentialsRefused, "credentialsSecretName")
			}
			w.fails(w.remove(), protocol.ExitPrecondition, protocol.CredentialsRefused)
			w.nothing()
			if asked.Load() != 0 {
				t.Errorf("the node was asked %d times", asked.Load())
			}
		})
	}
}

func TestTheWorkloadIdentityOfThePodIsUsedIfConfigured(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a token of the ServiceAccount"), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := answering(t, func(out http.ResponseWriter, in *http.Request) {
		if in.Header.Get("Authorization") != "a token of the ServiceAccount" {
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(out, `{"AccessKeyId":%q,"SecretAccessKey":%q,"Token":"","Expiration":"2099-01-01T00:00:00Z"}`, accessKey, secretKey)
	})
	tokens := answering(t, func(out http.ResponseWriter, in *http.Request) {
		if in.FormValue("WebIdentityToken") != "a token of the ServiceAccount" || in.FormValue("RoleArn") != "arn:aws:iam::1:role/backups" {
			out.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(out, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>%s</AccessKeyId>`+
			`<SecretAccessKey>%s</SecretAccessKey><SessionToken></SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>`+
			`</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, accessKey, secretKey)
	})
	for name, environment := range map[string][]string{
		"container credentials": {"AWS_CONTAINER_CREDENTIALS_FULL_URI=" + agent + "/v1/credentials", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=" + token},
		"web identity":          {"AWS_WEB_IDENTITY_TOKEN_FILE=" + token, "AWS_ROLE_ARN=arn:aws:iam::1:role/backups", "AWS_ENDPOINT_URL_STS=" + tokens},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.keys, w.environment = "", environment
			w.must(w.backup("echo rows", "--workload-identity"))
			w.must(w.restore("cat >/dev/null", "--workload-identity"))
		})
	}
}
