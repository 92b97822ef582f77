/* Times of the calls of an IPC server by method. */
#include <errno.h>

#include "wire/ipc/ipc-conn.h"

int ipc_times_open(struct ipc_server *s)
{
    size_t n = 0;

    for (const struct ipc_protocol *const *p = s->cfg.protocols; *p; p++)
        n += (*p)->n_methods;
    s->times = calloc(n + 1, sizeof(*s->times));
    if (!s->times)
        return -ENOMEM;
    for (const struct ipc_protocol *const *p = s->cfg.protocols; *p; p++)
        for (size_t i = 0; i < (*p)->n_methods; i++)
            s->times[s->n_times++].name = (*p)->methods[i].name;
    return 0;
}

/* The entries are in the order of the protocols' tables. */
void ipc_times_add(struct ipc_server *s, const struct ipc_method *m, int64_t us)
{
    size_t first = 0;

    for (const struct ipc_protocol *const *p = s->cfg.protocols; m && *p; p++) {
        const struct ipc_method *table = (*p)->methods;

        if (m >= table && m < table + (*p)->n_methods) {
            sv_histogram_add_us(&s->times[first + (size_t)(m - table)].times, us);
            return;
        }
        first += (*p)->n_methods;
    }
}

const struct sv_rpc_method *ipc_server_methods(const struct ipc_server *s, size_t *ret_n)
{
    *ret_n = s->n_times;
    return s->times;
}
