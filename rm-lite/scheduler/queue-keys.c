/* See queue-keys.h. The file is the operator's. */
#include "rm-lite/scheduler/queue-keys.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/scheduler/queue-key-table.h"
#include "rm-lite/scheduler/scheduler-impl.h"

#define CS "yarn.scheduler.capacity."

/* The queue with the longest path that, with a dot, is a prefix of the name. */
static struct rm_queue *owner(struct rm_queue *q, const char *name)
{
    size_t n = strlen(q->path);

    if (strncmp(q->path, name, n) != 0 || name[n] != '.')
        return NULL;
    for (size_t i = 0; i < q->n_children; i++) {
        struct rm_queue *hit = owner(q->children[i], name);

        if (hit)
            return hit;
    }
    return q;
}

static bool is_nothing(const struct rm_queue_key *k, const char *value)
{
    size_t n = strspn(value, " \t\r\n"), len = strlen(value + n);
    const char *v = value + n;

    while (len > 0 && strchr(" \t\r\n", v[len - 1]))
        len--;
    for (const char *p = k->nothing; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL) {
        size_t m = strcspn(p, "|");

        if (m == len && strncmp(p, v, m) == 0)
            return true;
    }
    return false;
}

struct walk { /* over the keys of a configuration */
    struct rm_queue *root;
    struct sv_error *err; /* for refusals, or: */
    void (*note)(const char *text, void *userdata);
    void *userdata;
};

static void say(const struct walk *w, const char *fmt, ...) _printf_(2, 3);
static void say(const struct walk *w, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    if (!w->note)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    w->note(text, w->userdata);
}

static int unknown(const struct walk *w, const char *name, const char *rest, bool of_queue)
{
    const char *meant = rm_queue_key_nearest(rest, of_queue);
    int len = (int)rm_queue_key_path(rest);

    if (len > 0) {
        say(w, "%s is ignored: there is no queue %.*s", name,
            (int)(rest - name) - (int)strlen(CS) + len, name + strlen(CS));
        return 0;
    }
    if (meant && !w->note)
        return sv_error_set(w->err, -EINVAL,
                            "%s is not a key of the CapacityScheduler; did you mean %.*s%s?", name,
                            (int)(rest - name), name, meant);
    say(w, "%s is ignored: it is not a key of the CapacityScheduler", name);
    return 0;
}

static int each(const char *name, const char *value, void *userdata)
{
    static const char *const verdict[] = {
        [RM_QUEUE_KEY_NO_MEANING] = "has no meaning here", [RM_QUEUE_KEY_IGNORED] = "is ignored"
    };
    const struct walk *w = userdata;
    const struct rm_queue_key *k;
    const struct rm_queue *q;
    const char *rest;

    if (!sv_has_prefix(name, CS))
        return 0;
    rest = name + strlen(CS);
    q = owner(w->root, rest);
    if (q)
        rest += strlen(q->path) + 1;
    k = rm_queue_key_find(rest, q != NULL);
    if (!k)
        return unknown(w, name, rest, q != NULL);
    if (k->use == RM_QUEUE_KEY_HONOURED || is_nothing(k, value))
        return 0;
    if (k->use != RM_QUEUE_KEY_REFUSED)
        say(w, "%s=%.100s %s: %s", name, value, verdict[k->use], k->why);
    else if (!w->note)
        return sv_error_set(w->err, -EOPNOTSUPP, "%s=%.100s is not supported: %s", name, value,
                            k->why);
    return 0;
}

int rm_queue_keys_check(struct sv_conf *conf, struct rm_queue *root, struct sv_error *err)
{
    struct walk w = { .root = root, .err = err };

    return sv_conf_each(conf, each, &w);
}

void rm_queue_keys_notes(struct sv_conf *conf, const struct rm_sched *s,
                         void (*note)(const char *text, void *userdata), void *userdata)
{
    struct walk w = { .root = s->root, .note = note, .userdata = userdata };

    int r = sv_conf_each(conf, each, &w);

    (void)r; /* 0: notes never fail, ignoring */
}
