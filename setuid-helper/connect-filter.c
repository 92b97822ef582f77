/* Attaches the connect filter (connect-code.c) to the root cgroup, for all containers and
 * localizers below it, and marks the cgroup for container-executor. Part of container-prepare.
 *
 * Root's configuration may have changed: an attached program is replaced by the new one atomically,
 * also for running containers. The mark MUST be set last and removed first: a launch that finds it
 * has the filter. */
#include <errno.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "setuid-helper/prepare.h"

#define NAME "selvedge_con_1"
#define ANY_RELEASE (sizeof("selvedge_con_") - 1)

static const struct hook {
    enum bpf_attach_type type;
    bool v6;
} hooks[] = {
    { BPF_CGROUP_INET4_CONNECT, false },
    { BPF_CGROUP_INET6_CONNECT, true },
    { BPF_CGROUP_UDP4_SENDMSG, false },
    { BPF_CGROUP_UDP6_SENDMSG, true },
};

/* These return the failed step, with errno, or NULL. */
static const char *attach(const struct hlp_code *c, int group, enum bpf_attach_type type, int old)
{
    union bpf_attr load = { .prog_type = BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
                            .expected_attach_type = type,
                            .insns = (uint64_t)(uintptr_t)c->v,
                            .insn_cnt = c->n,
                            .license = (uint64_t)(uintptr_t) "Apache-2.0",
                            .prog_name = NAME };
    const int prog = hlp_bpf(BPF_PROG_LOAD, &load);
    if (prog < 0)
        return "BPF_PROG_LOAD of the connect filter";
    union bpf_attr attach = { .target_fd = (uint32_t)group,
                              .attach_bpf_fd = (uint32_t)prog,
                              .attach_type = type,
                              .attach_flags = BPF_F_ALLOW_MULTI | (old < 0 ? 0 : BPF_F_REPLACE),
                              .replace_bpf_fd = old < 0 ? 0 : (uint32_t)old };
    if (hlp_bpf(BPF_PROG_ATTACH, &attach) < 0)
        return "BPF_PROG_ATTACH of the connect filter";
    (void)close(prog);
    return NULL;
}

static const char *detach(int group, enum bpf_attach_type type, int prog)
{
    union bpf_attr detach = { .target_fd = (uint32_t)group,
                              .attach_bpf_fd = (uint32_t)prog,
                              .attach_type = type };
    return hlp_bpf(BPF_PROG_DETACH, &detach) < 0 ? "BPF_PROG_DETACH of the connect filter" : NULL;
}

/* Afterwards exactly one program of ours is attached there, this one; without `c` none. */
static const char *put(const struct hlp_code *c, int group, enum bpf_attach_type type)
{
    int found[HLP_FILTERS_MAX];
    unsigned n = 0, kept = 0;
    const char *what = hlp_find_filters(group, type, NAME, ANY_RELEASE, found, &n);
    if (!what && c) {
        what = attach(c, group, type, n ? found[0] : -1);
        kept = 1;
    }
    for (unsigned i = 0; i < n; i++) {
        if (!what && i >= kept)
            what = detach(group, type, found[i]);
        (void)close(found[i]);
    }
    return what;
}

const char *hlp_put_connect_filter(const struct hlp_config *cfg, int group)
{
    static struct hlp_code code;
    const bool on = cfg->policy.connect_filter;
    const char *what = NULL;
    if (!on && fremovexattr(group, HLP_CONNECT_FILTERED) < 0 && errno != ENODATA)
        return HLP_CONNECT_FILTERED;
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]) && !what; i++) {
        if (on)
            hlp_connect_code(&cfg->connect, hooks[i].v6, &code);
        what = put(on ? &code : NULL, group, hooks[i].type);
    }
    if (!what && on && fsetxattr(group, HLP_CONNECT_FILTERED, "", 0, 0) < 0)
        what = HLP_CONNECT_FILTERED;
    return what;
}
