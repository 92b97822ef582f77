/* The lower bound of bench-launch ("clone3+exec baseline"), the kernel's share of a launch: clone3
 * with the namespaces of profile strict into an existing cgroup, every mount made read-only, exec,
 * wait. usage: floor CGROUP PROGRAM (as root; commands as in command.h). */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/command.h"

#define MS_PRIVATE_ (1 << 18) /* <sys/mount.h> and <linux/mount.h> exclude each other */

struct floor {
    int cgroup;
    char *program;
};

static int launch(void *argument)
{
    const struct floor *f = argument;
    struct clone_args args = {
        .flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP |
                 CLONE_INTO_CGROUP,
        .exit_signal = SIGCHLD,
        .cgroup = (uint64_t)f->cgroup,
    };
    struct mount_attr attr = {
        .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
        .propagation = MS_PRIVATE_,
    };
    int status;
    long pid = syscall(SYS_clone3, &args, sizeof(args));
    if (pid == 0) {
        if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0x8000 /* AT_RECURSIVE */, &attr,
                    sizeof(attr)) == 0)
            (void)execve(f->program, (char *[]){ f->program, NULL }, (char *[]){ NULL });
        _exit(126);
    }
    if (pid < 0 || waitpid((pid_t)pid, &status, 0) != pid || status != 0) {
        (void)fprintf(stderr, "floor: %s\n", pid < 0 ? strerror(errno) : "the program failed");
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct floor f = { .program = argc == 3 ? argv[2] : NULL };
    f.cgroup = argc == 3 ? open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (f.cgroup < 0) {
        (void)fprintf(stderr, "floor: no cgroup\n");
        return 2;
    }
    return serve_commands(launch, &f);
}
