package csi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/klog/v2"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// Run serves on a socket until the context ends. The kubelet finds sockets in its plugin folder by itself.
func Run(ctx context.Context, socket, dir, nodeName string) error {
	for _, folder := range []string{dir, filepath.Dir(socket)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("create a folder of the CSI driver: %w", err)
		}
	}
	// A killed driver leaves its socket.
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an old socket: %w", err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listen on the socket of the CSI driver: %w", err)
	}
	server := serverOf(disks{dir}, nodeName, systemMounts())
	stop := context.AfterFunc(ctx, server.GracefulStop)
	defer stop()
	return server.Serve(listener)
}

func serverOf(disks disks, nodeName string, mounts mounts) *grpc.Server {
	server := grpc.NewServer(grpc.UnaryInterceptor(oneAtATime()))
	csi.RegisterIdentityServer(server, identity{})
	csi.RegisterControllerServer(server, &controller{disks: disks})
	csi.RegisterNodeServer(server, &node{name: nodeName, disks: disks, mounts: mounts})
	registration.RegisterRegistrationServer(server, identity{})
	return server
}

// oneAtATime serializes requests. All are short, and no two requests use a volume at the same time.
func oneAtATime() grpc.UnaryServerInterceptor {
	var turn sync.Mutex
	return func(ctx context.Context, request any, call *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if named, ok := request.(interface{ GetVolumeId() string }); ok && named.GetVolumeId() == "" {
			return nil, status.Error(codes.InvalidArgument, "a volume is required")
		}
		turn.Lock()
		defer turn.Unlock()
		response, err := next(ctx, request)
		if err == nil {
			return response, nil
		}
		klog.FromContext(ctx).Error(err, "Failed", "method", call.FullMethod)
		if _, named := status.FromError(err); !named {
			err = status.Error(codes.Internal, err.Error())
		}
		return nil, err
	}
}
