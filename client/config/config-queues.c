/* See config-queues.h. */
#include "client/config/config-queues.h"

#include <stdio.h>
#include <string.h>

#include "common/edit-distance.h"
#include "common/str.h"

#define CS "yarn.scheduler.capacity."
#define ANY_QUEUE "QUEUE"
#define PATH_MAX_LENGTH 400
#define NAME_MISTAKES 2 /* letters */

/* Returns the list of queues below the one whose path is the first `len` bytes; NULL: none, or the
 * path is too long. */
static const char *queues_below(struct sv_conf *conf, const char *path, size_t len)
{
    char name[sizeof(CS) + PATH_MAX_LENGTH + sizeof(".queues")];
    const char *list;

    if (len > PATH_MAX_LENGTH)
        return NULL;
    (void)snprintf(name, sizeof(name), CS "%.*s.queues", (int)len, path);
    list = sv_conf_raw(conf, name);
    return !list && len == strlen("root") ? "default" : list;
}

/* Returns the next name of a comma-separated list, trimmed. */
static const char *next_name(const char **list, size_t *ret_len)
{
    const char *begin = *list + strspn(*list, " \t\r\n,");
    size_t n = strcspn(begin, ",");

    *list = begin + n;
    while (n > 0 && strchr(" \t\r\n", begin[n - 1]))
        n--;
    *ret_len = n;
    return n > 0 ? begin : NULL;
}

static bool lists(const char *list, const char *name, size_t len)
{
    const char *one;
    size_t n;

    while (list && (one = next_name(&list, &n)))
        if (n == len && strncmp(one, name, n) == 0)
            return true;
    return false;
}

/* Returns the name of the list most similar to `name`, or NULL. */
static const char *similar(const char *list, const char *name, size_t len, size_t *ret_len)
{
    char wanted[SV_EDIT_NAME_MAX + 1], known[SV_EDIT_NAME_MAX + 1];
    size_t best = NAME_MISTAKES + 1, n, d;
    const char *hit = NULL, *one;

    if (len >= sizeof(wanted))
        return NULL;
    (void)snprintf(wanted, sizeof(wanted), "%.*s", (int)len, name);
    while (list && (one = next_name(&list, &n))) {
        if (n >= sizeof(known))
            continue;
        (void)snprintf(known, sizeof(known), "%.*s", (int)n, one);
        d = sv_edit_distance(wanted, known);
        if (d < best) {
            best = d;
            hit = one;
            *ret_len = n;
        }
    }
    return hit;
}

/* Returns the length of the longest queue path, in the tree configured in `conf`, that `rest`
 * begins with; 0: a key of the whole scheduler. */
static size_t owner(struct sv_conf *conf, const char *rest)
{
    size_t len = strlen("root");

    if (!sv_has_prefix(rest, "root."))
        return 0;
    for (;;) {
        const char *child = rest + len + 1;
        size_t n = strcspn(child, ".");

        if (!child[n] || !lists(queues_below(conf, rest, len), child, n))
            return len;
        len += 1 + n;
    }
}

static void describe(struct cli_queue_key *k)
{
    const struct rm_queue_key *row = k->row;

    if (row->use == RM_QUEUE_KEY_HONOURED)
        (void)snprintf(k->meaning, sizeof(k->meaning), "%s", row->help ? row->help : "");
    else if (row->use == RM_QUEUE_KEY_REFUSED && row->nothing)
        (void)snprintf(k->meaning, sizeof(k->meaning),
                       "selvedge-rm refuses it unless it is \"%s\": %s", row->nothing, row->why);
    else
        (void)snprintf(k->meaning, sizeof(k->meaning), "%s: %s", rm_queue_key_word(row->use),
                       row->why);
}

/* Looks up `rest`, a key after a queue path of `len` bytes; 0: of the scheduler. */
static void look_up(const char *rest, size_t len, struct cli_queue_key *ret)
{
    const char *key = rest + (len ? len + 1 : 0), *nearest;

    ret->row = rm_queue_key_find(key, len > 0);
    if (ret->row) {
        describe(ret);
        return;
    }
    (void)snprintf(ret->meaning, sizeof(ret->meaning), "not a key of the CapacityScheduler");
    nearest = rm_queue_key_nearest(key, len > 0);
    if (nearest)
        (void)snprintf(ret->nearest, sizeof(ret->nearest), CS "%.*s%s", (int)(key - rest), rest,
                       nearest);
}

/* Looks up a key of a queue that does not exist: `rest` begins with the path of an existing queue,
 * `known` bytes, followed by `len` bytes of names not below it. */
static void look_up_absent(struct sv_conf *conf, const char *rest, size_t known, size_t len,
                           struct cli_queue_key *ret)
{
    const char *name = rest + (known ? known + 1 : 0), *child;
    size_t n = strcspn(name, "."), m = 0;

    look_up(rest, (size_t)(name - rest) + len, ret);
    ret->no_queue = true;
    (void)snprintf(ret->meaning, sizeof(ret->meaning), "ignored: there is no queue %.*s",
                   (int)((size_t)(name - rest) + len), rest);
    child = known ? similar(queues_below(conf, rest, known), name, n, &m) : NULL;
    if (child)
        (void)snprintf(ret->nearest, sizeof(ret->nearest), CS "%.*s%.*s%s", (int)(name - rest),
                       rest, (int)m, child, name + n);
}

bool cli_config_queue_key(struct sv_conf *conf, const char *name, struct cli_queue_key *ret)
{
    const char *rest = name + strlen(CS);
    size_t known, absent;

    if (!sv_has_prefix(name, CS))
        return false;
    *ret = (struct cli_queue_key){ 0 };
    known = sv_has_prefix(rest, ANY_QUEUE ".") ? strlen(ANY_QUEUE) : owner(conf, rest);
    look_up(rest, known, ret);
    if (ret->row)
        return true;
    absent = rm_queue_key_path(rest + (known ? known + 1 : 0));
    if (absent > 0)
        look_up_absent(conf, rest, known, absent, ret);
    return true;
}
