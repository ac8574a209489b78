// Package supply holds nothing but tests of what is released: run by `make test-supply`, because they build all of it.
package supply
