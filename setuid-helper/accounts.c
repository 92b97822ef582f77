/* Who the job's user is. A user who is not in /etc/passwd is asked for
 * in a child without privileges (user-lookup, which may load NSS modules). Ids never come from the
 * request. Errors leave no id behind: structures start as "nobody may". */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

#define ACCOUNTS_MAX (4 * 1024 * 1024)

static char accounts[ACCOUNTS_MAX]; /* touched only as far as the file goes */

/* What user-lookup answered: fixed layout, checked like a line of passwd. */
static bool lookup_answer(const uint32_t *v, size_t bytes, struct hlp_user *u, gid_t nm_gid)
{
    if (bytes < 12 || v[2] > HLP_GROUPS_MAX || bytes != 12 + 4 * (size_t)v[2] ||
        v[0] > HLP_ID_MAX || v[1] > HLP_ID_MAX)
        return false;
    u->uid = v[0];
    u->gid = v[1];
    for (uint32_t i = 0; i < v[2]; i++)
        if (v[3 + i] != 0 && v[3 + i] != nm_gid && v[3 + i] <= HLP_ID_MAX && v[3 + i] != u->gid)
            u->groups[u->n_groups++] = v[3 + i];
    return true;
}

/* Asks user-lookup, which runs as nobody. */
static bool look_up(struct hlp *h)
{
    static const struct hlp_user nobody = { .name = "nobody", .uid = 65534, .gid = 65534 };
    const struct hlp_program program = { .name = "user-lookup", .argument = h->req.user,
                                         .as = &nobody, .fds = { 2, -1, 2, -1, -1 },
                                         .net_namespace = -1, .status = EXE_STATUS_USER_LOOKUP };
    uint32_t answer[3 + HLP_GROUPS_MAX];
    size_t got;
    return hlp_run_program(&program, answer, sizeof(answer), &got) == 0 &&
           lookup_answer(answer, got, &h->user, h->nm_gid);
}

static size_t load(const char *path)
{
    return (size_t)hlp_read_trusted(path, accounts, sizeof(accounts), EXE_STATUS_USER_LOOKUP,
                            EXE_STATUS_USER_LOOKUP);
}

static bool listed(const struct hlp_list *l, const char *name)
{
    for (unsigned i = 0; i < l->n; i++)
        if (strcmp(l->v[i], name) == 0)
            return true;
    return false;
}

void hlp_job_user(struct hlp *h)
{
    struct hlp_user *u = &h->user;
    u->uid = u->gid = (uid_t)-1;
    size_t len = load("/etc/passwd");
    int r = hlp_passwd_find(accounts, len, h->req.user, u);
    if (r < 0)
        hlp_fail(EXE_STATUS_USER_LOOKUP, -r, h->req.user);
    const bool local = r == 1;
    if (!local) {
        memcpy(u->name, h->req.user, sizeof(u->name));
        if (!look_up(h))
            hlp_fail(EXE_STATUS_USER_UNKNOWN, 0, h->req.user);
    }
    bool system = listed(&h->cfg.allowed_system, u->name);
    if (u->uid == 0 || u->uid > HLP_ID_MAX || u->gid == 0 || u->gid > HLP_ID_MAX ||
        u->uid == h->nm.uid || u->uid == h->monitor.uid || u->uid == h->public.uid ||
        u->gid == h->nm_gid || (u->uid < h->cfg.min_uid && !system) ||
        (u->uid == 65534 && !system) || listed(&h->cfg.banned, u->name))
        hlp_fail(EXE_STATUS_USER_REFUSED, 0, u->name);
    /* Banned by id as well: an alias of a banned account is that account. */
    for (uint32_t i = 0; i < h->cfg.n_banned_ids; i++)
        if (h->cfg.banned_ids[i] == u->uid)
            hlp_fail(EXE_STATUS_USER_REFUSED, 0, u->name);
    len = load("/etc/group");
    if (local)
        hlp_group_members(accounts, len, u, h->nm_gid);
    else
        hlp_group_filter(accounts, len, u, h->nm_gid);
    if (hlp_group_refused(accounts, len, u->gid, h->nm_gid))
        hlp_fail(EXE_STATUS_USER_REFUSED, 0, u->name);
}
