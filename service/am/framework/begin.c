/* The greeting was answered: the engine goes on with what the attempt before told, then the master
 * registers. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/oom.h"
#include "common/str.h"
#include "service/am/framework/master-internal.h"

#define TURN_TASKS 256 /* of 50,000: the longest input takes 4 ms */

static int make_engine(struct svc_fwm *m, struct sv_error *err)
{
    struct svc_fw_setup framework = {
        .descriptor = m->spec,
        .exits = m->exits,
        .times = SVC_FW_TIMES_DEFAULT,
        .wall_ms = sv_wall_ms() - sv_now_ms(),
    };
    struct svc_setup setup = { .policy = &svc_framework_policy, .framework = &framework };
    struct svc_definition *d;
    struct svc_options *options;
    int r;

    m->arena = sv_arena_new(0);
    if (!m->arena)
        sv_out_of_memory();
    r = svc_fw_definition(m->spec, m->arena, &d, &options, err);
    if (r < 0)
        return r;
    setup.definition = d;
    setup.options = options;
    setup.limits = (struct svc_limits)SVC_LIMITS_DEFAULT;
    setup.limits.turn = TURN_TASKS;
    if (getrandom(&setup.seed, sizeof(setup.seed), 0) != sizeof(setup.seed))
        setup.seed = 1; /* a seed of times alone, ignoring */
    return svc_engine_new(&setup, &m->engine, err);
}

/* A list as JSON is YAML. */
static int take_exits(struct svc_fwm *m, const json_t *list, struct sv_error *err)
{
    _cleanup_free_ char *text = NULL;
    int r;

    if (!list)
        return 0;
    text = json_dumps(list, JSON_COMPACT);
    if (!text)
        sv_out_of_memory();
    r = svc_fw_exits_parse(text, strlen(text), &m->exits, err);
    return r < 0 ? sv_error_wrap(err, "exitSpec") : 0;
}

/* "HOST:PORT" of a log's URL, as view.c makes it; malloc'd. */
static char *node_of(const char *log_url)
{
    static const char http[] = "http://";
    const char *from =
        log_url && strncmp(log_url, http, strlen(http)) == 0 ? log_url + strlen(http) : "";
    char *node = strndup(from, strcspn(from, "/"));

    if (!node)
        sv_out_of_memory();
    return node;
}

static void restore_facts(struct svc_fwm *m, struct svc_fwm_container *c,
                          const struct svc_fw_task *t)
{
    (void)snprintf(c->ip, sizeof(c->ip), "%s", t->ip ? t->ip : "");
    free(c->http);
    c->http = node_of(t->log_url);
    if (!t->ports || svc_ports_adopt(m->ports, c->node.host, t->ports) < 0)
        return;
    free(c->ports);
    c->ports = strdup(t->ports);
    if (!c->ports)
        sv_out_of_memory();
}

/* The facts of a container that the engine does not keep. */
static void restore_container(struct svc_fwm *m, size_t role, const struct svc_fw_task *t)
{
    struct svc_fwm_container *c;
    struct yarn_container_id id;
    struct yarn_node_id node = { .port = 0 };

    if (!t->container || yarn_container_id_parse(t->container, &id) < 0)
        return;
    (void)snprintf(node.host, sizeof(node.host), "%s", t->host ? t->host : "");
    c = svc_fwm_container_add(m, id, &node, "");
    if (!c)
        return; /* a task before has it */
    if (sv_asprintf(&c->instance, "role%zu-%d", role, (int)t->index) < 0)
        sv_out_of_memory();
    restore_facts(m, c, t);
    if (t->state == SVC_FW_TASK_COMPLETED)
        svc_fwm_container_end(m, c);
}

/* The launcher has a task that was removed since. */
static void tell_removed(struct svc_fwm *m, size_t role, int32_t index)
{
    char instance[48];

    (void)snprintf(instance, sizeof(instance), "role%zu-%d", role, (int)index);
    svc_fwm_changed(m, instance);
}

static void restore_task(struct svc_fwm *m, size_t role, const struct svc_fw_task *t)
{
    struct sv_error err = { 0 };
    int r = svc_fw_restore(m->engine, sv_now_ms(), role, t, NULL, &err);

    svc_fwm_need(r);
    if (r == 0)
        restore_container(m, role, t);
    else if (r == -ERANGE)
        tell_removed(m, role, t->index);
    else
        sv_log_warning("task %d of %s, of the attempt before: %s", (int)t->index,
                       m->spec->roles[role].name, err.text);
}

static void restore(struct svc_fwm *m, const struct svc_answer_role *told)
{
    const struct svc_fw_role *role = svc_fw_role_named(m->spec, told->name);

    for (size_t i = 0; role && i < told->n; i++)
        restore_task(m, (size_t)(role - m->spec->roles), &told->tasks[i]);
}

int svc_fwm_begin(struct svc_fwm *m, const struct svc_answer *a, struct sv_error *err)
{
    int r = take_exits(m, a->exits, err);

    if (r >= 0)
        r = make_engine(m, err);

    if (r < 0)
        return sv_error_wrap(err, "framework %s", m->options->name);
    m->begun = true;
    for (size_t i = 0; i < a->n_roles; i++)
        restore(m, &a->roles[i]);
    /* Operations on restored containers wait until the ResourceManager has listed these:
     * the library knows none before. */
    r = svc_fwm_cluster_new(m, err);
    if (r < 0)
        return r;
    r = cli_am_register(m->yarn, m->options->host, -1, "");
    if (r >= 0)
        r = svc_fwm_publish_new(m);
    return r < 0 ? sv_error_errno(err, r, "registration") : 0;
}
