/* container-holder: keeps the containers' delegated cgroup alive. The only process of
 * selvedge-containers.service; started by systemd as the daemon's account.
 *
 * systemd removes a unit's cgroup with the unit's last process, and cannot restart a unit whose
 * cgroup has controllers enabled and children populated. So the containers have their own unit,
 * which survives a restart of the NodeManager: this process moves into the child `holder` and waits
 * for SIGTERM. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "cgroups/file.h"
#include "cgroups/hierarchy.h"
#include "common/fd.h"
#include "common/str.h"

#define CHILD "holder"

static int go(struct sv_error *err)
{
    _cleanup_free_ char *own = NULL;
    char self[32];
    int r = cg_own_group(&own, err);
    if (r < 0)
        return r;
    if (sv_has_suffix(own, "/" CHILD)) /* started again by hand, within the child */
        return 0;
    _cleanup_close_ int dir = open(own, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir < 0)
        return sv_error_errno(err, -errno, "%s", own);
    if (mkdirat(dir, CHILD, 0755) < 0 && errno != EEXIST)
        return sv_error_errno(err, -errno,
                              "%s: this account cannot make groups here; Delegate=yes "
                              "and User= are needed",
                              own);
    (void)snprintf(self, sizeof(self), "%d", (int)getpid());
    r = cg_file_write(dir, CHILD "/cgroup.procs", self);
    return r < 0 ? sv_error_errno(err, r, "%s/" CHILD ": cannot be entered", own) : 0;
}

int main(void)
{
    struct sv_error err = { 0 };
    sigset_t set;
    int signal_number;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || go(&err) < 0) {
        (void)fprintf(stderr, "container-holder: %s\n", err.code ? err.text : strerror(errno));
        return EXIT_FAILURE;
    }
    (void)sd_notify(0, "READY=1"); /* ignored without systemd */
    while (sigwait(&set, &signal_number) != 0)
        ;
    return EXIT_SUCCESS;
}
