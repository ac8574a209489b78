/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

// Objects runs the command, which makes the databases and users in the database as the document declares them. The command reads the
// document from its standard input, and prints an ObjectAnswer as a line of JSON for each object.
type Objects struct {
	Document string `flag:"document" usage:"the <file> with the declared objects, as JSON"`
	Report
	Command []string
}

func (o *Objects) check() error { return first(rule{o.Document == "", "--document is required"}) }

// DeclaredObjects are what the database should have.
type DeclaredObjects struct {
	Databases []DeclaredDatabase `json:"databases"`
	Users     []DeclaredUser     `json:"users"`
}

// DeclaredObject is what databases and users have in common.
type DeclaredObject struct {
	// ID is permanent, and of this object only.
	ID   string     `json:"id"`
	Name string     `json:"name"`
	Mode ObjectMode `json:"mode"`
	// Adopt is true if an object that exists may be taken over.
	Adopt      bool              `json:"adopt"`
	Attributes map[string]string `json:"attributes,omitempty"`
}

// DeclaredDatabase is a database.
type DeclaredDatabase struct {
	DeclaredObject
	Owner string `json:"owner"`
}

// DeclaredUser is a user.
type DeclaredUser struct {
	DeclaredObject
	Databases []DeclaredGrant `json:"databases"`
	// PasswordFile has the password and nothing else; "" for an object to remove.
	PasswordFile string `json:"passwordFile,omitempty"`
}

// DeclaredGrant are privileges in a database.
type DeclaredGrant struct {
	Name       string   `json:"name"`
	Privileges []string `json:"privileges"`
}

// ObjectMode is what the action does with an object.
type ObjectMode string

// Modes of an object.
const (
	// ApplyObject changes what differs.
	ApplyObject ObjectMode = "Apply"
	// CheckObject creates it if it is missing, and reports what differs otherwise.
	CheckObject ObjectMode = "Check"
	// RemoveObject deletes it, if the action has created or adopted it.
	RemoveObject ObjectMode = "Remove"
)

// ObjectAnswer is what the action has done with an object.
type ObjectAnswer struct {
	ID      string       `json:"id"`
	Result  ObjectResult `json:"result"`
	Message string       `json:"message,omitempty"`
}

// ObjectResult is the kind of an answer.
type ObjectResult string

// Kinds of answers.
const (
	// ObjectDone means that the database has the object as declared, or does not have one to remove. The message is what was changed.
	ObjectDone ObjectResult = "Done"
	// ObjectDrifted means that it differs, and is only checked.
	ObjectDrifted ObjectResult = "Drifted"
	// ObjectExists means that an object of this name exists that the action did not create.
	ObjectExists ObjectResult = "Exists"
	// ObjectRefused means that the engine refuses a field.
	ObjectRefused ObjectResult = "Refused"
	// ObjectFailed means anything else.
	ObjectFailed ObjectResult = "Failed"
)

// MaxObjectMessage is the maximum size of a message in bytes.
const MaxObjectMessage = 300

// ObjectAnswers are the answers that tell more than that nothing was to be done: first those that are not Done. Unlisted is how many of
// these did not fit.
type ObjectAnswers struct {
	Answers  []ObjectAnswer `json:"answers,omitempty"`
	Unlisted int            `json:"unlisted,omitempty"`
}

// without drops the last answer.
func (o *ObjectAnswers) without() *ObjectAnswers {
	last := len(o.Answers) - 1
	less := &ObjectAnswers{Answers: o.Answers[:last], Unlisted: o.Unlisted}
	if o.Answers[last].Result != ObjectDone {
		less.Unlisted++
	}
	return less
}
