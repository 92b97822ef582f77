/* See plan.h. */
#include "service/am/launch/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/arena.h"
#include "service/am/launch/placement.h"

#define PLAN_MAX ((size_t)256 << 20) /* bytes of a definition, twice, and what comes of it */

/* A number of the service or of a component, in milliseconds where it is one of seconds. */
struct number {
    enum svc_key key;
    int64_t unit;
    int64_t *to;
};

static int read_numbers(const struct number *list, size_t n, const struct svc_definition *d,
                        const struct svc_component *c, struct sv_conf *conf, struct sv_error *err)
{
    int64_t value;
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        r = svc_key_int(list[i].key, d, c, conf, &value, err);
        if (r == 0 && __builtin_mul_overflow(value, list[i].unit, list[i].to))
            *list[i].to = INT64_MAX;
    }
    return r;
}

static int read_limits(struct svc_plan *p, struct sv_conf *conf, struct sv_error *err)
{
    const struct number list[] = {
        { SVC_KEY_FAILURE_WINDOW_S, 1000, &p->limits.failure_window_ms },
        { SVC_KEY_RECOVERY_TIMEOUT_MS, 1, &p->limits.recovery_ms },
        { SVC_KEY_READINESS_INTERVAL_S, 1000, &p->check_interval_ms },
    };

    p->limits = (struct svc_limits)SVC_LIMITS_DEFAULT;
    p->port_range = svc_key_text(SVC_KEY_AM_PORT_RANGE, p->resolved, NULL, conf);
    return read_numbers(list, SV_ARRAY_LEN(list), p->resolved, NULL, conf, err);
}

static int read_options(const struct svc_plan *p, const struct svc_component *c,
                        struct sv_conf *conf, struct svc_options *o, struct sv_error *err)
{
    int64_t percent = -1;
    const struct number list[] = {
        { SVC_KEY_FAILURE_THRESHOLD, 1, &o->failure_threshold },
        { SVC_KEY_NODE_THRESHOLD, 1, &o->node_threshold },
        { SVC_KEY_HEALTH_PERCENT, 1, &percent },
        { SVC_KEY_HEALTH_WINDOW_S, 1000, &o->health_window_ms },
        { SVC_KEY_HEALTH_DELAY_S, 1000, &o->health_delay_ms },
    };
    int r;

    *o = (struct svc_options)SVC_OPTIONS_DEFAULT;
    r = read_numbers(list, SV_ARRAY_LEN(list), p->resolved, c, conf, err);
    if (r == 0)
        r = svc_key_bool(SVC_KEY_STATE_FOLLOWS_CONTAINER, p->resolved, c, conf, &o->dominant, err);
    o->health_percent = (int32_t)percent;
    return r;
}

static int read_retry(const struct svc_plan *p, const struct svc_component *c, struct sv_conf *conf,
                      struct cli_retry *ret, struct sv_error *err)
{
    int64_t max = 0, interval = 0, validity = 0;
    const struct number list[] = {
        { SVC_KEY_RETRY_MAX, 1, &max },
        { SVC_KEY_RETRY_INTERVAL_MS, 1, &interval },
        { SVC_KEY_RETRY_VALIDITY_MS, 1, &validity },
    };
    int r = read_numbers(list, SV_ARRAY_LEN(list), p->resolved, c, conf, err);

    /* Hadoop's master leaves the end of a program that is not restarted always to itself. */
    *ret = (struct cli_retry){
        .policy = c->restart == SVC_RESTART_NEVER ? CLI_RETRY_NEVER : CLI_RETRY_ALL,
        .max = (int32_t)SV_MAX(SV_MIN(max, INT32_MAX), -1),
        .interval_ms = (int32_t)SV_MIN(interval, INT32_MAX),
        .validity_ms = SV_MAX(validity, 0),
    };
    return r;
}

/* Components without a check have one of type DEFAULT, unless the key says otherwise. */
static int read_probe(const struct svc_plan *p, const struct svc_component *c, struct sv_conf *conf,
                      struct svc_probe *ret, struct sv_error *err)
{
    bool by_default = false;
    int r = svc_probe_of(&c->readiness, "readiness_check", ret, err);

    if (r == 0)
        r = svc_key_bool(SVC_KEY_DEFAULT_READINESS, p->resolved, c, conf, &by_default, err);
    if (r == 0 && ret->type == SVC_READY_NONE && by_default)
        ret->type = SVC_READY_DEFAULT;
    return r;
}

static int read_choice(enum svc_key k, const struct svc_plan *p, const struct svc_component *c,
                       struct sv_conf *conf, const char **ret, struct sv_error *err)
{
    unsigned i = 0;
    int r = svc_key_choice(k, p->resolved, c, conf, &i, err);

    *ret = i ? svc_key_row(k)->names[i] : "";
    return r;
}

static int read_sandbox(const struct svc_plan *p, const struct svc_component *c,
                        struct sv_conf *conf, struct svc_component_plan *to, struct sv_error *err)
{
    int64_t pids = 0;
    int r = read_choice(SVC_KEY_PROFILE, p, c, conf, &to->profile, err);

    if (r == 0)
        r = read_choice(SVC_KEY_NETWORK, p, c, conf, &to->network, err);
    if (r == 0)
        r = svc_key_int(SVC_KEY_PIDS_MAX, p->resolved, c, conf, &pids, err);
    to->pids_max = pids ? sv_arena_printf(p->arena, "%" PRId64, pids) : "";
    return r == 0 && !to->pids_max ? sv_error_errno(err, -ENOMEM, "component %s", c->name) : r;
}

static int plan_component(struct svc_plan *p, size_t i, struct sv_conf *conf, struct sv_error *err)
{
    const struct svc_component *c = &p->resolved->components[i];
    struct svc_component_plan *to = &p->components[i];
    int r = read_options(p, c, conf, &p->options[i], err);

    to->component = c;
    if (r == 0)
        r = read_retry(p, c, conf, &to->retry, err);
    if (r == 0)
        r = svc_key_bool(SVC_KEY_ALL_HOSTS, p->resolved, c, conf, &to->all_hosts, err);
    if (r == 0)
        r = read_sandbox(p, c, conf, to, err);
    if (r == 0)
        r = read_probe(p, c, conf, &to->probe, err);
    if (r == 0)
        r = svc_placement(c, p->arena, &to->constraint, err);
    to->sources = sv_newn(p->arena, struct svc_source, c->configuration.n_files + 1);
    if (r == 0 && !to->sources)
        r = sv_error_errno(err, -ENOMEM, "component %s", c->name);
    p->constrained |= to->constraint != NULL;
    p->http |= to->probe.type == SVC_READY_HTTP;
    return r < 0 ? sv_error_wrap(err, "component %s", c->name) : 0;
}

static int fill(struct svc_plan *p, const char *json, size_t len, struct sv_conf *conf,
                struct sv_error *err)
{
    int r = svc_definition_parse(json, len, SVC_HADOOP, p->arena, &p->stored, err);

    if (r == 0)
        r = svc_definition_parse(json, len, SVC_HADOOP, p->arena, &p->resolved, err);
    if (r == 0)
        r = svc_definition_resolve(p->resolved, p->arena, err);
    if (r == 0)
        r = read_limits(p, conf, err);
    if (r < 0)
        return r;
    p->options = sv_newn(p->arena, struct svc_options, p->resolved->n_components + 1);
    p->components = sv_newn(p->arena, struct svc_component_plan, p->resolved->n_components + 1);
    if (!p->options || !p->components)
        return sv_error_errno(err, -ENOMEM, "definition");
    for (size_t i = 0; r == 0 && i < p->resolved->n_components; i++)
        r = plan_component(p, i, conf, err);
    return r;
}

int svc_plan_new(const char *json, size_t len, struct sv_conf *conf, struct svc_plan **ret,
                 struct sv_error *err)
{
    struct svc_plan *p = calloc(1, sizeof(*p));
    int r;

    if (!p || !(p->arena = sv_arena_new(PLAN_MAX))) {
        free(p);
        return sv_error_errno(err, -ENOMEM, "definition");
    }
    r = fill(p, json, len, conf, err);
    if (r < 0) {
        svc_plan_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

struct svc_plan *svc_plan_free(struct svc_plan *p)
{
    if (!p)
        return NULL;
    for (size_t i = 0; p->components && i < p->resolved->n_components; i++)
        for (size_t j = 0;
             p->components[i].sources && j < p->components[i].component->configuration.n_files; j++)
            free(p->components[i].sources[j].bytes);
    sv_arena_free(p->arena);
    free(p);
    return NULL;
}

struct svc_component_plan *svc_plan_component(const struct svc_plan *p,
                                              const struct svc_component *c)
{
    ptrdiff_t i = c - p->resolved->components;

    return (uintptr_t)c >= (uintptr_t)p->resolved->components &&
                   (uintptr_t)c < (uintptr_t)(p->resolved->components + p->resolved->n_components)
               ? &p->components[i]
               : NULL;
}
