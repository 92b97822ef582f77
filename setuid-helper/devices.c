/* Assigned devices: those of the policy. The request names numbers; where their nodes are has been
 * looked up by container-prepare, and each is proved to have its number again when it is bound
 * (sandbox.c). */
#include <errno.h>

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
