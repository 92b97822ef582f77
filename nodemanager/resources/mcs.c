/* See mcs.h. Called on the loop only. The daemon wrote the rows of the store, but a disk may have
 * changed them: an invalid or duplicate number is an error at the start. */
#include "nodemanager/resources/mcs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <uthash.h>

#include "common/fd.h"
#include "common/log.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/store/state-store.h"

#define SWEEP 16 /* applications checked when a new one is assigned */

struct mcs_entry { /* a user's (owner "") or an application's */
    UT_hash_handle hh;
    uint32_t pair;
    char name[EXE_SUBMITTER_MAX + 1], owner[EXE_SUBMITTER_MAX + 1];
};

struct mcs_kind {
    struct mcs_entry *entries; /* uthash, oldest first */
    uint32_t next;             /* next pair to try: a released one is not reassigned immediately */
    uint8_t used[NM_MCS_PAIRS / 8];
};
_Static_assert(NM_MCS_PAIRS % 8 == 0, "every pair has its bit");

struct nm_mcs {
    struct nm_context *ctx;
    struct mcs_kind users, apps;
};

void nm_mcs_pair(uint32_t i, uint16_t ret[2])
{
    uint32_t high = 1;

    while (high * (high + 1) / 2 <= i)
        high++;
    ret[0] = (uint16_t)(i - high * (high - 1) / 2);
    ret[1] = (uint16_t)high;
}

static bool used(const struct mcs_kind *k, uint32_t pair)
{
    return k->used[pair / 8] >> (pair % 8) & 1;
}

static void mark(struct mcs_kind *k, uint32_t pair, bool taken)
{
    uint8_t bit = (uint8_t)(1u << (pair % 8));

    k->used[pair / 8] = (uint8_t)(taken ? k->used[pair / 8] | bit : k->used[pair / 8] & ~bit);
}

static int add(struct mcs_kind *k, const char *name, const char *owner, uint32_t pair)
{
    struct mcs_entry *e = calloc(1, sizeof(*e));

    if (!e)
        return -ENOMEM;
    (void)snprintf(e->name, sizeof(e->name), "%s", name);
    (void)snprintf(e->owner, sizeof(e->owner), "%s", owner);
    e->pair = pair;
    mark(k, pair, true);
    HASH_ADD_STR(k->entries, name, e);
    return 0;
}

static struct mcs_entry *find(const struct mcs_kind *k, const char *name)
{
    struct mcs_entry *e = NULL;

    HASH_FIND_STR(k->entries, name, e);
    return e;
}

static bool fits(const char *name, const char *owner)
{
    return strlen(name) <= EXE_SUBMITTER_MAX && strlen(owner) <= EXE_SUBMITTER_MAX;
}

static int recover_one(const char *name, const char *owner, int64_t pair, void *userdata)
{
    struct nm_mcs *m = userdata;
    struct mcs_kind *k = *owner ? &m->apps : &m->users;

    if (!fits(name, owner) || pair < 0 || pair >= NM_MCS_PAIRS || used(k, (uint32_t)pair) ||
        find(k, name))
        return -EBADMSG;
    return add(k, name, owner, (uint32_t)pair);
}

int nm_mcs_new(struct nm_context *ctx, struct nm_mcs **ret, struct sv_error *err)
{
    uint32_t start[2];
    struct nm_mcs *m;
    int r;

    if (!ctx->conf->selinux_labels)
        return 0;
    m = calloc(1, sizeof(*m));
    if (!m || getrandom(start, sizeof(start), 0) != sizeof(start)) {
        free(m);
        return sv_error_errno(err, -ENOMEM, "SELinux categories");
    }
    m->ctx = ctx;
    /* A random start makes reuse of a pair from an earlier, lost store unlikely. */
    m->users.next = start[0] % NM_MCS_PAIRS;
    m->apps.next = start[1] % NM_MCS_PAIRS;
    r = nm_store_each_mcs(ctx->store, recover_one, m);
    if (r < 0) {
        nm_mcs_free(m);
        return sv_error_errno(err, r, "state store: SELinux categories");
    }
    sv_log_info("SELinux labels: restored categories of %u users and %u applications",
                HASH_COUNT(m->users.entries), HASH_COUNT(m->apps.entries));
    *ret = m;
    return 0;
}

static void drop(struct mcs_kind *k, struct mcs_entry *e)
{
    mark(k, e->pair, false);
    HASH_DEL(k->entries, e);
    free(e);
}

struct nm_mcs *nm_mcs_free(struct nm_mcs *m)
{
    if (!m)
        return NULL;
    while (m->users.entries)
        drop(&m->users, m->users.entries);
    while (m->apps.entries)
        drop(&m->apps, m->apps.entries);
    free(m);
    return NULL;
}

/* Only ENOENT proves absence. */
static bool absent(const char *top, bool good, const char *path)
{
    _cleanup_close_ int dir = good && top ? open(top, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    _cleanup_close_ int fd = dir >= 0 ? sv_open_beneath(dir, path, O_PATH | O_NOFOLLOW, 0) : -EIO;

    return fd == -ENOENT;
}

static bool no_file_left(const struct nm_mcs *m, const struct mcs_entry *e)
{
    const struct nm_dirs *d = m->ctx->dirs;
    char path[2 * EXE_SUBMITTER_MAX + 32];

    (void)snprintf(path, sizeof(path), "usercache/%s/appcache/%s", e->owner, e->name);
    for (int i = 0; i < nm_dirs_n_local(d); i++)
        if (!absent(nm_dirs_local(d, i), nm_dirs_local_mask(d) >> i & 1, path))
            return false;
    for (int i = 0; i < nm_dirs_n_log(d); i++)
        if (!absent(nm_dirs_log(d, i), nm_dirs_log_mask(d) >> i & 1, e->name))
            return false;
    return true;
}

/* Checks the oldest applications first: those still present move to the end of the list. */
static void sweep(struct nm_mcs *m)
{
    unsigned n = HASH_COUNT(m->apps.entries);

    for (unsigned i = 0; i < n && i < SWEEP; i++) {
        struct mcs_entry *e = m->apps.entries;

        if (nm_app_find(m->ctx, e->name) || !no_file_left(m, e)) {
            HASH_DEL(m->apps.entries, e);
            HASH_ADD_STR(m->apps.entries, name, e);
        } else if (nm_store_mcs_remove(m->ctx->store, e->name) >= 0) {
            drop(&m->apps, e);
        }
    }
}

static int pair_of(struct nm_mcs *m, struct mcs_kind *k, const char *name, const char *owner,
                   uint32_t *ret)
{
    struct mcs_entry *e = find(k, name);
    int r;

    if (e) {
        *ret = e->pair;
        return 0;
    }
    if (!fits(name, owner))
        return -EINVAL;
    for (uint32_t n = 0; n < NM_MCS_PAIRS; n++) {
        uint32_t i = (k->next + n) % NM_MCS_PAIRS;

        if (used(k, i))
            continue;
        /* Committed before a label can be on a disk. */
        r = nm_store_mcs(m->ctx->store, name, owner, i);
        if (r >= 0)
            r = nm_store_commit(m->ctx->store);
        if (r >= 0)
            r = add(k, name, owner, i);
        if (r < 0)
            return r;
        k->next = (i + 1) % NM_MCS_PAIRS;
        *ret = i;
        return 0;
    }
    return -ENOSPC;
}

int nm_mcs_assign(struct nm_mcs *m, struct nm_app *a, struct sv_error *err)
{
    uint32_t user, app;
    int r;

    if (!m)
        return 0;
    if (!find(&m->apps, a->text))
        sweep(m);
    r = pair_of(m, &m->users, a->user, "", &user);
    if (r >= 0)
        r = pair_of(m, &m->apps, a->text, a->user, &app);
    if (r == -ENOSPC)
        return sv_error_set(
            err, r,
            "SELinux categories: every pair is taken; those of ended applications come "
            "back when their directories are gone (usercache/*/appcache, log-dirs)");
    if (r < 0)
        return sv_error_errno(err, r, "SELinux categories");
    nm_mcs_pair(user, a->categories);
    nm_mcs_pair(app, a->categories + 2);
    a->categories[2] = (uint16_t)(a->categories[2] + EXE_CATEGORY_MAX / 2);
    a->categories[3] = (uint16_t)(a->categories[3] + EXE_CATEGORY_MAX / 2);
    return 0;
}
