/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"

// HasDatabases reports whether an engine knows Databases.
func HasDatabases(declared *dbv1.DatabaseEngine) bool {
	return declared != nil && declared.Spec.Actions.Objects != nil && declared.Spec.Actions.Objects.Databases == dbv1.DatabasesSupported
}

// HasCertificates reports whether users of an engine can log in by a certificate.
func HasCertificates(declared *dbv1.DatabaseEngine) bool {
	return declared != nil && declared.Spec.Actions.Objects != nil && declared.Spec.Actions.Objects.Certificates == dbv1.CertificatesSupported
}

// User is what the Secret of a user has beside the addresses of the cluster. CA is "" without TLS.
type User struct{ Name, Database, Password, CA string }

// UserConnection returns the data of the Secret of a user, in the form of the connection Secret. Its templates get no other password.
func UserConnection(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, user User) (map[string][]byte, error) {
	own, engine := cluster.DeepCopy(), declared.DeepCopy()
	own.Spec.Bootstrap = &dbv1.ClusterBootstrap{Owner: user.Name, Database: user.Database}
	if bootstrap := cluster.Spec.Bootstrap; user.Database == "" && bootstrap != nil {
		own.Spec.Bootstrap.Database = bootstrap.Database
	}
	if len(engine.Spec.Actions.Objects.Entries) > 0 {
		engine.Spec.Connection.Entries = engine.Spec.Actions.Objects.Entries
	}
	data, err := Connection(own, engine, map[string][]byte{engine.Spec.Actions.Objects.PasswordKey: []byte(user.Password)}, user.CA)
	if err == nil {
		data["username"], data["password"] = []byte(user.Name), []byte(user.Password)
	}
	return data, err
}

// UserPassword is how the password of a user is generated, if it is to be.
func UserPassword(declared *dbv1.DatabaseEngine, key string) GeneratedKey {
	for _, one := range Lacking(declared, nil) {
		if one.Name == declared.Spec.Actions.Objects.PasswordKey {
			one.Name = key
			return one
		}
	}
	return GeneratedKey{Name: key, Length: defaultLength, Characters: defaultCharacters}
}
