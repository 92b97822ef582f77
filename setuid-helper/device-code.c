/* The device filter of containers, an eBPF program on their cgroup, in three parts: the nodes of
 * every container, one assigned node, and the end that denies all others. container-executor joins
 * them for the nodes of a request. The context is { access_type = access << 16 | type, major, minor
 * }; mknod and everything but character devices is denied, then each allowed device is one
 * comparison. Part of container-prepare. */
#include <string.h>

#include "setuid-helper/bpf-code.h"
#include "setuid-helper/prepare.h"

static void node_code(struct bpf_insn code[4], const struct exe_device *d)
{
    const struct bpf_insn allow[4] = { UNLESS(BPF_REG_4, d->major, 3),
                                       UNLESS(BPF_REG_5, d->minor, 2), RETURN(1) };
    memcpy(code, allow, sizeof(allow));
}

void hlp_device_code(struct hlp_policy *p)
{
    static const struct exe_device standard[] = {
        { 1, 3 }, { 1, 5 }, { 1, 7 }, { 1, 8 }, { 1, 9 }, /* null zero full random urandom */
        { 5, 0 }, { 5, 2 },                               /* tty ptmx */
    };
    const struct bpf_insn head[] = {
        LOAD(BPF_REG_2, 0),
        LOAD(BPF_REG_4, 4),
        LOAD(BPF_REG_5, 8), /* access_type, major, minor */
        MOVE(BPF_REG_3, BPF_REG_2),
        AND(BPF_REG_3, 0xffff),
        UNLESS(BPF_REG_3, BPF_DEVCG_DEV_CHAR, 2),
        AND(BPF_REG_2, BPF_DEVCG_ACC_MKNOD << 16),
        WHEN(BPF_REG_2, 0, 2),
        RETURN(0),
        UNLESS(BPF_REG_4, 136, 2),
        RETURN(1), /* pts, of any minor number */
    };
    const struct bpf_insn deny[] = { RETURN(0) };
    uint32_t n = sizeof(head) / sizeof(head[0]);
    memcpy(p->device_code, head, sizeof(head));
    for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++, n += 4)
        node_code(p->device_code + n, &standard[i]);
    p->n_device_code = n;
    memcpy(p->deny, deny, sizeof(deny));
    for (uint32_t i = 0; i < p->n_nodes + p->n_controls; i++)
        node_code(p->nodes[i].allow, &p->nodes[i].id);
}
