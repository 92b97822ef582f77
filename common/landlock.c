/* See landlock.h. */
#include "common/landlock.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FS_V1 ((1ull << 13) - 1)
#define FS_IOCTL_DEV (1ull << 15) /* 5 */
#define NET_TCP 3ull              /* 4: bind, connect */
#define SCOPES 3ull               /* 6: abstract sockets, signals */

struct ruleset { /* landlock_ruleset_attr; older versions accept a prefix of it */
    uint64_t fs, net, scoped;
};

int sv_landlock_version(void)
{
    long v = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    return v < 0 ? 0 : (int)v;
}

int sv_landlock_new(bool tcp, struct sv_landlock *ret)
{
    int version = sv_landlock_version();
    struct ruleset rules = { .fs = FS_V1 };
    size_t size = version >= 6 ? sizeof(rules) : version >= 4 ? 16 : 8;

    rules.fs |= version >= 2 ? SV_LANDLOCK_REFER : 0;
    rules.fs |= version >= 3 ? SV_LANDLOCK_TRUNCATE : 0;
    rules.fs |= version >= 5 ? FS_IOCTL_DEV : 0;
    rules.net = version >= 4 && !tcp ? NET_TCP : 0;
    rules.scoped = version >= 6 ? SCOPES : 0;
    ret->files = rules.fs;
    ret->fd = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    return ret->fd < 0 ? -errno : 0;
}

int sv_landlock_allow(const struct sv_landlock *l, int dir, uint64_t access)
{
    struct landlock_path_beneath_attr a = { .allowed_access = access & l->files, .parent_fd = dir };

    return syscall(SYS_landlock_add_rule, l->fd, LANDLOCK_RULE_PATH_BENEATH, &a, 0) < 0 ? -errno
                                                                                        : 0;
}

int sv_landlock_enter(const struct sv_landlock *l)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_landlock_restrict_self, l->fd, 0) < 0)
        return -errno;
    return 0;
}
