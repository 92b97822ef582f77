/* Hosts on which the ResourceManager is to place no container of this attempt. */
#include <errno.h>
#include <string.h>

#include "client/lib/am-internal.h"

#define NAMES_AT_ONCE 5000 /* of one request: a ResourceManager of ours takes 10,000 */

static void mark(struct cli_am *am, struct am_name *n)
{
    if (!n->dirty)
        DL_APPEND(am->dirty_names, n);
    n->dirty = true;
}

static void unmark(struct cli_am *am, struct am_name *n)
{
    DL_DELETE(am->dirty_names, n);
    n->dirty = false;
}

int cli_am_blacklist(struct cli_am *am, const char *host, bool on)
{
    size_t len = strlen(host);
    struct am_name *n;

    if (len == 0 || len >= sizeof(((struct yarn_node_id *)NULL)->host) || strcmp(host, "*") == 0)
        return -EINVAL;
    HASH_FIND_STR(am->names, host, n);
    if (n ? n->on == on : !on)
        return 0;
    if (!n) {
        n = calloc(1, sizeof(*n) + len + 1);
        if (!n)
            return -ENOMEM;
        memcpy(n->text, host, len);
        HASH_ADD_STR(am->names, text, n);
    }
    n->on = on;
    mark(am, n);
    cli_am_wake_soon(am);
    return 0;
}

int cli_am_add_blacklist(struct cli_am *am, struct sv_arena *a,
                         Hadoop__Yarn__AllocateRequestProto *m)
{
    Hadoop__Yarn__ResourceBlacklistRequestProto *b;
    struct am_name *n;
    size_t count;

    if (!am->dirty_names)
        return 0;
    b = sv_new(a, Hadoop__Yarn__ResourceBlacklistRequestProto);
    if (!b)
        return -ENOMEM;
    hadoop__yarn__resource_blacklist_request_proto__init(b);
    DL_COUNT(am->dirty_names, n, count);
    count = SV_MIN(count, (size_t)NAMES_AT_ONCE);
    b->blacklist_additions = sv_newn(a, char *, count);
    b->blacklist_removals = sv_newn(a, char *, count);
    if (!b->blacklist_additions || !b->blacklist_removals)
        return -ENOMEM;
    DL_FOREACH (am->dirty_names, n) {
        char *copy = sv_arena_strdup(a, n->text);

        if (!copy)
            return -ENOMEM;
        if (n->on)
            b->blacklist_additions[b->n_blacklist_additions++] = copy;
        else
            b->blacklist_removals[b->n_blacklist_removals++] = copy;
        if (--count == 0)
            break;
    }
    m->blacklist_request = b;
    return 0;
}

static void forget(struct cli_am *am, struct am_name *n)
{
    if (n->dirty)
        unmark(am, n);
    HASH_DEL(am->names, n);
    free(n);
}

void cli_am_blacklist_taken(struct cli_am *am)
{
    struct am_name *n, *tmp;
    size_t left = NAMES_AT_ONCE;

    DL_FOREACH_SAFE (am->dirty_names, n, tmp) {
        if (n->on)
            unmark(am, n);
        else
            forget(am, n);
        if (--left == 0)
            break;
    }
}

void cli_am_blacklist_again(struct cli_am *am)
{
    struct am_name *n, *tmp;

    HASH_ITER (hh, am->names, n, tmp) {
        if (n->on)
            mark(am, n);
        else
            forget(am, n);
    }
}

void cli_am_blacklist_free(struct cli_am *am)
{
    struct am_name *n, *tmp;

    HASH_ITER (hh, am->names, n, tmp)
        forget(am, n);
}
