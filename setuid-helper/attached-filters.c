/* Finds our programs among those attached to a cgroup. Part of container-prepare. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "setuid-helper/prepare.h"

/* Names identify ours, as root alone can load filters. */
const char *hlp_find_filters(int group, enum bpf_attach_type type, const char *name,
                             size_t name_len, int found[HLP_FILTERS_MAX], unsigned *ret_n)
{
    uint32_t ids[HLP_FILTERS_MAX] = { 0 };
    unsigned n = 0;
    union bpf_attr query = { .query = { .target_fd = (uint32_t)group,
                                        .prog_cnt = HLP_FILTERS_MAX,
                                        .attach_type = type,
                                        .prog_ids = (uint64_t)(uintptr_t)ids } };
    if (hlp_bpf(BPF_PROG_QUERY, &query) <
        0) /* for CAP_NET_ADMIN, which the kernels of Debian 12 and others require */
        return "BPF_PROG_QUERY";
    for (unsigned i = 0; i < query.query.prog_cnt && i < HLP_FILTERS_MAX; i++) {
        struct bpf_prog_info info = { 0 };
        union bpf_attr by_id = { .prog_id = ids[i] };
        int fd = hlp_bpf(BPF_PROG_GET_FD_BY_ID, &by_id);
        union bpf_attr about = { .info = { .bpf_fd = (uint32_t)fd,
                                           .info_len = sizeof(info),
                                           .info = (uint64_t)(uintptr_t)&info } };
        if (fd < 0 && errno == ENOENT) /* detached meanwhile */
            continue;
        if (fd < 0 || hlp_bpf(BPF_OBJ_GET_INFO_BY_FD, &about) < 0)
            return "filters of a group";
        if (strncmp(info.name, name, name_len) == 0)
            found[n++] = fd;
        else
            (void)close(fd);
    }
    *ret_n = n;
    return NULL;
}
