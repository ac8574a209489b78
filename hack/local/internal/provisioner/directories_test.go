package provisioner

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const volumeName = "pvc-8c1f0d5e"

func TestTheOwnersGroupMayWriteWhateverTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	volumes := directories{t.TempDir()}
	create(t, volumes)

	info, err := os.Stat(volumes.path(volumeName))
	if err != nil {
		t.Fatal(err)
	}
	if want := fs.ModeDir | 0o770; info.Mode() != want {
		t.Errorf("the mode is %v, want %v", info.Mode(), want)
	}
}

func TestCreatingAnewKeepsWhatIsThere(t *testing.T) {
	volumes := directories{t.TempDir()}
	create(t, volumes)
	file := writeFile(t, volumes.path(volumeName))
	create(t, volumes)
	mustExist(t, file)
}

func TestWhatIsNotADirectoryIsNotTakenForAVolume(t *testing.T) {
	for name, plant := range map[string]func(t *testing.T, path, elsewhere string) string{
		"a symbolic link to elsewhere": func(t *testing.T, path, elsewhere string) string {
			symlink(t, elsewhere, path)
			return "symbolic link"
		},
		"a symbolic link to another volume": func(t *testing.T, path, _ string) string {
			mkdir(t, filepath.Join(filepath.Dir(path), "pvc-other"))
			symlink(t, "pvc-other", path)
			return "symbolic link"
		},
		"a file": func(t *testing.T, path, _ string) string {
			if err := os.Rename(writeFile(t, t.TempDir()), path); err != nil {
				t.Fatal(err)
			}
			return "file"
		},
	} {
		t.Run(name, func(t *testing.T) {
			volumes, elsewhere := directories{t.TempDir()}, t.TempDir()
			precious := writeFile(t, elsewhere)
			kind := plant(t, volumes.path(volumeName), elsewhere)

			mustFail(t, volumes.create(volumeName), kind)
			mustFail(t, volumes.remove(volumeName), kind)
			mustExist(t, precious)
			mustExist(t, volumes.path(volumeName))
		})
	}
}

func TestRemovingFollowsNoSymbolicLinkInsideTheVolume(t *testing.T) {
	volumes, elsewhere := directories{t.TempDir()}, t.TempDir()
	precious := writeFile(t, elsewhere)
	create(t, volumes)
	writeFile(t, volumes.path(volumeName))
	symlink(t, elsewhere, filepath.Join(volumes.path(volumeName), "link"))

	if err := volumes.remove(volumeName); err != nil {
		t.Fatal(err)
	}
	mustNotExist(t, volumes.path(volumeName))
	mustExist(t, precious)
}

func TestNamesThatLeadOutOfTheFolderAreRefused(t *testing.T) {
	outside := t.TempDir()
	volumes := directories{filepath.Join(outside, "volumes")}
	mkdir(t, volumes.base)
	mkdir(t, filepath.Join(outside, "precious"))

	for _, name := range []string{"../precious", "x/../../precious", "..", "", filepath.Join(outside, "precious")} {
		if err := volumes.create(name); err == nil {
			t.Errorf("create(%q) succeeded", name)
		}
		_ = volumes.remove(name) // Some names are absent rather than refused: what counts is below.
		mustExist(t, filepath.Join(outside, "precious"))
		mustExist(t, volumes.base)
	}
}

func TestRemovingWhatIsGoneSucceeds(t *testing.T) {
	base := t.TempDir()
	for _, volumes := range []directories{{base}, {filepath.Join(base, "gone")}} {
		if err := volumes.remove(volumeName); err != nil {
			t.Errorf("below %s: %v", volumes.base, err)
		}
	}
}

func create(t *testing.T, volumes directories) {
	t.Helper()
	if err := volumes.create(volumeName); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "data")
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustFail(t *testing.T, err error, because string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), because) {
		t.Errorf("the error is %v, want one that says %q", err, because)
	}
}

func mustExist(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("want %s to be there: %v", path, err)
	}
}

func mustNotExist(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("want %s to be gone, looking at it says %v", path, err)
	}
}
