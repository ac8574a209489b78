// Package build builds the tools of this project from the Go module registry, each once, and keeps them in a cache.
// Only the go.mod files below hack/tools define versions.
package build

import (
	"fmt"
	"strings"
)

// module is a folder below hack/tools whose go.mod pins one family of tools.
type module struct {
	folder string
	// main is the module path whose version is the version of the family.
	main string
	tags string
	disk diskNeed
	// stamp has the variables that a released build sets, so that a binary reports its version. VERSION, MAJOR and
	// MINOR are placeholders.
	stamp []string
	// cgo is set if the tool has parts in C: it needs gcc, like the race detector.
	cgo bool
}

// Tool is one binary.
type Tool struct {
	Name    string
	Package string
	// Cold is the duration of its build with an empty Go cache.
	Cold   string
	module *module
	// versioned is the module with the version of the tool, if that differs from the family's.
	versioned string
}

// sdkVersion are the versions in the scaffolds and the scorecard images of an Operator SDK release.
const sdkVersion = "github.com/operator-framework/operator-sdk/internal/version."

var (
	kubernetes = &module{folder: "kubernetes", main: "k8s.io/kubernetes", disk: diskNeed{want: 20, floor: 6}, stamp: []string{
		"k8s.io/component-base/version.gitVersion=VERSION", "k8s.io/component-base/version.gitMajor=MAJOR",
		"k8s.io/component-base/version.gitMinor=MINOR", "k8s.io/client-go/pkg/version.gitVersion=VERSION",
	}}
	coredns = &module{folder: "coredns", main: "github.com/coredns/coredns", disk: diskNeed{want: 6, floor: 2}}
	csi     = &module{folder: "csi", main: "github.com/kubernetes-csi/external-provisioner/v6", disk: diskNeed{want: 6, floor: 2}}
	sdk     = &module{
		folder: "operator-sdk", main: "github.com/operator-framework/operator-sdk",
		tags: "containers_image_openpgp", disk: diskNeed{want: 6, floor: 2}, stamp: []string{
			sdkVersion + "Version=VERSION", sdkVersion + "GitVersion=VERSION", sdkVersion + "ImageVersion=VERSION",
			sdkVersion + "KubernetesVersion=v1.33.1",
		},
	}
	controllerGen = &module{folder: "controller-gen", main: "sigs.k8s.io/controller-tools", disk: diskNeed{want: 3, floor: 1}}
	kustomize     = &module{folder: "kustomize", main: "sigs.k8s.io/kustomize/kustomize/v5", disk: diskNeed{want: 3, floor: 1}}
	golangci      = &module{folder: "golangci-lint", main: "github.com/golangci/golangci-lint/v2", disk: diskNeed{want: 6, floor: 2}}
	// Without service discovery for twenty cloud providers.
	promtool = &module{folder: "promtool", main: "github.com/prometheus/prometheus", tags: "remove_all_sd", disk: diskNeed{want: 4, floor: 2}}
	// A module of its own, because the server depends on more than promtool.
	prometheus = &module{
		folder: "prometheus", main: "github.com/prometheus/prometheus", tags: "remove_all_sd", disk: diskNeed{want: 4, floor: 2},
	}
	// The versions of the images in postgresql-v1 and redis-single-v1.
	postgresExporter = &module{folder: "postgres-exporter", main: "github.com/prometheus-community/postgres_exporter",
		disk: diskNeed{want: 3, floor: 1}}
	redisExporter = &module{folder: "redis-exporter", main: "github.com/oliver006/redis_exporter", disk: diskNeed{want: 3, floor: 1}}
	versitygw     = &module{folder: "versitygw", main: "github.com/versity/versitygw", disk: diskNeed{want: 3, floor: 1},
		stamp: []string{"main.Version=VERSION"}}
	cloudNativePG = &module{folder: "cloudnative-pg", main: "github.com/cloudnative-pg/cloudnative-pg", disk: diskNeed{want: 4, floor: 2}}
	// The version of the images of etcd-v1.
	etcd = &module{folder: "etcd", main: "go.etcd.io/etcd/server/v3", disk: diskNeed{want: 3, floor: 1}}
	opm  = &module{
		folder: "opm", main: "github.com/operator-framework/operator-registry",
		tags: "containers_image_openpgp", disk: diskNeed{want: 6, floor: 2},
		stamp: []string{"github.com/operator-framework/operator-registry/cmd/opm/version.opmVersion=VERSION"},
	}
	olm = &module{
		folder: "olm", main: "github.com/operator-framework/operator-lifecycle-manager",
		tags: "containers_image_openpgp,json1", disk: diskNeed{want: 6, floor: 2},
		stamp: []string{"github.com/operator-framework/operator-lifecycle-manager/pkg/version.OLMVersion=VERSION"},
	}
	helm = &module{folder: "helm", main: "helm.sh/helm/v4", disk: diskNeed{want: 4, floor: 2},
		stamp: []string{"helm.sh/helm/v4/internal/version.version=VERSION"}}
	// Stories about autoscalers run it on the node.
	metricsServer = &module{folder: "metrics-server", main: "sigs.k8s.io/metrics-server",
		disk: diskNeed{want: 4, floor: 2}}
	crane       = &module{folder: "crane", main: "github.com/google/go-containerregistry", disk: diskNeed{want: 3, floor: 1}}
	kwok        = &module{folder: "kwok", main: "sigs.k8s.io/kwok", disk: diskNeed{want: 4, floor: 2}}
	crdify      = &module{folder: "crdify", main: "sigs.k8s.io/crdify", disk: diskNeed{want: 3, floor: 1}}
	crdRefDocs  = &module{folder: "crd-ref-docs", main: "github.com/elastic/crd-ref-docs", disk: diskNeed{want: 3, floor: 1}}
	kal         = &module{folder: "kube-api-linter", main: "sigs.k8s.io/kube-api-linter", disk: diskNeed{want: 6, floor: 2}}
	govulncheck = &module{folder: "govulncheck", main: "golang.org/x/vuln", disk: diskNeed{want: 3, floor: 1}}
	cyclonedx   = &module{folder: "cyclonedx-gomod", main: "github.com/CycloneDX/cyclonedx-gomod", disk: diskNeed{want: 3, floor: 1}}
	// Its parsers of programming languages are in C. No build tag omits them.
	vale = &module{folder: "vale", main: "github.com/vale-cli/vale/v3", disk: diskNeed{want: 3, floor: 1},
		stamp: []string{"main.version=VERSION"}, cgo: true}
)

// Tools has every tool, in the best order for a cold build.
var Tools = []Tool{
	{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", "6 min", kubernetes, ""},
	{"etcd", "go.etcd.io/etcd/server/v3", "20 s", kubernetes, "go.etcd.io/etcd/server/v3"},
	{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", "2 min", kubernetes, ""},
	{"kubectl", "k8s.io/kubernetes/cmd/kubectl", "1 min", kubernetes, ""},
	{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", "10 s", kubernetes, ""},
	{"kubelet", "k8s.io/kubernetes/cmd/kubelet", "40 s", kubernetes, ""},
	{"kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy", "20 s", kubernetes, ""},
	{"coredns", "github.com/coredns/coredns", "2 min", coredns, ""},
	{"csi-provisioner", "github.com/kubernetes-csi/external-provisioner/v6/cmd/csi-provisioner", "2 min", csi, ""},
	{"csi-resizer", "github.com/kubernetes-csi/external-resizer/v2/cmd/csi-resizer", "10 s", csi,
		"github.com/kubernetes-csi/external-resizer/v2"},
	{"operator-sdk", "github.com/operator-framework/operator-sdk/cmd/operator-sdk", "2 min", sdk, ""},
	{"controller-gen", "sigs.k8s.io/controller-tools/cmd/controller-gen", "30 s", controllerGen, ""},
	{"kustomize", "sigs.k8s.io/kustomize/kustomize/v5", "30 s", kustomize, ""},
	{"golangci-lint", "github.com/golangci/golangci-lint/v2/cmd/golangci-lint", "3 min", golangci, ""},
	{"kube-api-linter", "sigs.k8s.io/kube-api-linter/cmd/golangci-lint-kube-api-linter", "3 min", kal, ""},
	{"promtool", "github.com/prometheus/prometheus/cmd/promtool", "3 min", promtool, ""},
	{"prometheus", "github.com/prometheus/prometheus/cmd/prometheus", "4 min", prometheus, ""},
	{"postgres_exporter", "github.com/prometheus-community/postgres_exporter/cmd/postgres_exporter", "1 min", postgresExporter, ""},
	{"redis_exporter", "github.com/oliver006/redis_exporter", "1 min", redisExporter, ""},
	{"versitygw", "github.com/versity/versitygw/cmd/versitygw", "1 min", versitygw, ""},
	{"cnpg-manager", "github.com/cloudnative-pg/cloudnative-pg/cmd/manager", "3 min", cloudNativePG, ""},
	{"etcd-member", "go.etcd.io/etcd/server/v3", "1 min", etcd, ""},
	{"etcdctl", "go.etcd.io/etcd/etcdctl/v3", "10 s", etcd, ""},
	{"etcdutl", "go.etcd.io/etcd/etcdutl/v3", "10 s", etcd, ""},
	{"scorecard-test", "github.com/operator-framework/operator-sdk/images/scorecard-test", "1 min", sdk, ""},
	{"opm", "github.com/operator-framework/operator-registry/cmd/opm", "4 min", opm, ""},
	{"olm", "github.com/operator-framework/operator-lifecycle-manager/cmd/olm", "2 min", olm, ""},
	{"catalog", "github.com/operator-framework/operator-lifecycle-manager/cmd/catalog", "20 s", olm, ""},
	{"helm", "helm.sh/helm/v4/cmd/helm", "2 min", helm, ""},
	{"crane", "github.com/google/go-containerregistry/cmd/crane", "30 s", crane, ""},
	{"kwok", "sigs.k8s.io/kwok/cmd/kwok", "3 min", kwok, ""},
	{"metrics-server", "sigs.k8s.io/metrics-server/cmd/metrics-server", "3 min", metricsServer, ""},
	{"crdify", "sigs.k8s.io/crdify", "1 min", crdify, ""},
	{"crd-ref-docs", "github.com/elastic/crd-ref-docs", "30 s", crdRefDocs, ""},
	{"govulncheck", "golang.org/x/vuln/cmd/govulncheck", "20 s", govulncheck, ""},
	{"cyclonedx-gomod", "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod", "30 s", cyclonedx, ""},
	{"vale", "github.com/vale-cli/vale/v3/cmd/vale", "1 min", vale, ""},
}

// Find returns the tool of that name.
func Find(name string) (Tool, error) {
	names := make([]string, 0, len(Tools))
	for _, tool := range Tools {
		if tool.Name == name {
			return tool, nil
		}
		names = append(names, tool.Name)
	}
	return Tool{}, fmt.Errorf("tool %q is not known: name one of %s", name, strings.Join(names, ", "))
}
