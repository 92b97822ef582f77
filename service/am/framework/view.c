/* A task as it is told: the engine's view with what the master knows of its container. */
#include <stdio.h>
#include <string.h>

#include "common/oom.h"
#include "service/am/framework/master-internal.h"

void svc_fwm_view(const struct svc_fwm *m, const struct svc_fw_view *v, struct sv_arena *a,
                  struct svc_fw_task *ret)
{
    const struct svc_fw_role *role = &m->spec->roles[v->role];
    const struct svc_fwm_container *c = NULL;
    char instance[48];

    (void)snprintf(instance, sizeof(instance), "role%zu-%d", v->role, (int)v->task.index);
    if (v->has_container)
        c = svc_fwm_container_of(m, v->container, instance);
    *ret = v->task;
    if (ret->container && !(ret->container = sv_arena_strdup(a, v->text)))
        sv_out_of_memory();
    ret->service_version = role->service_version;
    if (ret->state < SVC_FW_CONTAINER_ALLOCATED && m->whys)
        ret->exit_diagnostics = m->whys[v->role];
    if (!c)
        return;
    ret->ports = *c->ports ? c->ports : NULL;
    ret->ip = *c->ip ? c->ip : NULL;
    ret->has_gpus = role->resource.gpus == 0 || role->resource.gpu_mask != 0;
    ret->gpus = role->resource.gpus ? role->resource.gpu_mask : 0;
    if (*c->http) {
        ret->log_url = sv_arena_printf(a, "http://%s/node/containerlogs/%s/%s/", c->http, c->key,
                                       m->options->user);
        if (!ret->log_url)
            sv_out_of_memory();
    }
}

/* "ROLE INDEX HOST PORTS" a line, of tasks that have a container. The launcher refuses what is too
 * long with names of hosts of a usual length. */
struct svc_shared_text *svc_fwm_addresses(struct svc_fwm *m)
{
    _cleanup_buf_ struct sv_buf out =
        SV_BUF_INIT(m->addresses_max ? m->addresses_max : SVC_FW_ADDRESSES_MAX);
    struct svc_fw_view v;

    if (m->addresses)
        return m->addresses;
    for (size_t role = 0; role < m->spec->n_roles; role++)
        for (size_t cursor = 0; svc_fw_walk(m->engine, role, &cursor, &v);) {
            const struct svc_fwm_container *c =
                v.has_container ? svc_fwm_container(m, v.container) : NULL;

            int r = c ? sv_buf_printf(&out, "%s %d %s %s\n", m->spec->roles[role].name,
                                      (int)v.task.index, c->node.host, c->ports)
                      : 0;

            svc_fwm_need(r);
            if (r < 0)
                return NULL;
        }
    m->addresses = svc_shared_text_new(out.data ? (char *)out.data : "", out.len);
    if (!m->addresses)
        sv_out_of_memory();
    return m->addresses;
}
