/* queue-mappings: assignment of a user's or group's applications to queues. The file is the
 * operator's; users and the queues that they name are hostile. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define KEY "yarn.scheduler.capacity.queue-mappings"
#define ANY_USER "%user"
#define PRIMARY "%primary_group"
#define SECONDARY "%secondary_group"
#define DOT "_dot_" /* replaces a dot, which a queue's name cannot contain */
#define SECONDARY_TRIED 64

/* A configured queue without variables must exist, and so must the parent of one with them. */
static bool queue_exists(struct rm_queue *root, const char *queue)
{
    const char *variable = strchr(queue, '%');
    _cleanup_free_ char *parent = NULL;
    const struct rm_queue *q;

    if (!variable) {
        q = rm_queue_find(root, queue);
        return q && rm_queue_leaf(q);
    }
    if (variable == queue)
        return true;
    parent = strndup(queue, (size_t)(variable - queue) - 1);
    q = parent ? rm_queue_find(root, parent) : NULL;
    return variable[-1] == '.' && q && !rm_queue_leaf(q);
}

static int parse_one(struct rm_queue *root, const char *text, struct rm_mapping **tail,
                     struct sv_error *err)
{
    const char *who = text[0] && text[1] == ':' ? text + 2 : "", *queue = strchr(who, ':');
    struct rm_mapping *m;

    if ((text[0] != 'u' && text[0] != 'g') || !queue || queue == who || !queue[1] ||
        strchr(queue + 1, ':'))
        return sv_error_set(err, -EINVAL,
                            KEY ": \"%.200s\" is neither u:USER:QUEUE nor g:GROUP:QUEUE", text);
    if (!queue_exists(root, queue + 1))
        return sv_error_set(err, -EINVAL,
                            KEY ": \"%.200s\": there is no such leaf queue, or no such parent of a "
                                "queue with %%user or a group; write its full path",
                            text);
    m = calloc(1, sizeof(*m));
    if (!m)
        return -ENOMEM;
    m->by_group = text[0] == 'g';
    m->who = strndup(who, (size_t)(queue - who));
    m->queue = strdup(queue + 1);
    if (!m->who || !m->queue) {
        rm_mappings_free(m);
        return -ENOMEM;
    }
    if (*tail)
        (*tail)->next = m;
    else
        root->mappings = m;
    *tail = m;
    return 0;
}

int rm_mappings_parse(struct sv_conf *conf, struct rm_queue *root, struct sv_error *err)
{
    const char *text = sv_conf_raw(conf, KEY);
    _cleanup_strv_ char **parts = NULL;
    struct rm_mapping *tail = NULL;
    int r = 0;

    if (!text)
        return 0;
    if (sv_strv_split(text, ',', &parts) < 0)
        return -ENOMEM;
    for (char **p = parts; p && *p && r >= 0; p++)
        r = parse_one(root, *p, &tail, err);
    return r;
}

/* A dot in a name would add a level. */
static int add_name(char *dst, size_t size, const char *name)
{
    size_t n = strlen(dst);

    for (; *name && n + sizeof(DOT) < size; name++)
        n += (size_t)snprintf(dst + n, size - n, *name == '.' ? DOT : "%c", *name);
    return *name ? -ENAMETOOLONG : 0;
}

/* Expands the queue's variables; NULL: there is no such leaf. */
static const struct rm_queue *expand(const struct rm_sched *s, const char *queue,
                                     const struct rm_submitter *who, const char *secondary)
{
    const struct {
        const char *name, *value;
    } variables[] = { { ANY_USER, who->user },
                      { PRIMARY, who->primary },
                      { SECONDARY, secondary } };
    const struct rm_queue *q;
    char path[1024] = "";

    while (*queue) {
        size_t n = strcspn(queue, "%"), len = strlen(path), i;

        if (len + n >= sizeof(path))
            return NULL;
        memcpy(path + len, queue, n);
        path[len + n] = 0;
        queue += n;
        if (!*queue)
            break;
        for (i = 0; i < SV_ARRAY_LEN(variables); i++)
            if (sv_has_prefix(queue, variables[i].name))
                break;
        if (i == SV_ARRAY_LEN(variables) || !variables[i].value ||
            add_name(path, sizeof(path), variables[i].value) < 0)
            return NULL;
        queue += strlen(variables[i].name);
    }
    q = rm_queue_find(s->root, path);
    return q && rm_queue_leaf(q) ? q : NULL;
}

static bool in_group(const struct rm_submitter *who, const char *group)
{
    for (char *const *g = who->groups; *g; g++)
        if (sv_streq(*g, group))
            return true;
    return false;
}

static const struct rm_queue *target(const struct rm_sched *s, const struct rm_mapping *m,
                                     const struct rm_submitter *who)
{
    int tried = 0;

    if (!strstr(m->queue, SECONDARY))
        return expand(s, m->queue, who, NULL);
    for (char *const *g = who->groups; *g && tried < SECONDARY_TRIED; g++) {
        const struct rm_queue *q;

        if (sv_streq(*g, who->primary))
            continue;
        q = expand(s, m->queue, who, *g);
        if (q)
            return q;
        tried++;
    }
    return NULL;
}

static bool needs_groups(const struct rm_mapping *m)
{
    return m->by_group || strstr(m->queue, PRIMARY) || strstr(m->queue, SECONDARY);
}

static bool is_default(const char *queue)
{
    return !queue || !*queue || sv_streq(queue, "default") || sv_streq(queue, "root.default");
}

bool rm_sched_maps_groups(const struct rm_sched *s)
{
    const struct rm_mapping *m;

    LL_FOREACH (s->root->mappings, m)
        if (needs_groups(m))
            return true;
    return false;
}

int rm_sched_place(const struct rm_sched *s, const char *queue, const struct rm_submitter *who,
                   const char **ret)
{
    const struct rm_mapping *m;

    *ret = queue;
    if (!is_default(queue) && !s->set.override_mappings)
        return 0;
    LL_FOREACH (s->root->mappings, m) {
        const struct rm_queue *q;

        if (!m->by_group && !sv_streq(m->who, ANY_USER) && !sv_streq(m->who, who->user))
            continue;
        if (needs_groups(m) && !who->groups)
            return -EAGAIN;
        if (m->by_group && !in_group(who, m->who))
            continue;
        q = target(s, m, who);
        if (!q)
            continue; /* no such queue: the next one, as in Hadoop */
        *ret = q->path;
        return 0;
    }
    return 0;
}
