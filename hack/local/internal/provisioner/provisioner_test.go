package provisioner

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func TestAVolumeIsADirectoryTiedToItsNode(t *testing.T) {
	provisioner := provisionerWith(t, nodeNamed("machine"))
	options := optionsFor("machine")
	options.StorageClass.MountOptions = []string{"noexec"}

	volume, state, err := provisioner.Provision(t.Context(), options)
	if err != nil || state != controller.ProvisioningFinished {
		t.Fatalf("state %s, error %v", state, err)
	}
	want := corev1.PersistentVolumeSpec{
		Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("5Gi")},
		AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
		VolumeMode:                    new(corev1.PersistentVolumeFilesystem),
		MountOptions:                  []string{"noexec"},
		NodeAffinity:                  onlyOn("machine.example"),
		PersistentVolumeSource: corev1.PersistentVolumeSource{
			Local: &corev1.LocalVolumeSource{Path: provisioner.directories.path(volumeName)},
		},
	}
	if volume.Name != volumeName || !equality.Semantic.DeepEqual(volume.Spec, want) {
		t.Errorf("got %s %+v\nwant %s %+v", volume.Name, volume.Spec, volumeName, want)
	}
	mustExist(t, volume.Spec.Local.Path)
}

func TestTheReclaimPolicyOfTheClassIsThatOfTheVolume(t *testing.T) {
	options := optionsFor("")
	options.StorageClass.ReclaimPolicy = new(corev1.PersistentVolumeReclaimRetain)
	if policy := volumeFor(options, "/v", "machine").Spec.PersistentVolumeReclaimPolicy; policy != corev1.PersistentVolumeReclaimRetain {
		t.Errorf("the policy is %s, want Retain", policy)
	}
}

func TestWithoutAChosenNodeTheOnlyOneIsTaken(t *testing.T) {
	volume, _, err := provisionerWith(t, nodeNamed("machine")).Provision(t.Context(), optionsFor(""))
	if err != nil {
		t.Fatal(err)
	}
	if want := onlyOn("machine.example"); !equality.Semantic.DeepEqual(volume.Spec.NodeAffinity, want) {
		t.Errorf("the node affinity is %v, want %v", volume.Spec.NodeAffinity, want)
	}
}

func TestNothingIsMadeWithoutANodeToTieItTo(t *testing.T) {
	unlabelled := nodeNamed("machine")
	unlabelled.Labels = nil
	for name, test := range map[string]struct {
		nodes    []runtime.Object
		selected string
		state    controller.ProvisioningState
		says     string
	}{
		"no node at all":   {nil, "", controller.ProvisioningFinished, "no node yet"},
		"a choice of two":  {[]runtime.Object{nodeNamed("a"), nodeNamed("b")}, "", controller.ProvisioningFinished, "WaitForFirstConsumer"},
		"a node that left": {[]runtime.Object{nodeNamed("a")}, "b", controller.ProvisioningReschedule, "node b"},
		"no hostname":      {[]runtime.Object{unlabelled}, "", controller.ProvisioningFinished, "node machine has no label kubernetes.io/hostname"},
	} {
		t.Run(name, func(t *testing.T) {
			provisioner := provisionerWith(t, test.nodes...)
			_, state, err := provisioner.Provision(t.Context(), optionsFor(test.selected))
			mustFail(t, err, test.says)
			if state != test.state {
				t.Errorf("the state is %s, want %s", state, test.state)
			}
			mustNotExist(t, provisioner.directories.path(volumeName))
		})
	}
}

func TestARefusedClaimLeavesNoDirectory(t *testing.T) {
	provisioner, options := provisionerWith(t, nodeNamed("machine")), optionsFor("machine")
	options.PVC.Spec.Selector = &metav1.LabelSelector{}
	if _, _, err := provisioner.Provision(t.Context(), options); err == nil {
		t.Error("the claim was not refused")
	}
	mustNotExist(t, provisioner.directories.path(volumeName))
}

func TestDeletingAVolumeRemovesItsDirectory(t *testing.T) {
	provisioner := provisionerWith(t)
	create(t, provisioner.directories)
	volume := volumeFor(optionsFor(""), provisioner.directories.path(volumeName), "machine")

	for range 2 { // The second time stands for a run that was cut short after the first.
		if err := provisioner.Delete(t.Context(), volume); err != nil {
			t.Fatal(err)
		}
		mustNotExist(t, volume.Spec.Local.Path)
	}
	mustExist(t, provisioner.directories.base)
}

func TestAVolumeThatLiesElsewhereIsNotRemoved(t *testing.T) {
	provisioner, elsewhere := provisionerWith(t), t.TempDir()
	create(t, provisioner.directories)
	other := provisioner.directories.path("pvc-other")
	mkdir(t, other)

	for _, path := range []string{elsewhere, other, provisioner.directories.base, provisioner.directories.path(volumeName) + "/.."} {
		volume := volumeFor(optionsFor(""), path, "machine")
		mustFail(t, provisioner.Delete(t.Context(), volume), "was not made here")
		mustExist(t, path)
	}
	volume := volumeFor(optionsFor(""), "", "machine")
	volume.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: elsewhere}}
	mustFail(t, provisioner.Delete(t.Context(), volume), "was not made here")
	mustExist(t, elsewhere)
}

func provisionerWith(t *testing.T, nodes ...runtime.Object) *Provisioner {
	t.Helper()
	return &Provisioner{fake.NewClientset(nodes...), directories{t.TempDir()}}
}

// nodeNamed has a hostname that is not its name, as on some clouds.
func nodeNamed(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{corev1.LabelHostname: name + ".example"},
	}}
}
