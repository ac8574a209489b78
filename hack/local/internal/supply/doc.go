// Package supply tests the release. `make test-supply` runs it, because it builds the whole release.
package supply
