//go:build race

/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

const raceDetector = true
