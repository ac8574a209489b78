package build

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

const gigabyte = 1 << 30

// diskNeed is in GiB: the recommended free space for a build with empty caches, and the minimum.
type diskNeed struct{ want, floor uint64 }

// judge decides whether the free space of a filesystem is enough for a build.
func (d diskNeed) judge(folder string, free uint64) (warning string, err error) {
	has := fmt.Sprintf("the filesystem of %s has %.1f GiB free", folder, float64(free)/gigabyte)
	switch {
	case free < d.floor*gigabyte:
		return "", fmt.Errorf("%s, and a build with empty caches needs %d: free some space (`go clean -cache` is one way), "+
			"or point GOCACHE and XDG_CACHE_HOME at a larger disk", has, d.want)
	case free < d.want*gigabyte:
		return fmt.Sprintf("%s; a build with empty caches wants %d, so this one may run out", has, d.want), nil
	}
	return "", nil
}

// check checks every filesystem that the build writes to.
func (d diskNeed) check(folders ...string) error {
	for _, folder := range folders {
		free, err := freeBytes(folder)
		if err != nil {
			return err
		}
		warning, err := d.judge(folder, free)
		if err != nil {
			return err
		}
		if warning != "" {
			progress.Say("%s", warning)
		}
	}
	return nil
}

// freeBytes checks the nearest existing parent folder, because the cache may not exist yet.
func freeBytes(folder string) (uint64, error) {
	for !exists(folder) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
	}
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return 0, fmt.Errorf("ask how much space %s has: %w", folder, err)
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
