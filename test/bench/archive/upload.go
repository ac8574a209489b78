/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// The small uploader of archive_command: transfer has no command for one object.

// region is that of the S3 server.
const region = "us-east-1"

// putObject stores a file: put ENDPOINT AUTHORITY FILE NAME.
func putObject(words []string) error {
	if len(words) != 4 {
		return errors.New("put needs ENDPOINT AUTHORITY FILE NAME")
	}
	content, err := os.ReadFile(words[2])
	if err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	_, err = request(http.MethodPut, words[:2], words[3], content)
	return err
}

// getObject writes an object to the standard output: get ENDPOINT AUTHORITY NAME.
func getObject(words []string) error {
	if len(words) != 3 {
		return errors.New("get needs ENDPOINT AUTHORITY NAME")
	}
	content, err := request(http.MethodGet, words[:2], words[2], nil)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(content)
	return err
}

// request sends a signed request for an object to the ENDPOINT with the AUTHORITY, and returns the answer.
func request(method string, to []string, name string, content []byte) ([]byte, error) {
	certificate, err := os.ReadFile(to[1])
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(certificate)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}}
	ask, err := http.NewRequest(method, to[0]+"/"+bucket+"/"+name, bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("create a request: %w", err)
	}
	sign(ask, content, time.Now().UTC())
	answer, err := client.Do(ask)
	if err != nil {
		return nil, fmt.Errorf("send a request: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s", method, name, answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// sign signs a request by version 4 of Amazon's signatures. The name of the object has no character that needs an escape.
func sign(ask *http.Request, content []byte, now time.Time) {
	day, moment, sum := now.Format("20060102"), now.Format("20060102T150405Z"), sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	ask.Header.Set("X-Amz-Date", moment)
	ask.Header.Set("X-Amz-Content-Sha256", digest)
	const headers = "host;x-amz-content-sha256;x-amz-date"
	canonical := strings.Join([]string{
		ask.Method, ask.URL.Path, "", "host:" + ask.URL.Host, "x-amz-content-sha256:" + digest, "x-amz-date:" + moment, "", headers, digest,
	}, "\n")
	scope := day + "/" + region + "/s3/aws4_request"
	hashed := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + secretKey)
	for _, word := range []string{day, region, "s3", "aws4_request"} {
		key = authenticate(key, word)
	}
	signature := authenticate(key, "AWS4-HMAC-SHA256\n"+moment+"\n"+scope+"\n"+hex.EncodeToString(hashed[:]))
	ask.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%x", accessKey, scope, headers,
		signature))
}

func authenticate(key []byte, text string) []byte {
	code := hmac.New(sha256.New, key)
	code.Write([]byte(text))
	return code.Sum(nil)
}
