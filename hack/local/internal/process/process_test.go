package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("START_TIED_AND_WAIT") != "" {
		startTiedAndWait()
	}
	os.Exit(m.Run())
}

func sleeper(arguments ...string) Command {
	return Command{
		Name: "sleeper", Path: "/bin/sleep", Args: append(arguments, "1000"), Version: "v1",
		Ready: func(context.Context) error { return nil },
	}
}

// started is a group in which the command runs.
func started(t *testing.T, command Command) (Group, Record) {
	t.Helper()
	group := Group{Dir: t.TempDir()}
	t.Cleanup(func() { group.KillStragglers() })
	if began, err := group.Ensure(t.Context(), command); err != nil || !began {
		t.Fatalf("the first Ensure: %t, %v", began, err)
	}
	record, running := group.Running(command.Name)
	if !running {
		t.Fatal("it does not run")
	}
	return group, record
}

func TestWhatRunsIsNotStartedAgain(t *testing.T) {
	group, before := started(t, sleeper())
	began, err := group.Ensure(t.Context(), sleeper())
	after, _ := group.Running("sleeper")
	if began || err != nil || after.Identity != before.Identity {
		t.Errorf("started again: %t, %v, %v, before %v", began, err, after.Identity, before.Identity)
	}
}

func TestOtherArgumentsReplaceWhatRuns(t *testing.T) {
	group, before := started(t, sleeper())
	began, err := group.Ensure(t.Context(), sleeper("1"))
	after, running := group.Running("sleeper")
	if !began || err != nil || !running || before.Identity.alive() || after.Args[0] != "1" {
		t.Errorf("not replaced: %t, %v, %v", began, err, after)
	}
}

func TestStopEndsTheProgramAndSaysSo(t *testing.T) {
	group, record := started(t, sleeper())
	if !group.Stop("sleeper") || record.Identity.alive() {
		t.Error("it runs still")
	}
	if group.Stop("sleeper") {
		t.Error("the second time there was something to stop")
	}
}

func TestAProcessOfAnotherStartTimeIsNeverSignalled(t *testing.T) {
	group, record := started(t, sleeper())
	stranger := record
	stranger.Identity.StartTicks++
	if err := group.write(stranger); err != nil {
		t.Fatal(err)
	}
	if group.Stop("sleeper") || !record.Identity.alive() {
		t.Error("a process that only shares the id was ended")
	}
}

func TestAnIdentityMatchesOnlyAsAWhole(t *testing.T) {
	self, err := identify(os.Getpid())
	if err != nil || !self.alive() {
		t.Fatalf("this process is not seen: %v, %v", self, err)
	}
	for what, change := range map[string]func(*Identity){
		"start time": func(i *Identity) { i.StartTicks-- },
		"boot":       func(i *Identity) { i.Boot = "another" },
		"executable": func(i *Identity) { i.Executable = "/bin/another" },
		"process id": func(i *Identity) { i.PID = os.Getppid() },
	} {
		other := self
		change(&other)
		if other.alive() {
			t.Errorf("a process of another %s was taken for this one", what)
		}
	}
}

func TestAProgramWithoutARecordIsFoundByItsMark(t *testing.T) {
	group, record := started(t, sleeper())
	if err := os.Remove(group.recordPath("sleeper")); err != nil {
		t.Fatal(err)
	}
	if ended := group.KillStragglers(); len(ended) != 1 || record.Identity.alive() {
		t.Errorf("ended %v", ended)
	}
}

func TestAStartThatWasCutShortIsReplaced(t *testing.T) {
	executable, err := filepath.EvalSymlinks("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	command := sleeper()
	command.Path = executable
	group, before := started(t, command)
	if err := os.Remove(group.recordPath("sleeper")); err != nil {
		t.Fatal(err)
	}
	if began, err := group.Ensure(t.Context(), command); !began || err != nil || before.Identity.alive() {
		t.Errorf("the first one lives beside the second: %t, %v", began, err)
	}
}

func TestAnotherGroupsProgramsAreLeftAlone(t *testing.T) {
	group, record := started(t, sleeper())
	if ended := (Group{Dir: group.Dir + "-other"}).KillStragglers(); len(ended) > 0 || !record.Identity.alive() {
		t.Errorf("ended %v", ended)
	}
}

func TestARecordThatACrashCutShortNamesNothing(t *testing.T) {
	group, _ := started(t, sleeper())
	if err := os.WriteFile(group.recordPath("sleeper"), []byte(`{"name": "sle`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, running := group.Running("sleeper"); running {
		t.Error("half a record was believed")
	}
}

func TestAProgramThatEndsAtOnceShowsItsLog(t *testing.T) {
	group := Group{Dir: t.TempDir()}
	_, err := group.Ensure(t.Context(), Command{
		Name: "failing", Path: "/bin/sh", Args: []string{"-c", "echo the disk is made of cheese; exit 1"},
		Ready: func(context.Context) error { return errors.New("not yet") },
	})
	if err == nil || !strings.Contains(err.Error(), "made of cheese") {
		t.Errorf("got %v", err)
	}
}

func TestStatusTellsWhatIsUp(t *testing.T) {
	group, record := started(t, sleeper())
	notReady := sleeper()
	notReady.Ready = func(context.Context) error { return errors.New("asleep") }
	for _, test := range []struct {
		command Command
		up      bool
		state   string
	}{
		{sleeper(), true, "running"},
		{notReady, false, "not ready: asleep"},
		{Command{Name: "unheard-of"}, false, "not running"},
	} {
		var table strings.Builder
		allUp := WriteTable(&table, group.Status(t.Context(), []Command{test.command}))
		if allUp != test.up || !strings.Contains(table.String(), test.state) {
			t.Errorf("%s: up is %t, want %t and %q in\n%s", test.command.Name, allUp, test.up, test.state, &table)
		}
	}
	if states := group.Status(t.Context(), []Command{sleeper()}); states[0].PID != record.Identity.PID || states[0].Version != "v1" {
		t.Errorf("got %v", states)
	}
}

func TestTheNameOfAProgramMayHoldAnything(t *testing.T) {
	stat := "42 (a) S 1 (b) R 1 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 98765 1000 1\n"
	state, ticks, err := parseStat(stat)
	if state != "R" || ticks != 98765 || err != nil {
		t.Errorf("got %q, %d, %v", state, ticks, err)
	}
}
