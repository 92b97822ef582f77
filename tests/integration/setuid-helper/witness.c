/* Stands in for a program that the setuid helper executes, and reports how it was started: its
 * lines of /proc/self/status and its descriptors, one per line. Writes to descriptor 3 if that is a
 * Unix socket (a localizer's channel), else into the file beside it whose name ends in .seen,
 * created by the test. Exits 1. Static: it may run anywhere. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char text[16384];

static void add(const char *key, const char *value)
{
    size_t n = strlen(text);
    (void)snprintf(text + n, sizeof(text) - n, "%s\t%s\n", key, value);
}

int main(int argc, char **argv, char **envp)
{
    static const char *const keys[] = { "Uid:",        "Gid:",     "Groups:", "CapInh:",
                                        "CapPrm:",     "CapEff:",  "CapBnd:", "CapAmb:",
                                        "NoNewPrivs:", "Seccomp:", "Umask:",  NULL };
    char line[512], path[512], number[32];
    struct stat st;
    (void)prctl(PR_SET_DUMPABLE, 1); /* its file may have been unreadable; then /proc/self is */
    FILE *f = fopen("/proc/self/status", "r");
    (void)argc;
    while (f && fgets(line, sizeof(line), f))
        for (int i = 0; keys[i]; i++)
            if (strncmp(line, keys[i], strlen(keys[i])) == 0) {
                line[strcspn(line, "\n")] = '\0';
                add("status", line);
            }
    if (f)
        (void)fclose(f);
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && strtol(e->d_name, NULL, 10) != dirfd(d)) {
            (void)snprintf(path, sizeof(path), "/proc/self/fd/%.16s", e->d_name);
            ssize_t n = readlink(path, line, sizeof(line) - 1);
            line[n < 0 ? 0 : n] = '\0';
            (void)snprintf(path, sizeof(path), "%.16s %.400s", e->d_name, line);
            add("fd", path);
        }
    if (d)
        (void)closedir(d);
    for (; *envp; envp++)
        add("env", *envp);
    (void)snprintf(number, sizeof(number), "%d", prctl(PR_GET_SECUREBITS));
    add("securebits", number);
    (void)snprintf(number, sizeof(number), "%llu",
                   stat("/tmp", &st) == 0 ? (unsigned long long)st.st_dev : 0);
    add("tmp", number);
    /* A call that a container's filter allows, so that it fails with "no such file"; a localizer's
     * filter denies it. */
    (void)snprintf(number, sizeof(number), "%d",
                   execve("/nonexistent", argv, environ) < 0 ? errno : 0);
    add("execve", number);
    add("cwd", getcwd(line, sizeof(line)) ? line : "?");
    int domain = 0, to = -1;
    socklen_t len = sizeof(domain);
    if (getsockopt(3, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX)
        to = 3;
    if (to < 0) {
        ssize_t n = readlink("/proc/self/exe", line, sizeof(line) - 1);
        line[n < 0 ? 0 : n] = '\0';
        (void)snprintf(path, sizeof(path), "%.400s.seen", n > 0 ? line : argv[0]);
        to = open(path, O_WRONLY | O_TRUNC);
    }
    (void)!write(to, text, strlen(text));
    return 1;
}
