/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// maxFact bounds a fact in the status, and the message of a check. transfer keeps to this bound and to those of the protocol;
// they are checked again because something else may have written the termination message.
const maxFact = protocol.MaxFactsBytes

// recordedFacts are the facts that a restored copy can be held to, given what the check printed before and after the
// backup, and those that are only shown. The message says why facts are missing. Writes during the backup change
// facts, and nobody knows on which side of the backup they fell: such a fact is no promise.
func recordedFacts(engine *dbv1.DatabaseEngine, name string, check *protocol.Check) (facts map[string]dbv1.FactValue, message string) {
	switch {
	case check == nil:
		return nil, ""
	case len(checkOf(engine).Command) == 0 || engine.Name != name:
		return nil, fmt.Sprintf("DatabaseEngine %s was deleted or replaced during the backup: how its facts compare is unknown", name)
	}
	before, after := texts(check.Before), texts(check.After)
	facts = map[string]dbv1.FactValue{}
	for _, fact := range checkOf(engine).Facts {
		if value, firm := promised(fact, before, after); firm {
			facts[fact.Name] = value
		}
	}
	for _, shown := range []map[string]dbv1.FactValue{after, before} {
		for _, name := range slices.Sorted(maps.Keys(shown)) {
			if _, found := facts[name]; !found && len(facts) < protocol.MaxFacts && !slices.Contains(listed(engine), name) {
				facts[name] = shown[name]
			}
		}
	}
	return facts, strings.ToValidUTF8(check.Problem[:min(len(check.Problem), maxFact)], "")
}

// promised is the value that the copy can be held to; firm is false when there is none.
func promised(fact dbv1.EngineFact, before, after map[string]dbv1.FactValue) (value dbv1.FactValue, firm bool) {
	earlier, first := before[fact.Name]
	if fact.Compare == dbv1.CompareAtLeast {
		_, isNumber := number(earlier)
		return earlier, first && isNumber
	}
	later, second := after[fact.Name]
	return later, second && (!first || earlier == later)
}

// texts are facts as the status shows them: strings without quotes.
func texts(facts protocol.Facts) map[string]dbv1.FactValue {
	all := map[string]dbv1.FactValue{}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		text := string(facts[name])
		if strings.HasPrefix(text, `"`) && json.Unmarshal(facts[name], &text) != nil {
			continue
		}
		if len(all) < protocol.MaxFacts && len(name) <= protocol.MaxFactName && len(text) <= maxFact {
			all[name] = dbv1.FactValue(text)
		}
	}
	return all
}

// number reads a fact without loss: a position may have more digits than a float64.
func number(fact dbv1.FactValue) (*big.Float, bool) {
	const enough = 4 * maxFact // bits
	value, _, err := big.ParseFloat(string(fact), 10, enough, big.ToNearestEven)
	return value, err == nil && !value.IsInf()
}

// differences are how a restored copy differs from what was recorded, each in a sentence.
func differences(check dbv1.EngineCheck, recorded, copied map[string]dbv1.FactValue) []string {
	var all []string
	for _, fact := range check.Facts {
		want, promised := recorded[fact.Name]
		got, reported := copied[fact.Name]
		switch {
		case !promised:
		case !reported:
			all = append(all, fmt.Sprintf("%s is missing in the restored copy, and %s was recorded", fact.Name, want))
		case fact.Compare == dbv1.CompareAtLeast && lower(got, want):
			all = append(all, fmt.Sprintf("%s is %s in the restored copy, and at least %s was recorded", fact.Name, got, want))
		case fact.Compare == dbv1.CompareEqual && got != want:
			all = append(all, fmt.Sprintf("%s is %s in the restored copy, and %s was recorded", fact.Name, got, want))
		}
	}
	return all
}

// lower tells whether a fact is no number, or one below the other.
func lower(fact, least dbv1.FactValue) bool {
	value, isNumber := number(fact)
	bound, bounded := number(least)
	return bounded && (!isNumber || value.Cmp(bound) < 0)
}

// compare notes what the copy of a member reported, and says how that differs from what was recorded; "" when it does
// not. Of a Job whose pod no longer exists nothing is known, and unknown is no difference.
func (s situation) compare(p Plan, ordinal int32, result *protocol.Result) string {
	check, streams := checkOf(s.Engine), s.backup.Status.Streams
	if len(check.Command) == 0 || result == nil {
		return ""
	}
	copied := texts(result.Facts)
	note(p.Status.Verification, dbv1.VerifiedStream{Ordinal: ordinal, Facts: copied})
	stream, _ := state.First(streams, func(s dbv1.BackupStream) bool { return s.Ordinal == ordinal })
	found := differences(check, stream.Facts, copied)
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("the restored data of member %d of %d differs from what was backed up: %s. Do not rely on this backup: take another one, "+
		"and look for the cause in the actions backup and restore of DatabaseEngine %s",
		ordinal+1, s.backup.Status.Replicas, strings.Join(found, "; "), s.Engine.Name)
}

// note puts the facts of a copy in the place of those that an earlier pass noted.
func note(v *dbv1.BackupVerification, stream dbv1.VerifiedStream) {
	v.Streams = slices.DeleteFunc(v.Streams, func(s dbv1.VerifiedStream) bool { return s.Ordinal == stream.Ordinal })
	v.Streams = append(v.Streams, stream)
}

// checkOf is the engine's check; one without a command for none.
func checkOf(engine *dbv1.DatabaseEngine) dbv1.EngineCheck {
	if engine == nil || engine.Spec.Actions.Check == nil {
		return dbv1.EngineCheck{}
	}
	return *engine.Spec.Actions.Check
}

// compared says which facts agree, in the order of the engine's list.
func compared(engine *dbv1.DatabaseEngine, s dbv1.DatabaseBackupStatus) string {
	var agree, lost []string
	for _, name := range listed(engine) {
		recorded := slices.ContainsFunc(s.Streams, func(b dbv1.BackupStream) bool { return has(b.Facts, name) })
		switch {
		case recorded && slices.ContainsFunc(s.Verification.Streams, func(v dbv1.VerifiedStream) bool { return has(v.Facts, name) }):
			agree = append(agree, name)
		case recorded:
			lost = append(lost, name)
		}
	}
	switch {
	case len(agree) > 0:
		return "its data agrees with what was recorded: " + strings.Join(agree, ", ")
	case len(lost) > 0:
		return "only its answer was checked, because its pod was deleted with what it reported about its data"
	default:
		return "only its answer was checked, because the backup recorded no facts to compare"
	}
}

func has(facts map[string]dbv1.FactValue, name string) bool {
	_, found := facts[name]
	return found
}

// listed are the names of the facts that the engine compares.
func listed(engine *dbv1.DatabaseEngine) []string {
	var names []string
	for _, fact := range checkOf(engine).Facts {
		names = append(names, fact.Name)
	}
	return names
}

// unchecked says of which members facts are missing, and why; "" when of none.
func unchecked(s dbv1.DatabaseBackupStatus) string {
	var all []string
	for _, stream := range s.Streams {
		if stream.CheckMessage != "" {
			all = append(all, fmt.Sprintf("the facts about the data of member %d of %d are incomplete: %s", stream.Ordinal+1, s.Replicas, stream.CheckMessage))
		}
	}
	return strings.Join(all, "; ")
}
