/* The table of CapacitySchedulerConfiguration's keys; see queue-keys.h. Called by queue-conf.c and,
 * for the notes, by scheduling.c. The file is the operator's. docs/operate/capacity-scheduler.md
 * lists the rows; test-queue-keys compares. */
#include "rm-lite/queue-keys.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/edit-distance.h"
#include "common/str.h"
#include "rm-lite/scheduler-impl.h"

#define CS "yarn.scheduler.capacity."

#define LABELS "there are no node labels"
#define MAPPING "write queue-mappings instead"
#define AUTO "queues are those of the file"
#define LOOP "one thread allocates on heartbeats and on asks"
#define PLAN "there are no reservations in time"

static const struct rm_queue_key keys[] = {
    /* of the whole scheduler */
    { "resource-calculator", false, NULL, RM_KEY_HONOURED, NULL },
    { "maximum-applications", false, NULL, RM_KEY_HONOURED, NULL },
    { "global-queue-max-application", false, NULL, RM_KEY_HONOURED, NULL },
    { "maximum-am-resource-percent", false, NULL, RM_KEY_HONOURED, NULL },
    { "minimum-user-limit-percent", false, NULL, RM_KEY_HONOURED, NULL },
    { "user-limit-factor", false, NULL, RM_KEY_HONOURED, NULL },
    { "node-locality-delay", false, NULL, RM_KEY_HONOURED, NULL },
    { "rack-locality-additional-delay", false, NULL, RM_KEY_HONOURED, NULL },
    { "rack-locality-full-reset", false, NULL, RM_KEY_HONOURED, NULL },
    { "reservations-continue-look-all-nodes", false, NULL, RM_KEY_HONOURED, NULL },
    { "per-node-heartbeat.maximum-offswitch-assignments", false, NULL, RM_KEY_HONOURED, NULL },
    { "per-node-heartbeat.multiple-assignments-enabled", false, NULL, RM_KEY_HONOURED, NULL },
    { "per-node-heartbeat.maximum-container-assignments", false, NULL, RM_KEY_HONOURED, NULL },
    { "max-parallel-apps", false, NULL, RM_KEY_HONOURED, NULL },
    { "user.max-parallel-apps", false, NULL, RM_KEY_HONOURED, NULL },
    { "user.", false, NULL, RM_KEY_HONOURED, NULL },
    { "legacy-queue-mode.enabled", false, "true", RM_KEY_REFUSED,
      "the children of a queue have capacities of one kind" },
    { "queue-mappings", false, NULL, RM_KEY_HONOURED, NULL },
    { "queue-mappings-override.enable", false, NULL, RM_KEY_HONOURED, NULL },
    { "mapping-rule-format", false, "legacy", RM_KEY_REFUSED, MAPPING },
    { "mapping-rule-json", false, "", RM_KEY_REFUSED, MAPPING },
    { "mapping-rule-json-file", false, "", RM_KEY_REFUSED, MAPPING },
    { "workflow-priority-mappings", false, "", RM_KEY_IGNORED,
      "applications have the priority that they name" },
    { "workflow-priority-mappings-override.enable", false, "false", RM_KEY_IGNORED,
      "applications have the priority that they name" },
    { "schedule-asynchronously.", false, NULL, RM_KEY_NO_MEANING, LOOP },
    { "application.fail-fast", false, "false", RM_KEY_NO_MEANING,
      "an application whose queue is gone after a restart fails alone" },
    { "user-metrics.enable", false, "false", RM_KEY_NO_MEANING, "there are no metrics of users" },
    { "queue.auto.refresh.monitoring-interval", false, NULL, RM_KEY_NO_MEANING,
      "the file is read at the start and by refreshQueues" },
    { "lazy-preemption-enabled", false, "false", RM_KEY_IGNORED,
      "a container is killed when its time is over, whether its room is used or not" },
    { "skip-allocate-on-nodes-with-reserved-containers", false, NULL, RM_KEY_NO_MEANING, LOOP },
    { "ordering-policy.priority-utilization.", false, NULL, RM_KEY_NO_MEANING,
      "containers are preempted for guarantees, not for priorities of queues" },
    { "multi-node-placement-enabled", false, "false", RM_KEY_IGNORED,
      "nodes are taken in the order of their heartbeats" },
    { "multi-node-sorting.", false, NULL, RM_KEY_IGNORED,
      "nodes are taken in the order of their heartbeats" },
    { "auto-queue-creation-v2.queue-expiration-time", false, NULL, RM_KEY_NO_MEANING, AUTO },
    /* of a queue */
    { "queues", true, NULL, RM_KEY_HONOURED, NULL },
    { "capacity", true, NULL, RM_KEY_HONOURED, NULL },
    { "maximum-capacity", true, NULL, RM_KEY_HONOURED, NULL },
    { "allow-zero-capacity-sum", true, NULL, RM_KEY_HONOURED, NULL },
    { "state", true, NULL, RM_KEY_HONOURED, NULL },
    { "priority", true, NULL, RM_KEY_HONOURED, NULL },
    { "ordering-policy", true, NULL, RM_KEY_HONOURED, NULL },
    { "minimum-user-limit-percent", true, NULL, RM_KEY_HONOURED, NULL },
    { "user-limit-factor", true, NULL, RM_KEY_HONOURED, NULL },
    { "maximum-am-resource-percent", true, NULL, RM_KEY_HONOURED, NULL },
    { "maximum-applications", true, NULL, RM_KEY_HONOURED, NULL },
    { "maximum-allocation-mb", true, NULL, RM_KEY_HONOURED, NULL },
    { "maximum-allocation-vcores", true, NULL, RM_KEY_HONOURED, NULL },
    { "default-application-priority", true, NULL, RM_KEY_HONOURED, NULL },
    { "acl_submit_applications", true, NULL, RM_KEY_HONOURED, NULL },
    { "acl_administer_queue", true, NULL, RM_KEY_HONOURED, NULL },
    { "acl_application_max_priority", true, "*", RM_KEY_IGNORED,
      "yarn.cluster.max-application-priority alone bounds priorities" },
    { "acl_administer_reservations", true, NULL, RM_KEY_NO_MEANING, PLAN },
    { "acl_list_reservations", true, NULL, RM_KEY_NO_MEANING, PLAN },
    { "acl_submit_reservations", true, NULL, RM_KEY_NO_MEANING, PLAN },
    { "maximum-allocation", true, NULL, RM_KEY_HONOURED, NULL },
    { "min-resource", true, NULL, RM_KEY_REFUSED, "write capacity=[memory=...,vcores=...]" },
    { "max-resource", true, NULL, RM_KEY_REFUSED,
      "write maximum-capacity=[memory=...,vcores=...]" },
    { "max-parallel-apps", true, NULL, RM_KEY_HONOURED, NULL },
    { "user-settings.", true, NULL, RM_KEY_HONOURED, NULL },
    { "ordering-policy.fair.enable-size-based-weight", true, NULL, RM_KEY_HONOURED, NULL },
    { "ordering-policy.", true, NULL, RM_KEY_NO_MEANING, LABELS },
    { "accessible-node-labels", true, "*|", RM_KEY_NO_MEANING, LABELS },
    { "accessible-node-labels.", true, NULL, RM_KEY_NO_MEANING, LABELS },
    { "default-node-label-expression", true, "", RM_KEY_IGNORED, LABELS },
    { "maximum-application-lifetime", true, NULL, RM_KEY_HONOURED, NULL },
    { "default-application-lifetime", true, NULL, RM_KEY_HONOURED, NULL },
    { "disable_preemption", true, NULL, RM_KEY_HONOURED, NULL },
    { "intra-queue-preemption.disable_preemption", true, NULL, RM_KEY_HONOURED, NULL },
    { "auto-create-child-queue.enabled", true, "false", RM_KEY_REFUSED, AUTO },
    { "auto-create-child-queue.", true, NULL, RM_KEY_NO_MEANING, AUTO },
    { "auto-queue-creation-v2.enabled", true, "false", RM_KEY_REFUSED, AUTO },
    { "auto-queue-creation-v2.", true, NULL, RM_KEY_NO_MEANING, AUTO },
    { "leaf-queue-template.", true, NULL, RM_KEY_NO_MEANING, AUTO },
    { "multi-node-sorting.policy", true, NULL, RM_KEY_IGNORED,
      "nodes are taken in the order of their heartbeats" },
    { "reservable", true, "false", RM_KEY_REFUSED, PLAN },
    { "reservation-", true, NULL, RM_KEY_NO_MEANING, PLAN },
    { "show-reservations-as-queues", true, "false", RM_KEY_NO_MEANING, PLAN },
    { "average-capacity", true, NULL, RM_KEY_NO_MEANING, PLAN },
    { "instantaneous-max-capacity", true, NULL, RM_KEY_NO_MEANING, PLAN },
};

const struct rm_queue_key *rm_queue_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static const struct rm_queue_key *key_find(const char *name, bool of_queue)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++) {
        size_t n = strlen(keys[i].name);
        bool whole = keys[i].name[n - 1] != '.' && keys[i].name[n - 1] != '-';

        if (keys[i].of_queue == of_queue &&
            (whole ? sv_streq(keys[i].name, name) : strncmp(keys[i].name, name, n) == 0))
            return &keys[i];
    }
    return NULL;
}

/* The known name that is meant: two letters of ten may be wrong, three at most. */
static const char *nearest(const char *name, bool of_queue)
{
    size_t best = SV_MIN(strlen(name) / 5, (size_t)3) + 1;
    const char *hit = NULL;

    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++) {
        size_t d;

        if (keys[i].of_queue != of_queue || keys[i].name[strlen(keys[i].name) - 1] == '.')
            continue;
        d = sv_edit_distance(name, keys[i].name);
        if (d < best) {
            best = d;
            hit = keys[i].name;
        }
    }
    return hit;
}

/* The queue whose path, with a dot, the name begins with: the longest. */
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

/* The beginning of a name that ends in a queue's key: a queue that is not in the tree. */
static bool foreign_queue(const char *rest, int *ret_len)
{
    for (const char *dot = strchr(rest, '.'); dot; dot = strchr(dot + 1, '.'))
        if (key_find(dot + 1, true)) {
            *ret_len = (int)(dot - rest);
            return true;
        }
    return false;
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
    struct sv_error *err; /* refusals, or: */
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
    const char *meant = nearest(rest, of_queue);
    int len;

    if (foreign_queue(rest, &len)) {
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
        [RM_KEY_NO_MEANING] = "has no meaning here", [RM_KEY_IGNORED] = "is ignored"
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
    k = key_find(rest, q != NULL);
    if (!k)
        return unknown(w, name, rest, q != NULL);
    if (k->use == RM_KEY_HONOURED || is_nothing(k, value))
        return 0;
    if (k->use != RM_KEY_REFUSED)
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
