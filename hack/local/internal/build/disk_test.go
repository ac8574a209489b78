package build

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTooLittleDiskIsRefusedWithWhatToDo(t *testing.T) {
	_, err := diskNeed{want: 20, floor: 6}.judge("/cache", 5*gigabyte)
	if err == nil {
		t.Fatal("5 GiB were enough")
	}
	for _, want := range []string{"/cache has 5.0 GiB free", "needs 20", "go clean -cache", "GOCACHE"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
}

func TestLittleDiskIsWarnedOf(t *testing.T) {
	warning, err := diskNeed{want: 20, floor: 6}.judge("/cache", 12*gigabyte)
	if err != nil || !strings.Contains(warning, "wants 20") {
		t.Errorf("got %q, %v", warning, err)
	}
}

func TestEnoughDiskIsNotWorthAWord(t *testing.T) {
	if warning, err := (diskNeed{want: 20, floor: 6}).judge("/cache", 20*gigabyte); err != nil || warning != "" {
		t.Errorf("got %q, %v", warning, err)
	}
}

func TestAFolderThatIsNotThereYetIsMeasuredByTheOneAbove(t *testing.T) {
	folder := t.TempDir()
	free, err := freeBytes(filepath.Join(folder, "not", "yet"))
	if err != nil || free == 0 {
		t.Errorf("got %d, %v", free, err)
	}
}
