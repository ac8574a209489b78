//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"maps"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// with returns a section with some fields changed; nil removes a field.
func with(section fields, changed fields) fields {
	all := maps.Clone(section)
	for name, value := range changed {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

func bucket(changed fields) fields {
	return with(fields{"url": "s3://backups/prod", "endpoint": "https://s3.example.org", "region": "eu-1", "credentialsSecretName": "bucket"}, changed)
}

func folder(changed fields) fields {
	return with(fields{"url": "file:///backups/prod", "claimName": "backups"}, changed)
}

func backupSection(changed fields) fields {
	return fields{"backup": with(fields{"destination": bucket(nil)}, changed)}
}

func destination(section fields) fields { return backupSection(fields{"destination": section}) }

func schedule(changed fields) fields {
	return backupSection(fields{"schedules": list(with(fields{"name": "nightly", "schedule": "30 3 * * *"}, changed))})
}

func compression(field string, value int64) fields {
	return backupSection(fields{"compression": fields{field: value}})
}

func verify(changed fields) fields {
	return backupSection(fields{"verification": with(fields{"schedule": "0 5 * * 0"}, changed)})
}

func hooks(all ...any) fields { return fields{"deletion": fields{"hooks": all}} }

func hookOf(name, kind string, command ...any) fields {
	hook := fields{"name": name, "type": kind}
	if command != nil {
		hook["command"] = command
	}
	return hook
}

func fromBackup(section fields) fields { return fields{"bootstrap": fields{"fromBackup": section}} }

// refusals are the expected refusals of the API server for a spec.
type refusals map[string]struct {
	spec  fields
	wants string
}

const (
	badURL = "url must be s3://bucket, s3://bucket/prefix or file:///directory. A segment has letters, digits, '-', '_', '.' and '=', " +
		"but is not '.' or '..'"
	badEndpoint = "endpoint must be the http:// or https:// URL of an S3 service, without a path"
	onlyS3      = "destination: endpoint, region and credentialsSecretName are only for url s3://…"
	needsOne    = "destination: url s3://… needs either credentialsSecretName or credentialSource: WorkloadIdentity"
	onlyS3Too   = "destination: credentialSource and serverSideEncryption are only for url s3://…"
	badCron     = ` must have five fields: minute, hour, day, month, weekday, for example "`
	badAge      = " must be a duration of at least a minute in hours, minutes and seconds, for example "
)

func TestTheAPIServerRefusesInvalidBackupsWithAMessage(t *testing.T) {
	parallel(t)
	eachIsRefused(t, "databaseclusters", refusals{
		"no destination":                          {backupSection(fields{"destination": nil}), "spec.backup.destination: Required value"},
		"a destination without a url":             {destination(bucket(fields{"url": nil})), "spec.backup.destination.url: Required value"},
		"another scheme":                          {destination(bucket(fields{"url": "gs://backups"})), badURL},
		"a bucket with a capital":                 {destination(bucket(fields{"url": "s3://Backups"})), badURL},
		"a bucket of two letters":                 {destination(bucket(fields{"url": "s3://ab"})), badURL},
		"a prefix with ..":                        {destination(bucket(fields{"url": "s3://backups/../other"})), badURL},
		"a prefix with .":                         {destination(bucket(fields{"url": "s3://backups/./other"})), badURL},
		"a prefix that ends with ..":              {destination(bucket(fields{"url": "s3://backups/.."})), badURL},
		"a prefix with a question":                {destination(bucket(fields{"url": "s3://backups/a?b"})), badURL},
		"a prefix with two slashes":               {destination(bucket(fields{"url": "s3://backups//a"})), badURL},
		"a directory with ..":                     {destination(folder(fields{"url": "file:///../etc"})), badURL},
		"a directory that ends with ..":           {destination(folder(fields{"url": "file:///a/.."})), badURL},
		"a directory of another host":             {destination(folder(fields{"url": "file://host/a"})), badURL},
		"a url over the limit":                    {destination(bucket(fields{"url": "s3://backups/" + strings.Repeat("a", 1024)})), "spec.backup.destination.url: Too long"},
		"a directory without a claim":             {destination(folder(fields{"claimName": nil})), "destination: url file:///… needs claimName"},
		"a bucket with a claim":                   {destination(bucket(fields{"claimName": "x"})), "url s3://… must not have claimName"},
		"a directory at an endpoint":              {destination(folder(fields{"endpoint": "https://s3.example.org"})), onlyS3},
		"a directory in a region":                 {destination(folder(fields{"region": "eu-1"})), onlyS3},
		"a directory with credentials":            {destination(folder(fields{"credentialsSecretName": "x"})), onlyS3},
		"a bucket without credentials":            {destination(fields{"url": "s3://backups"}), needsOne},
		"a bucket with two of them":               {destination(bucket(fields{"credentialSource": "WorkloadIdentity"})), needsOne},
		"credentials of another kind":             {destination(fields{"url": "s3://backups", "credentialSource": "Node"}), `Unsupported value: "Node": supported values: "WorkloadIdentity"`},
		"a directory with workload identity":      {destination(folder(fields{"credentialSource": "WorkloadIdentity"})), onlyS3Too},
		"a directory with server-side encryption": {destination(folder(fields{"serverSideEncryption": fields{"type": "AES256"}})), onlyS3Too},
		"an encryption without a type":            {destination(bucket(fields{"serverSideEncryption": fields{"type": "rot13"}})), `Unsupported value: "rot13"`},
		"a key without a KMS":                     {destination(bucket(fields{"serverSideEncryption": fields{"type": "AES256", "kmsKeyID": "k"}})), "kmsKeyID is only for type aws:kms"},
		"an invalid key":                          {destination(bucket(fields{"encryptionSecretName": "../x"})), "encryptionSecretName must be the name of a Secret of this namespace: lowercase letters, digits, '-' and '.'"},
		"an endpoint with a path":                 {destination(bucket(fields{"endpoint": "https://s3.example.org/path"})), badEndpoint},
		"an endpoint with a password":             {destination(bucket(fields{"endpoint": "https://me:secret@s3.example.org"})), badEndpoint},
		"an endpoint with a space":                {destination(bucket(fields{"endpoint": "https://s3 example.org"})), badEndpoint},
		"an endpoint of another kind":             {destination(bucket(fields{"endpoint": "ftp://s3.example.org"})), badEndpoint},
		"an invalid region":                       {destination(bucket(fields{"region": "EU 1"})), "region must have lowercase letters, digits and '-' only, for example eu-central-1"},
		"an invalid Secret":                       {destination(bucket(fields{"credentialsSecretName": "../x"})), "credentialsSecretName must be the name of a Secret of this namespace: lowercase letters, digits, '-' and '.'"},
		"an invalid claim":                        {destination(folder(fields{"claimName": "A B"})), "claimName must be the name of a PersistentVolumeClaim of this namespace: lowercase letters, digits, '-' and '.'"},

		"an age as a word":            {backupSection(fields{"unhealthyAfter": "soon"}), "spec.backup.unhealthyAfter" + badAge + "26h"},
		"an age in days":              {backupSection(fields{"unhealthyAfter": "2d"}), "spec.backup.unhealthyAfter" + badAge + "26h"},
		"an age that is empty":        {backupSection(fields{"unhealthyAfter": ""}), "spec.backup.unhealthyAfter" + badAge + "26h"},
		"an age that is a number":     {backupSection(fields{"unhealthyAfter": int64(90000)}), "spec.backup.unhealthyAfter in body must be of type string"},
		"an age below a minute":       {backupSection(fields{"unhealthyAfter": "59s"}), "spec.backup.unhealthyAfter" + badAge + "26h"},
		"a negative age":              {backupSection(fields{"unhealthyAfter": "-26h"}), "spec.backup.unhealthyAfter" + badAge + "26h"},
		"an age that overflows in Go": {backupSection(fields{"unhealthyAfter": "9999999h"}), "spec.backup.unhealthyAfter" + badAge + "26h"},
		"a deadline of zero":          {backupSection(fields{"deadlineSeconds": int64(0)}), "spec.backup.deadlineSeconds in body should be greater than or equal to 1"},
		"a deadline over the limit":   {backupSection(fields{"deadlineSeconds": int64(604801)}), "spec.backup.deadlineSeconds in body should be less than or equal to 604800"},
		"a level of zero":             {compression("level", 0), "spec.backup.compression.level in body should be greater than or equal to 1"},
		"a level over the limit":      {compression("level", 10), "spec.backup.compression.level in body should be less than or equal to 9"},
		"zero threads":                {compression("threads", 0), "spec.backup.compression.threads in body should be greater than or equal to 1"},
		"too many threads":            {compression("threads", 5), "spec.backup.compression.threads in body should be less than or equal to 4"},

		"a schedule without a name":      {schedule(fields{"name": nil}), "spec.backup.schedules[0].name: Required value"},
		"a schedule's name of 12":        {schedule(fields{"name": strings.Repeat("a", 12)}), "spec.backup.schedules[0].name: Too long"},
		"a schedule's name with a space": {schedule(fields{"name": "a b"}), "spec.backup.schedules[].name must be a DNS label"},
		"nine schedules": {backupSection(fields{"schedules": many(9, func(i int) any {
			return fields{"name": nameOf(i), "schedule": "@daily"}
		})}), "spec.backup.schedules: Too many: 9: must have at most 8 items"},
		"two schedules of one name": {
			backupSection(fields{"schedules": list(fields{"name": "a", "schedule": "@daily"}, fields{"name": "a", "schedule": "@hourly"})}),
			"spec.backup.schedules[1]: Duplicate value",
		},
		"a cron of four fields":                         {schedule(fields{"schedule": "30 3 * *"}), "spec.backup.schedules[].schedule" + badCron},
		"a cron of six fields":                          {schedule(fields{"schedule": "0 30 3 * * *"}), "spec.backup.schedules[].schedule" + badCron},
		"a cron with a time zone":                       {schedule(fields{"schedule": "TZ=UTC 30 3 * * *"}), "set the time zone in timeZone"},
		"a cron with an interval":                       {schedule(fields{"schedule": "@every 1h"}), "spec.backup.schedules[].schedule" + badCron},
		"an empty cron":                                 {schedule(fields{"schedule": ""}), "spec.backup.schedules[].schedule" + badCron},
		"a time zone with ..":                           {schedule(fields{"timeZone": "../etc/passwd"}), "timeZone must be the name of a time zone, for example Europe/Berlin"},
		"retention of nothing":                          {schedule(fields{"retention": fields{}}), "spec.backup.schedules[].retention must have count, period or both"},
		"retention of no backup":                        {schedule(fields{"retention": fields{"count": int64(0)}}), "spec.backup.schedules[0].retention.count in body should be greater than or equal to 1"},
		"retention of too many":                         {schedule(fields{"retention": fields{"count": int64(1001)}}), "spec.backup.schedules[0].retention.count in body should be less than or equal to 1000"},
		"retention for a word":                          {schedule(fields{"retention": fields{"period": "month"}}), "spec.backup.schedules[].retention.period" + badAge + "720h"},
		"retention for a moment":                        {schedule(fields{"retention": fields{"period": "1s"}}), "spec.backup.schedules[].retention.period" + badAge + "720h"},
		"a verification without a cron":                 {verify(fields{"schedule": nil}), "spec.backup.verification.schedule: Required value"},
		"a verification of three fields":                {verify(fields{"schedule": "0 5 *"}), "spec.backup.verification.schedule" + badCron},
		"a verification in a bad zone":                  {verify(fields{"timeZone": "-x"}), "timeZone must be the name of a time zone, for example Europe/Berlin"},
		"a verification with a deadline of zero":        {verify(fields{"deadlineSeconds": int64(0)}), "spec.backup.verification.deadlineSeconds in body should be greater than or equal to 1"},
		"a verification with a deadline over the limit": {verify(fields{"deadlineSeconds": int64(604801)}), "spec.backup.verification.deadlineSeconds in body should be less than or equal to 604800"},
	})
}

func TestTheAPIServerRefusesInvalidHooksEnginesAndBootstrapsWithAMessage(t *testing.T) {
	parallel(t)
	eachIsRefused(t, "databaseclusters", refusals{
		"a hook of another type":      {hooks(hookOf("a", "Pray")), `spec.deletion.hooks[0].type: Unsupported value: "Pray": supported values: "Backup", "Command", "Shutdown"`},
		"a Command without a command": {hooks(hookOf("a", "Command")), "spec.deletion.hooks[]: command is required for type Command, and not allowed for other types"},
		"a Command of nothing":        {hooks(fields{"name": "a", "type": "Command", "command": []any{}}), "spec.deletion.hooks[0].command in body should have at least 1 items"},
		"a Backup with a command":     {hooks(hookOf("a", "Backup", "x")), "spec.deletion.hooks[]: command is required for type Command, and not allowed for other types"},
		"a Shutdown with a command":   {hooks(hookOf("a", "Shutdown", "x")), "spec.deletion.hooks[]: command is required for type Command, and not allowed for other types"},
		"two Shutdowns":               {hooks(hookOf("a", "Shutdown"), hookOf("b", "Shutdown")), "spec.deletion.hooks: only one hook can have type Shutdown"},
		"a Shutdown before another":   {hooks(hookOf("a", "Shutdown"), hookOf("b", "Backup")), "spec.deletion.hooks: the hook of type Shutdown must be the last, because it stops the members"},
		"a Command of members that stopped": {fields{"deletion": fields{"volumes": "Delete", "hooks": []any{hookOf("a", "Command", "x"), hookOf("b", "Backup"), hookOf("c", "Command", "x")}}},
			"spec.deletion.hooks: with volumes Delete, no hook of type Command can follow a hook of type Backup, because the final backup stops the members"},
		"a hook's name of 13":          {hooks(hookOf(strings.Repeat("a", 13), "Backup")), "spec.deletion.hooks[0].name: Too long"},
		"a hook's name with a dot":     {hooks(hookOf("a.b", "Backup")), "spec.deletion.hooks[].name must be a DNS label"},
		"a Backup to nowhere":          {hooks(hookOf("a", "Backup")), "spec.deletion.hooks: a hook of type Backup needs spec.backup.destination"},
		"nine hooks":                   {hooks(many(9, func(i int) any { return hookOf(nameOf(i), "Backup") })...), "spec.deletion.hooks: Too many: 9: must have at most 8 items"},
		"volumes that are neither":     {fields{"deletion": fields{"volumes": "Sell"}}, `spec.deletion.volumes: Unsupported value: "Sell": supported values: "Retain", "Delete"`},
		"a failure that is neither":    {fields{"deletion": fields{"hookFailurePolicy": "Cry"}}, `spec.deletion.hookFailurePolicy: Unsupported value: "Cry"`},
		"protection that is a word":    {fields{"deletion": fields{"protection": "yes"}}, "spec.deletion.protection in body must be of type boolean"},
		"hooks without time":           {fields{"deletion": fields{"hookDeadlineSeconds": int64(0)}}, "spec.deletion.hookDeadlineSeconds in body should be greater than or equal to 1"},
		"hooks without end":            {fields{"deletion": fields{"hookDeadlineSeconds": int64(604801)}}, "spec.deletion.hookDeadlineSeconds in body should be less than or equal to 604800"},
		"an invalid engine":            {fields{"engine": "a/b"}, "spec.engine must be the name of a DatabaseEngine: lowercase letters, digits, '-' and '.'; kubectl get databaseengines lists them"},
		"an engine's name without end": {fields{"engine": strings.Repeat("a", 64)}, "spec.engine: Too long"},
		"a parameter with a space":     {fields{"parameters": fields{"max connections": "1"}}, "spec.parameters: a name must have at most 63 lowercase letters, digits, '-', '_' or '.', a value at most 1024 characters. kubectl describe databaseengine lists the parameters of an engine"},
		"a parameter's name of 64":     {fields{"parameters": fields{strings.Repeat("a", 64): "1"}}, "spec.parameters: a name must have at most 63"},
		"a parameter's value of 1025":  {fields{"parameters": fields{"a": strings.Repeat("1", 1025)}}, "a value at most 1024 characters"},
		"a short overlap":              {rotation("overlap", "2m59s"), "spec.credentials.rotation.overlap must be a duration of at least three minutes"},
		"an overlap without a unit":    {rotation("overlap", "180"), "spec.credentials.rotation.overlap must be a duration of at least three minutes"},
		"a short period":               {rotation("period", "59m"), "spec.credentials.rotation.period must be a duration of at least an hour"},
		"an overlap as long as the period": {
			fields{"credentials": fields{"rotation": fields{"period": "1h", "overlap": "60m"}}},
			"spec.credentials.rotation.overlap must be less than spec.credentials.rotation.period",
		},
		"an invalid Secret":               {fields{"credentials": fields{"secretName": "A"}}, "spec.credentials.secretName must be the name of a Secret of this namespace: lowercase letters, digits, '-' and '.'"},
		"a restore of nothing":            {fromBackup(fields{}), "spec.bootstrap.fromBackup must have one of name, the name of a DatabaseBackup, location, and newest"},
		"a restore of two":                {fromBackup(fields{"name": "a", "location": bucket(nil)}), "spec.bootstrap.fromBackup must have one of name, the name of a DatabaseBackup, location, and newest"},
		"a restore of a third":            {fromBackup(fields{"name": "a", "newest": fields{"destination": bucket(nil)}}), "spec.bootstrap.fromBackup must have one of name, the name of a DatabaseBackup, location, and newest"},
		"the newest backup of nowhere":    {fromBackup(fields{"newest": fields{}}), "spec.bootstrap.fromBackup.newest.destination: Required value"},
		"the newest backup of a path":     {fromBackup(fields{"newest": fields{"destination": bucket(nil), "clusterName": "a/b"}}), "clusterName must be the name of a DatabaseCluster"},
		"the newest backup of a parent":   {fromBackup(fields{"newest": fields{"destination": bucket(nil), "clusterNamespace": ".."}}), "clusterNamespace must be the name of a namespace"},
		"a backup that may be missing":    {fromBackup(fields{"name": "a", "ifMissing": "Create"}), "spec.bootstrap.fromBackup.ifMissing is only for newest"},
		"another policy":                  {fromBackup(fields{"newest": fields{"destination": bucket(nil)}, "ifMissing": "Ignore"}), `Unsupported value: "Ignore"`},
		"a restore of what cannot be":     {fromBackup(fields{"name": "a/b"}), "name must be the name of a DatabaseBackup: lowercase letters, digits and '-'"},
		"a restore from a wrong location": {fromBackup(fields{"location": fields{"url": "here"}}), badURL},
		"a moment and a point":            {fromBackup(fields{"name": "a", "recoveryTarget": fields{"time": "2026-11-28T14:05:00Z", "name": "b"}}), "recoveryTarget must not have both time and name"},
		"a point of several lines":        {fromBackup(fields{"name": "a", "recoveryTarget": fields{"name": "a\nb"}}), "name must not have control characters"},
		"a point after the newest backup": {
			fromBackup(fields{"newest": fields{"destination": bucket(nil)}, "recoveryTarget": fields{"name": "b"}}),
			"spec.bootstrap.fromBackup.newest has no recoveryTarget.name: the newest backup may be later than that point. Set name or location instead",
		},
		"a restore from a lost directory": {fromBackup(fields{"location": fields{"url": "file:///a"}}), "destination: url file:///… needs claimName"},
	})
}

// eachIsRefused sends objects of one of the kinds.
func eachIsRefused(t *testing.T, plural string, cases refusals) {
	t.Helper()
	ns := namespace(t)
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			mustAnswer(t, admin.Create(t.Context(), plain(t, plural)(ns, c.spec), client.DryRunAll), c.wants)
		})
	}
}

func eachIsAccepted(t *testing.T, plural string, specs map[string]fields) {
	t.Helper()
	ns := namespace(t)
	for what, spec := range specs {
		t.Run(what, func(t *testing.T) {
			mustAnswer(t, admin.Create(t.Context(), plain(t, plural)(ns, spec), client.DryRunAll), "")
		})
	}
}

// mustAnswer checks that the API server refused an object with a message, or accepted it where none is expected.
func mustAnswer(t *testing.T, err error, wants string) {
	t.Helper()
	if wants == "" && err != nil || wants != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), wants)) {
		t.Errorf("got %v, want a refusal with %q", err, wants)
	}
	t.Log(err)
}

// dryChange returns how the API server answers a change. The operator writes the object, too.
func dryChange(t *testing.T, object *unstructured.Unstructured, edit func(*unstructured.Unstructured)) error {
	t.Helper()
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		changed := object.DeepCopy()
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(changed), changed); err != nil {
			return err
		}
		edit(changed)
		return admin.Update(t.Context(), changed, client.DryRunAll)
	})
}

func TestOnlyANewClusterStartsWithABackup(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	change := func(cluster *unstructured.Unstructured, spec fields) error {
		return dryChange(t, cluster, func(changed *unstructured.Unstructured) { maps.Copy(changed.Object["spec"].(fields), spec) })
	}
	plain, restored := manifest(ns, "plain", nil), manifest(ns, "restored", fromBackup(fields{"name": "a"}))
	create(t, plain)
	create(t, restored)
	mustAnswer(t, change(plain, fromBackup(fields{"name": "a"})), "spec.bootstrap.fromBackup cannot be added to a cluster that exists")
	mustAnswer(t, change(plain, fields{"bootstrap": fields{"database": "shop"}}), "spec.bootstrap.database cannot be changed, because the database exists")
	mustAnswer(t, change(plain, fields{"bootstrap": fields{"owner": "shop"}}), "spec.bootstrap.owner cannot be changed, because the owner exists")
	for what, spec := range map[string]fields{"another backup": fromBackup(fields{"name": "b"}), "bootstrap removed": {"bootstrap": nil}} {
		t.Run(what, func(t *testing.T) { mustAnswer(t, change(restored, spec), "") })
	}
}

func TestTheAPIServerAcceptsBackupsAtTheLimits(t *testing.T) {
	parallel(t)
	eachIsAccepted(t, "databaseclusters", map[string]fields{
		"the smallest destination":      destination(fields{"url": "s3://backups", "credentialSource": "WorkloadIdentity"}),
		"encryption by the service":     destination(bucket(fields{"serverSideEncryption": fields{"type": "AES256"}})),
		"encryption by a key of a KMS":  destination(bucket(fields{"serverSideEncryption": fields{"type": "aws:kms", "kmsKeyID": "arn:aws:kms:eu-1:1:key/a-b"}})),
		"encryption for a key of age":   destination(bucket(fields{"encryptionSecretName": "age"})),
		"a directory that is encrypted": destination(folder(fields{"encryptionSecretName": "age"})),
		"a prefix with a slash behind":  destination(bucket(fields{"url": "s3://my.backups-1/a=b/c_d/"})),
		"names that begin with a dot":   destination(bucket(fields{"url": "s3://backups/.a/..b/c.."})),
		"a plain endpoint with a port":  destination(bucket(fields{"endpoint": "http://127.0.0.1:9000/"})),
		"an endpoint by its IPv6":       destination(bucket(fields{"endpoint": "http://[::1]:9000"})),
		"the root of a volume":          destination(folder(fields{"url": "file:///"})),
		"a directory":                   destination(folder(nil)),
		"a minute":                      backupSection(fields{"unhealthyAfter": "60s"}),
		"the longest age":               backupSection(fields{"unhealthyAfter": "999999h999999m999999s"}),
		"an age as Go writes it":        backupSection(fields{"unhealthyAfter": "26h0m0.5s"}),
		"every shorthand of a cron":     schedule(fields{"schedule": "@midnight"}),
		"a cron of lists":               schedule(fields{"schedule": "*/5 0-6,22 1,15 JAN-JUN MON-FRI", "timeZone": "America/Argentina/Buenos_Aires"}),
		"retention by both":             schedule(fields{"retention": fields{"count": int64(1000), "period": "720h"}, "suspend": true, "name": strings.Repeat("a", 11)}),
		"the highest compression":       compression("level", 9),
		"the most threads":              compression("threads", 4),
		"a verification by a command":   verify(fields{"command": list("psql", "-c", "select 1"), "deadlineSeconds": int64(604800)}),
		"hooks of every type":           with(destination(folder(nil)), hooks(hookOf("a", "Command", "x"), hookOf("b", "Backup"), hookOf(strings.Repeat("c", 12), "Shutdown"))),
		"a restore by name":             fromBackup(fields{"name": strings.Repeat("a", 63)}),
		"a restore by location":         fromBackup(fields{"location": folder(nil)}),
		"the newest backup":             fromBackup(fields{"newest": fields{"destination": folder(nil), "clusterNamespace": "a", "clusterName": strings.Repeat("a", 40)}, "ifMissing": "Create"}),
		"an engine with parameters":     {"engine": "postgresql-single-v1", "parameters": fields{"work_mem": "4MB", strings.Repeat("a", 63): ""}, "credentials": fields{"secretName": "a.b"}},
		"all that a deletion can be":    {"deletion": fields{"protection": true, "volumes": "Delete", "hookFailurePolicy": "Continue", "hookDeadlineSeconds": int64(604800)}},
		"eight schedules":               backupSection(fields{"schedules": many(8, func(i int) any { return fields{"name": nameOf(i), "schedule": "@daily"} })}),
		"a schedule in a year far away": schedule(fields{"schedule": "0 0 29 2 *"}),
	})
}

// request is a DatabaseBackup as a user writes it.
func request(ns, name string, spec fields) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: fields{"spec": with(fields{"cluster": "orders"}, spec)}}
	object.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseBackup"))
	object.SetNamespace(ns)
	object.SetName(name)
	return object
}

func TestTheAPIServerRefusesInvalidDatabaseBackupsWithAMessage(t *testing.T) {
	parallel(t)
	eachIsRefused(t, "databasebackups", refusals{
		"no cluster":                {fields{"cluster": nil}, "spec.cluster: Required value"},
		"an empty cluster":          {fields{"cluster": ""}, "spec.cluster in body should be at least 1 chars long"},
		"a cluster elsewhere":       {fields{"cluster": "shop/orders"}, "spec.cluster must be the name of a DatabaseCluster in this namespace"},
		"a cluster's name of 41":    {fields{"cluster": strings.Repeat("a", 41)}, "spec.cluster: Too long"},
		"a bad destination":         {fields{"destination": bucket(fields{"url": "x"})}, badURL},
		"a policy that is neither":  {fields{"deletionPolicy": "Sell"}, `spec.deletionPolicy: Unsupported value: "Sell": supported values: "Retain", "Delete"`},
		"a directory without claim": {fields{"destination": folder(fields{"claimName": nil})}, "destination: url file:///… needs claimName"},
	})
}

// The cluster and the destination of a backup are immutable. The deletion policy of its data is not.
func TestOnlyTheDeletionPolicyOfADatabaseBackupCanBeChanged(t *testing.T) {
	parallel(t)
	ns := ownNamespace(t)
	plain, placed := request(ns, "plain", nil), request(ns, "placed", fields{"destination": bucket(nil)})
	create(t, plain)
	create(t, placed)
	for what, c := range map[string]struct {
		object *unstructured.Unstructured
		spec   fields
		wants  string // "" if the change is valid
	}{
		"another cluster":             {plain, fields{"cluster": "bills"}, "spec.cluster cannot be changed: create another DatabaseBackup"},
		"a destination where none":    {plain, fields{"destination": bucket(nil)}, "spec.destination cannot be changed: create another DatabaseBackup"},
		"another destination":         {placed, fields{"destination": folder(nil)}, "spec.destination cannot be changed: create another DatabaseBackup"},
		"another region":              {placed, fields{"destination": bucket(fields{"region": "eu-2"})}, "spec.destination cannot be changed"},
		"no destination any more":     {placed, fields{"destination": nil}, "spec.destination cannot be changed"},
		"another deletion policy":     {placed, fields{"deletionPolicy": "Delete", "destination": bucket(nil)}, ""},
		"the same, written once more": {placed, fields{"destination": bucket(nil)}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			mustAnswer(t, dryChange(t, c.object, func(object *unstructured.Unstructured) {
				object.Object["spec"] = request(ns, "", c.spec).Object["spec"]
			}), c.wants)
		})
	}
	if policy, _, _ := unstructured.NestedString(read(t, plain).Object, "spec", "deletionPolicy"); policy != "Retain" {
		t.Errorf("the default of spec.deletionPolicy is %q", policy)
	}
}

// rotation sets one field of spec.credentials.rotation.
func rotation(field, value string) fields {
	return fields{"credentials": fields{"rotation": fields{field: value}}}
}
