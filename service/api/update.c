/* PUT of a service: the operation that the state of the body names. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "service/api/call.h"

/* "2026-11-28T13:26:56.000+0000" */
static const char *time_text(struct svc_call *c, int64_t wall_ms)
{
    time_t s = (time_t)(wall_ms / 1000);
    struct tm tm;
    char text[40], zone[8];

    if (!localtime_r(&s, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) ||
        !strftime(zone, sizeof(zone), "%z", &tm))
        return "?";
    return sv_arena_printf(c->arena, "%s.%03d%s", text, (int)(wall_ms % 1000), zone);
}

int svc_op_lifetime(struct svc_call *c, int64_t seconds)
{
    json_t *stored;
    struct yarn_app_id id;
    const char *until;
    int r = svc_check_name(c, c->service);

    if (r == 0)
        r = svc_load(c, c->service, &stored);
    if (r < 0)
        return r;
    r = svc_id_of(c, stored, &id);
    json_decref(stored);
    if (r < 0)
        return r;
    if (r == 0)
        return svc_fail(c, SVC_FAIL_YARN, "Application ID not found for %s", c->service);
    if (seconds > INT32_MAX)
        return svc_fail(c, SVC_FAIL_ARGUMENT, "lifetime: %" PRId64 ": at most %d seconds", seconds,
                        INT32_MAX);
    r = c->b->set_lifetime(c->b->userdata, id, seconds, &c->err);
    if (r < 0)
        return svc_fail_of(c, r);
    until = time_text(c, sv_wall_ms() + seconds * 1000);
    return svc_say(c, 200, NULL,
                   sv_arena_printf(c->arena,
                                   "Service (%s)'s lifeTime is updated to %s, %" PRId64
                                   " seconds remaining",
                                   c->service, until, seconds),
                   NULL);
}

static bool decommissions(const json_t *body)
{
    json_t *one;
    size_t i;

    json_array_foreach(svc_components(body), i, one)
    {
        if (json_array_size(json_object_get(one, "decommissioned_instances")) > 0)
            return true;
    }
    return false;
}

static const struct {
    const char *state;
    int (*op)(struct svc_call *c); /* NULL: an upgrade */
} states[] = {
    { "FLEX", svc_op_flex },
    { "STOPPED", svc_op_stop },
    { "STARTED", svc_op_start },
    { "UPGRADING", NULL },
    { "UPGRADING_AUTO_FINALIZE", NULL },
    { "EXPRESS_UPGRADING", NULL },
    { "CANCEL_UPGRADING", svc_op_cancel_upgrade },
};

/* States that ask for nothing: a body may be an answer of before. */
static bool is_other_state(const char *state)
{
    static const char *const names[] = { "ACCEPTED", "STABLE", "FAILED", "SUCCEEDED" };

    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++)
        if (strcmp(state, names[i]) == 0)
            return true;
    return false;
}

int svc_op_update(struct svc_call *c)
{
    const char *state = svc_text(c->body, "state");
    const json_t *lifetime = json_object_get(c->body, "lifetime");

    /* the path says which service */
    if (json_object_set_new(c->body, "name", json_string(c->service)) < 0)
        return svc_fail(c, SVC_FAIL_ARGUMENT, "Name can not be empty!");
    for (size_t i = 0; state && i < SV_ARRAY_LEN(states); i++)
        if (strcmp(state, states[i].state) == 0)
            return states[i].op ? states[i].op(c) : svc_op_upgrade(c, state);
    if (state && !is_other_state(state))
        return svc_fail(c, SVC_FAIL_JSON, "state: \"%.60s\": no state of a service", state);
    if (json_integer_value(lifetime) > 0)
        return svc_op_lifetime(c, json_integer_value(lifetime));
    if (decommissions(c->body))
        return svc_op_decommission(c);
    c->ret->status = 204;
    return 0;
}
