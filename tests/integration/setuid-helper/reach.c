/* Runs in a container as its job and tries, for MILLISECONDS from its first instruction on, to
 * reach into pid 1, which has the same user id; then once into a child of its own, where all of it
 * works if the profile lets debuggers work. Writes into `out` "rounds N, reached N: NAMES, own
 * child: NAMES". Static: it begins while pid 1 is still busy. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char reached[4096];

static void note(bool hit, const char *name)
{
    const size_t n = strlen(reached);
    if (hit && !strstr(reached, name))
        (void)snprintf(reached + n, sizeof(reached) - n, " %s", name);
}

static void one(pid_t pid)
{
    static const char *const files[] = { "mem",  "maps", "environ", "fd",       "exe",
                                         "auxv", "cwd",  "root",    "fdinfo/3", "syscall" };
    static char buf[64];
    char path[64];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, files[i]);
        int fd = open(path, O_RDONLY);
        note(fd >= 0 && (read(fd, buf, sizeof(buf)) > 0 || errno == EIO || errno == EISDIR),
             files[i]);
        if (fd >= 0)
            (void)close(fd);
        note(readlink(path, buf, sizeof(buf)) > 0, files[i]);
    }
    struct iovec mine = { buf, 1 }, its = { reached, 1 };
    note(syscall(SYS_process_vm_readv, pid, &mine, 1L, &its, 1L, 0L) >= 0 || errno == EFAULT,
         "vm_readv");
    note(syscall(SYS_process_vm_writev, pid, &mine, 1L, &its, 1L, 0L) >= 0 || errno == EFAULT,
         "vm_writev");
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    note(pidfd >= 0 && syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0, "getfd");
    if (pidfd >= 0)
        (void)close(pidfd);
    const bool traced = ptrace(PTRACE_SEIZE, pid, 0L, 0L) == 0;
    note(traced, "ptrace");
    if (traced)
        (void)ptrace(PTRACE_DETACH, pid, 0L, 0L);
}

static long now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
    const long until = now_ms() + (argc > 1 ? strtol(argv[1], NULL, 10) : 200);
    unsigned rounds = 0, hits = 0;
    for (; now_ms() < until; rounds++) {
        one(1);
        hits += reached[0] != 0;
    }
    FILE *out = fopen("out", "w");
    if (!out)
        return 1;
    (void)fprintf(out, "rounds %u, reached %u:%s", rounds, hits, reached);
    (void)fflush(out);
    reached[0] = '\0';
    pid_t child = fork();
    if (child == 0) {
        (void)pause();
        _exit(0);
    }
    one(child);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    (void)fprintf(out, ", own child:%s\n", reached);
    return fclose(out) == 0 ? 0 : 1;
}
