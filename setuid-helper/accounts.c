/* The job's user, from the table of accounts in the policy; other names are looked up by
 * user-lookup, an unprivileged child that may load NSS modules. Ids MUST NOT come from the request.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

/* Finds the user's line in the table, which is sorted by name. */
static bool in_table(const struct hlp *h, struct hlp_user *ret)
{
    for (uint32_t low = 0, high = h->cfg.n_users; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        const off_t at = (off_t)(h->cfg.length + middle * sizeof(*ret));
        if (pread(h->table, ret, sizeof(*ret), at) != (ssize_t)sizeof(*ret))
            hlp_fail(EXE_STATUS_USER_LOOKUP, EIO, h->req.user);
        int order = strncmp(h->req.user, ret->name, sizeof(ret->name));
        if (order == 0)
            return ret->n_groups <= HLP_GROUPS_MAX;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* Runs user-lookup under its own account. Its file MUST NOT be readable: a process that can trace
 * it controls the identity of the job's user. */
static bool look_up(struct hlp *h, struct hlp_user *u)
{
    const bool shown = h->req.op == EXE_OP_LAUNCH || h->req.op == EXE_OP_LOCALIZE;
    const struct hlp_program program = { .name = "user-lookup",
                                         .arguments = { h->req.user, shown ? "names" : NULL },
                                         .as = &h->cfg.lookup,
                                         .without = 066,
                                         .fds = { 2, -1, 2, -1, -1 },
                                         .net_namespace = -1,
                                         .status = EXE_STATUS_USER_LOOKUP };
    static struct hlp_account a;
    size_t got;
    if (hlp_run_program(&program, &a, sizeof(a), &got) != 0 ||
        got < offsetof(struct hlp_account, home) || a.n_groups > HLP_GROUPS_MAX ||
        a.uid > HLP_ID_MAX || a.gid > HLP_ID_MAX)
        return false;
    memset(u, 0, sizeof(*u));
    memcpy(u->name, h->req.user, sizeof(u->name));
    u->uid = a.uid;
    u->gid = a.gid;
    for (uint32_t i = 0; i < a.n_groups; i++)
        if (!hlp_id_refused(&h->cfg.refused_gids, a.groups[i]) && a.groups[i] != u->gid)
            u->groups[u->n_groups++] = a.groups[i];
    h->account = &a;
    return true;
}

void hlp_job_user(struct hlp *h)
{
    struct hlp_user *u = &h->user;
    if (!in_table(h, u) && !look_up(h, u))
        hlp_fail(EXE_STATUS_USER_UNKNOWN, 0, h->req.user);
    /* An alias of a banned account is that account. */
    if (hlp_id_refused(&h->cfg.refused_uids, u->uid) ||
        hlp_id_refused(&h->cfg.refused_gids, u->gid) ||
        ((u->uid < h->cfg.min_uid || u->uid == 65534) &&
         !hlp_list_has(&h->cfg.allowed_system, u->name)))
        hlp_fail(EXE_STATUS_USER_REFUSED, 0, u->name);
}
