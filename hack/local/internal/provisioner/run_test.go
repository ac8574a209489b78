package provisioner

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
)

func TestAClaimGetsItsVolumeAndGivesItBack(t *testing.T) {
	options := optionsFor("")
	options.PVC.Annotations = map[string]string{"volume.kubernetes.io/storage-provisioner": Name}
	client := fake.NewClientset(nodeNamed("machine"), options.StorageClass, options.PVC)
	volumes := start(t, client)

	volume := awaitVolume(t, client)
	mustExist(t, volumes.path(volumeName))
	if got := volume.Annotations["pv.kubernetes.io/provisioned-by"]; got != Name {
		t.Errorf("the volume says it is provisioned by %q, want %q", got, Name)
	}
	if ref := volume.Spec.ClaimRef; ref == nil || ref.UID != options.PVC.UID {
		t.Errorf("the volume is for %v, want claim %s", ref, options.PVC.UID)
	}
	if !slices.Contains(volume.Finalizers, "external-provisioner.volume.kubernetes.io/finalizer") {
		t.Errorf("the finalizers are %v: a volume deleted by hand would leave its directory behind", volume.Finalizers)
	}

	release(t, client, volume)
	awaitGone(t, client)
	mustNotExist(t, volumes.path(volumeName))
}

func TestAClaimThatWaitsForItsFirstConsumerWaits(t *testing.T) {
	options := optionsFor("")
	options.StorageClass.VolumeBindingMode = new(storagev1.VolumeBindingWaitForFirstConsumer)
	options.PVC.Annotations = map[string]string{"volume.kubernetes.io/storage-provisioner": Name}
	client := fake.NewClientset(nodeNamed("a"), nodeNamed("b"), options.StorageClass, options.PVC)
	volumes := start(t, client)

	time.Sleep(300 * time.Millisecond)
	mustNotExist(t, volumes.path(volumeName))

	claim := options.PVC.DeepCopy()
	claim.Annotations["volume.kubernetes.io/selected-node"] = "b"
	if _, err := client.CoreV1().PersistentVolumeClaims("shop").Update(t.Context(), claim, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	term := awaitVolume(t, client).Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]
	if !slices.Equal(term.Values, []string{"b.example"}) {
		t.Errorf("the volume is tied to %v, want b.example", term.Values)
	}
}

func TestAKubeconfigThatIsNotThereIsNamed(t *testing.T) {
	missing := t.TempDir() + "/kubeconfig"
	mustFail(t, Run(t.Context(), missing, t.TempDir()), missing)
}

// start runs the provisioner until the test ends.
func start(t *testing.T, client kubernetes.Interface) directories {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, client, dir)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return directories{dir}
}

func awaitVolume(t *testing.T, client kubernetes.Interface) (volume *corev1.PersistentVolume) {
	t.Helper()
	await(t, func(ctx context.Context) (bool, error) {
		found, err := client.CoreV1().PersistentVolumes().Get(ctx, volumeName, metav1.GetOptions{})
		volume = found
		return err == nil, ignoreNotFound(err)
	})
	return volume
}

func awaitGone(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	await(t, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().PersistentVolumes().Get(ctx, volumeName, metav1.GetOptions{})
		return apierrors.IsNotFound(err), ignoreNotFound(err)
	})
}

func await(t *testing.T, condition wait.ConditionWithContextFunc) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, condition); err != nil {
		t.Fatal(err)
	}
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// release does what kube-controller-manager does when the claim is gone.
func release(t *testing.T, client kubernetes.Interface, volume *corev1.PersistentVolume) {
	t.Helper()
	released := volume.DeepCopy()
	released.Status.Phase = corev1.VolumeReleased
	if _, err := client.CoreV1().PersistentVolumes().UpdateStatus(t.Context(), released, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}
