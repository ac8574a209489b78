package images

import (
	"strings"
	"testing"
)

func TestMirrorsAreThoseThatAptNames(t *testing.T) {
	found := parseMirrors(`Other bookworm http://other.example/apt/
Debian bookworm http://one.example/debian/
Debian bookworm-updates http://one.example/debian/
Debian bookworm-security http://two.example/security/
`)
	want := "deb http://one.example/debian/ bookworm main\n" +
		"deb http://one.example/debian/ bookworm-updates main\n" +
		"deb http://two.example/security/ bookworm-security main\n"
	if got := found.sources(bookworm); got != want {
		t.Errorf("sources are\n%s, want\n%s", got, want)
	}
}

func TestWithoutAMirrorOfSecurityFixesOnlyTheArchiveIsUsed(t *testing.T) {
	found := parseMirrors("Debian trixie http://one.example/debian/\n")
	if got := found.sources(trixie); strings.Contains(got, "security") || found.archive != "http://one.example/debian/" {
		t.Errorf("sources are %q from %+v", got, found)
	}
}

func TestABadReferenceIsRefusedBeforeAnythingIsMade(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	refused(t, `image reference "No Such:Name"`, redis.write, Options{Reference: "No Such:Name"})
	assertHolds(t, cache)
}

func TestWhateverMakesAnotherImageHasAnotherPlaceInTheCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	places := map[string]bool{}
	for _, change := range []func(*recipe){
		func(*recipe) {},
		func(r *recipe) { r.pkg = "other" },
		func(r *recipe) { r.release = trixie },
		func(r *recipe) { r.provision += "true" },
		func(r *recipe) { r.entrypoint = []byte("true") },
		func(r *recipe) { r.config = postgreSQL.config },
	} {
		changed := redis
		change(&changed)
		place, err := changed.cache()
		if err != nil {
			t.Fatal(err)
		}
		places[place] = true
	}
	if len(places) != 6 {
		t.Errorf("six images have %d places: %v", len(places), places)
	}
}
