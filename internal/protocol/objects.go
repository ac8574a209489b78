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
	// Authentication is how the user logs in; "" for a password. Only an engine that supports certificates gets another value.
	Authentication Authentication `json:"authentication,omitempty"`
}

// Authentication is how a user logs in.
type Authentication string

// ByCertificate means that the user logs in only by a client certificate with its name as the common name.
const ByCertificate Authentication = "Certificate"

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
	// CheckObject changes nothing, and reports what differs, or that it is missing.
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
	// ObjectCreated means the same, and that the object did not exist before this run.
	ObjectCreated ObjectResult = "Created"
	// ObjectDrifted means that it differs or is missing, and is only checked.
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

// ObjectAnswers are the answers about all objects of a document. Results has a letter for each object, in the order of the document.
// Answers have the messages: first those of objects that are not in force, and as many as fit into the result of the call.
type ObjectAnswers struct {
	Results string         `json:"results,omitempty"`
	Answers []ObjectAnswer `json:"answers,omitempty"`
}

// letters are the letters of results.
var letters = map[ObjectResult]byte{
	ObjectDone: '.', ObjectCreated: 'c', ObjectDrifted: 'd', ObjectExists: 'e', ObjectRefused: 'r', ObjectFailed: 'f',
}

// InForce reports whether the database has the object as declared, or does not have one to remove.
func (r ObjectResult) InForce() bool { return r == ObjectDone || r == ObjectCreated }

// Letter is the letter of a result; ok is false for an unknown one.
func (r ObjectResult) Letter() (letter byte, ok bool) {
	letter, ok = letters[r]
	return letter, ok
}

// ResultAt is the result of an object by its place in the document; "" if there is none.
func ResultAt(results string, place int) ObjectResult {
	for result, letter := range letters {
		if place >= 0 && place < len(results) && results[place] == letter {
			return result
		}
	}
	return ""
}

// without drops the last answer.
func (o *ObjectAnswers) without() *ObjectAnswers {
	return &ObjectAnswers{Results: o.Results, Answers: o.Answers[:len(o.Answers)-1]}
}
