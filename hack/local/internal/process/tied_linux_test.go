package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// startTiedAndWait is the program whose sudden end also kills its child.
func startTiedAndWait() {
	child := exec.Command("/bin/sleep", "1000")
	child.Env = append(os.Environ(), markVariable+"="+os.Getenv("START_TIED_AND_WAIT"))
	if _, err := StartTied(child); err != nil {
		panic(err)
	}
	fmt.Println(child.Process.Pid)
	select {}
}

func TestATiedProgramEndsWithTheOneThatStartedIt(t *testing.T) {
	group := Group{Dir: t.TempDir()}
	parent := exec.Command("/proc/self/exe")
	parent.Env = append(os.Environ(), "START_TIED_AND_WAIT="+group.Dir)
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	child, running := group.look(pid)
	if !running {
		t.Fatal("the child does not run")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	if !child.ends(time.Minute) {
		t.Error("the child outlived its parent")
	}
}
