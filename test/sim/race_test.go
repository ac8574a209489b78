//go:build race

/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

// raceDetector makes everything six times as slow and sees nothing here: in a world only one thing happens
// at a time. So fewer plays do.
const raceDetector = true
