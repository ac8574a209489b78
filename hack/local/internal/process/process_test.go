package process

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
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
func started(t *testing.T, command Command) (Group, Process) {
	t.Helper()
	group := Group{Dir: t.TempDir()}
	t.Cleanup(func() { group.KillStragglers() })
	if began, err := group.Ensure(t.Context(), command); err != nil || !began {
		t.Fatalf("the first Ensure: %t, %v", began, err)
	}
	process, running := group.Running(command.Name)
	if !running {
		t.Fatal("it does not run")
	}
	return group, process
}

func TestARunningProgramIsNotStartedAgain(t *testing.T) {
	group, before := started(t, sleeper())
	began, err := group.Ensure(t.Context(), sleeper())
	after, _ := group.Running("sleeper")
	if began || err != nil || after.PID != before.PID {
		t.Errorf("started again: %t, %v, %v, before %v", began, err, after, before)
	}
}

func TestOtherArgumentsReplaceTheRunningProgram(t *testing.T) {
	group, before := started(t, sleeper())
	began, err := group.Ensure(t.Context(), sleeper("1"))
	after, running := group.Running("sleeper")
	if !began || err != nil || !running || before.alive() || after.Args[1] != "1" {
		t.Errorf("not replaced: %t, %v, %v", began, err, after)
	}
}

func TestStopEndsTheProgramAndReportsIt(t *testing.T) {
	group, process := started(t, sleeper())
	if !group.Stop("sleeper") || process.alive() {
		t.Error("it runs still")
	}
	if group.Stop("sleeper") {
		t.Error("the second time there was something to stop")
	}
}

func TestAProcessThatHasEndedIsNeverSignaledUnderItsOldNumber(t *testing.T) {
	group, process := started(t, sleeper())
	stranger, _ := started(t, sleeper("1"))
	group.Stop("sleeper")
	other, _ := stranger.Running("sleeper")
	process.PID, process.group = other.PID, stranger // as if the ID were reused
	process.stop()
	if process.alive() || !other.alive() {
		t.Error("a process that only shares the number was ended")
	}
}

func TestDescendantsOfAProgramAreEndedAndNotMistakenForTheProgram(t *testing.T) {
	command := sleeper()
	command.Path, command.Args = "/bin/sh", []string{"-c", "sleep 1000 & sleep 2000 & wait"}
	group, process := started(t, command)
	for deadline := time.Now().Add(10 * time.Second); len(group.processes()) < 3 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if err := process.handle.Kill(); err != nil || !process.ends(stopWithin) {
		t.Fatal("it runs still", err)
	}
	if left, running := group.Running("sleeper"); running {
		t.Errorf("%v was taken for the program", left)
	}
	if ended := group.KillStragglers(); len(ended) != 1 || len(group.processes()) > 0 {
		t.Errorf("ended %v", ended)
	}
}

func TestAnotherGroupsProgramsAreLeftAlone(t *testing.T) {
	group, process := started(t, sleeper())
	if ended := (Group{Dir: group.Dir + "-other"}).KillStragglers(); len(ended) > 0 || !process.alive() {
		t.Errorf("ended %v", ended)
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

func TestStatusShowsWhichProgramsAreUp(t *testing.T) {
	group, process := started(t, sleeper())
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
	if states := group.Status(t.Context(), []Command{sleeper()}); states[0].PID != process.PID || states[0].Version != "v1" {
		t.Errorf("got %v", states)
	}
}
