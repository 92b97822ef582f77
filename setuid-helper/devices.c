/* Assigned devices and their filter. A request has numbers: they MUST be assignable by the policy,
 * whose nodes container-prepare has found, and each node MUST be verified to have its number again
 * when it is mounted (sandbox.c). If devices can be assigned every container has a filter of its
 * own, attached here; those of the daemon's cgroups are container-prepare's (persistent-filters.c),
 * which links this, too. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

static const struct hlp_node *find(const struct hlp_policy *p, const struct exe_device *d)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].id.major == d->major && p->nodes[i].id.minor == d->minor)
            return &p->nodes[i];
    return NULL;
}

unsigned hlp_find_nodes(const struct hlp *h, struct hlp_node nodes[HLP_NODES_MAX])
{
    const struct hlp_policy *p = &h->cfg;
    unsigned n = 0;
    bool with_controls = false;
    for (unsigned i = 0; i < h->req.n_devices; i++) {
        const struct exe_device *d = &h->req.devices[i];
        const struct hlp_node *node = find(p, d);
        char what[64];
        (void)hlp_format(what, sizeof(what), "%u:%u", d->major, d->minor);
        if (!node)
            hlp_fail(EXE_STATUS_DEVICE, ENODEV, what);
        nodes[n++] = *node;
        with_controls = with_controls || d->major == p->control_major;
    }
    for (uint32_t i = 0; with_controls && i < p->n_controls; i++)
        nodes[n++] = p->nodes[p->n_nodes + i];
    return n;
}

int hlp_bpf(int command, union bpf_attr *attr)
{
    return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* Joins the policy's parts (device-code.c generates them). */
const char *hlp_attach_filter(const struct hlp_policy *p, int cgroup, const struct hlp_node *nodes,
                              unsigned n_nodes)
{
    struct bpf_insn code[HLP_DEVICE_CODE_MAX + 4 * HLP_NODES_MAX + 2];
    unsigned n = p->n_device_code;
    memcpy(code, p->device_code, n * sizeof(code[0]));
    for (unsigned i = 0; i < n_nodes; i++, n += 4)
        memcpy(code + n, nodes[i].allow, sizeof(nodes[i].allow));
    memcpy(code + n, p->deny, sizeof(p->deny));
    union bpf_attr load = { .prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
                            .insns = (uint64_t)(uintptr_t)code,
                            .insn_cnt = n + 2,
                            .license = (uint64_t)(uintptr_t) "Apache-2.0",
                            .prog_name = HLP_FILTER_NAME };
    int prog = hlp_bpf(BPF_PROG_LOAD, &load);
    if (prog < 0)
        return "BPF_PROG_LOAD";
    /* All filters of a cgroup and of its ancestors must agree: the unit's DevicePolicy= too. */
    union bpf_attr attach = { .target_fd = (uint32_t)cgroup,
                              .attach_bpf_fd = (uint32_t)prog,
                              .attach_type = BPF_CGROUP_DEVICE,
                              .attach_flags = BPF_F_ALLOW_MULTI };
    if (hlp_bpf(BPF_PROG_ATTACH, &attach) < 0)
        return "BPF_PROG_ATTACH";
    (void)close(prog);
    return NULL;
}

void hlp_device_filter(const struct hlp *h, int cgroup, const struct hlp_node *nodes,
                       unsigned n_nodes)
{
    if (!h->cfg.assignable)
        return;
    if (n_nodes > 0 && h->cfg.held[0])
        hlp_fail(
            EXE_STATUS_DEVICE_FILTER, EBUSY,
            "containers from before devices were allowed still run; assign none until they end");
    const char *what = hlp_attach_filter(&h->cfg, cgroup, nodes, n_nodes);
    if (what)
        hlp_fail(EXE_STATUS_DEVICE_FILTER, errno, what);
}
