package process

import "syscall"

func tie(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
