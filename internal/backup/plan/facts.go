/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// maxFact bounds a fact in the status, and the message of a check. Transfer respects this bound and those of the
// protocol. They are checked again because another process may have written the termination message.
const maxFact = protocol.MaxFactsBytes

// recordedFacts are the facts that a verification compares, from the output of the check before and after the
// backup, and the facts for display only. The message explains missing facts.
//
// Writes during the backup may change a fact, and the backup may or may not contain them: such a fact is not
// recorded.
func recordedFacts(engine *dbv1.DatabaseEngine, name string, check *protocol.Check) (facts map[string]dbv1.FactValue, message string) {
	switch {
	case check == nil:
		return nil, ""
	case len(checkOf(engine).Command) == 0 || engine.Name != name:
		return nil, fmt.Sprintf("DatabaseEngine %s was deleted or replaced during the backup, so its facts cannot be compared", name)
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
			if _, found := facts[name]; !found && len(facts) < protocol.MaxFacts && !slices.Contains(listed(checkOf(engine)), name) {
				facts[name] = shown[name]
			}
		}
	}
	return facts, pods.Head(check.Problem, maxFact)
}

// identity identifies the database in the backup of a member, by the fact that the engine names; "" if it is unknown. The check may
// have reported the fact only before or only after the backup. If the values differ, the database was replaced meanwhile.
func identity(engine *dbv1.DatabaseEngine, name string, check *protocol.Check) string {
	if check == nil || engine == nil || engine.Name != name {
		return ""
	}
	before, after := texts(check.Before)[checkOf(engine).Identity], texts(check.After)[checkOf(engine).Identity]
	if before != "" && after != "" && before != after {
		return ""
	}
	return string(cmp.Or(after, before))
}

// promised is the value that a copy must have; firm is false if there is none.
func promised(fact dbv1.EngineFact, before, after map[string]dbv1.FactValue) (value dbv1.FactValue, firm bool) {
	earlier, first := before[fact.Name]
	if fact.Compare == dbv1.CompareAtLeast {
		_, isNumber := number(earlier)
		return earlier, first && isNumber
	}
	later, second := after[fact.Name]
	return later, second && (!first || earlier == later)
}

// texts are facts as in the status: strings without quotes.
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

// number reads a fact without loss of precision: a position may have more digits than a float64.
func number(fact dbv1.FactValue) (*big.Float, bool) {
	const enough = 4 * maxFact // bits
	value, _, err := big.ParseFloat(string(fact), 10, enough, big.ToNearestEven)
	return value, err == nil && !value.IsInf()
}

// differences are the differences between a restored copy and the recorded facts, each as a sentence.
func differences(check dbv1.EngineCheck, recorded, copied map[string]dbv1.FactValue) []string {
	var all []string
	for _, fact := range check.Facts {
		want, promised := recorded[fact.Name]
		got, reported := copied[fact.Name]
		switch {
		case !promised:
		case !reported:
			all = append(all, fmt.Sprintf("%s is missing in the restored copy, but %s was recorded", fact.Name, want))
		case fact.Compare == dbv1.CompareAtLeast && lower(got, want):
			all = append(all, fmt.Sprintf("%s is %s in the restored copy, but at least %s was recorded", fact.Name, got, want))
		case fact.Compare == dbv1.CompareEqual && got != want:
			all = append(all, fmt.Sprintf("%s is %s in the restored copy, but %s was recorded", fact.Name, got, want))
		}
	}
	return all
}

// lower reports whether a fact is not a number, or is below the other.
func lower(fact, least dbv1.FactValue) bool {
	value, isNumber := number(fact)
	bound, bounded := number(least)
	return bounded && (!isNumber || value.Cmp(bound) < 0)
}

// compare records the facts of a member's copy, and reports their differences from the recorded facts; "" if there
// are none. If the pod of the Job no longer exists, the facts are unknown, which is not a difference.
func (s situation) compare(p BackupPlan, ordinal int32, result *protocol.Result) string {
	check, streams := s.comparable(), s.backup.Status.Streams
	if len(check.Command) == 0 || result == nil {
		return ""
	}
	copied := texts(result.Facts)
	recordCopy(p.Status.Verification, dbv1.VerifiedStream{Ordinal: ordinal, Facts: copied})
	stream, _ := state.First(streams, func(s dbv1.BackupStream) bool { return s.Ordinal == ordinal })
	found := differences(check, stream.Facts, copied)
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("the restored data of member %d of %d differs from the backup: %s. Do not rely on this backup. Take another one, "+
		"and check the actions backup and restore of DatabaseEngine %s",
		ordinal+1, s.backup.Status.Replicas, strings.Join(found, "; "), s.Engine.Name)
}

// recordCopy records the facts of a copy and replaces those of an earlier pass.
func recordCopy(v *dbv1.BackupVerification, stream dbv1.VerifiedStream) {
	v.Streams = slices.DeleteFunc(v.Streams, func(s dbv1.VerifiedStream) bool { return s.Ordinal == stream.Ordinal })
	v.Streams = append(v.Streams, stream)
}

// checkOf is the engine's check; empty if it has none.
func checkOf(engine *dbv1.DatabaseEngine) dbv1.EngineCheck {
	if engine == nil || engine.Spec.Actions.Check == nil {
		return dbv1.EngineCheck{}
	}
	return *engine.Spec.Actions.Check
}

// compared reports which facts match, in the order of the engine's list.
func compared(check dbv1.EngineCheck, s dbv1.DatabaseBackupStatus) string {
	var agree, lost []string
	for _, name := range listed(check) {
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
		return "its data matches the recorded facts: " + strings.Join(agree, ", ")
	case len(lost) > 0:
		return "only its answer was checked, because its pod was deleted before its facts were read"
	default:
		return "only its answer was checked, because the backup recorded no facts to compare"
	}
}

func has(facts map[string]dbv1.FactValue, name string) bool {
	_, found := facts[name]
	return found
}

// listed are the names of the facts that the engine compares.
func listed(check dbv1.EngineCheck) []string {
	var names []string
	for _, fact := range check.Facts {
		names = append(names, fact.Name)
	}
	return names
}

// unchecked reports the members with missing facts and the reason; "" if there are none.
func unchecked(s dbv1.DatabaseBackupStatus) string {
	var all []string
	for _, stream := range s.Streams {
		if stream.CheckMessage != "" {
			all = append(all,
				fmt.Sprintf("the facts about the data of member %d of %d are incomplete: %s", stream.Ordinal+1, s.Replicas, stream.CheckMessage))
		}
	}
	return strings.Join(all, "; ")
}
