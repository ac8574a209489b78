/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"github.com/dbcluster/databasecluster-operator/test/world"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// newestSequences test one manifest for the first installation and for the time after a disaster.
var newestSequences = []world.Story{
	world.Tell("newest-none", withEngine(create(2, saved, newestOrEmpty)), world.Holds("what orders"), backUp("first", dbv1.BackupRetain), image("database:2")),
	world.Tell("newest", world.InFolder("old", 2), world.InFolder("new", 2), withEngine(create(2, saved, newestOrEmpty)), world.Holds("new of member"),
		backUp("first", dbv1.BackupRetain), image("database:2")),
	world.Tell("newest-beside-a-half", world.InFolder("old", 1), world.HalfInFolder("half"), withEngine(create(1, saved, newestOrEmpty)), world.Holds("old of member")),
	world.Tell("newest-bucket-away", world.InFolder("old", 2), world.GoesWrong(world.Trouble{Verb: "search", Code: 11, Times: 2}),
		withEngine(create(2, saved, newestOrEmpty)), world.Holds("old of member")),
	world.Tell("newest-bucket-forbidden", world.GoesWrong(world.Trouble{Verb: "search", Code: 20, Times: -1}),
		withEngine(create(1, saved, newestOrEmpty)), world.Mended("search"), deleteJob("-search-"), world.Holds("what orders")),
	world.Tell("newest-half", world.HalfInFolder("half"), withEngine(create(1, saved, newestOrEmpty)), together(world.OutOfFolder("half"), deleteJob("-search-")),
		world.Holds("what orders")),
	world.Tell("newest-missing", withEngine(create(1, saved, newest)), together(world.InFolder("old", 1), deleteJob("-search-")), world.Holds("old of member")),
	world.Tell("newest-missing-created", withEngine(create(1, saved, newest)), set("ifMissing is set to Create", newestOrEmpty), world.Holds("what orders")),
	world.Tell("newest-of-another-number", world.InFolder("old", 2), withEngine(create(1, saved, newest)), scale(2), world.Holds("old of member")),
	world.Tell("newest-name-corrected", world.InFolder("old", 1), world.GoesWrong(world.Trouble{Verb: "search", About: "typo", Hangs: true, Times: -1}),
		withEngine(create(1, saved, newestOf("typo"))), set("the name is corrected", newestOrEmpty), world.Holds("old of member")),
	world.Tell("newest-changed", world.InFolder("old", 1), world.InBucket("new", 1), oldHangs(), withEngine(create(1, saved, newest)),
		set("another backup is named", fromBackup("new")), world.Holds("new of member")),
	world.Tell("newest-after-a-disaster", withEngine(create(2, saved, newestOrEmpty, hook("final", dbv1.HookBackup), deleteVolumes)), remove(),
		create(2, saved, newestOrEmpty), world.Holds("what orders")),
	world.Tell("newest-deleted-while-it-looks", world.GoesWrong(world.Trouble{Verb: "search", Hangs: true, Times: -1}),
		withEngine(create(1, saved, newestOrEmpty)), remove()),
}
