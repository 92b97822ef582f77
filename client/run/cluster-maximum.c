/* See cluster-maximum.h. */
#include "client/run/cluster-maximum.h"

#include <errno.h>
#include <jansson.h>

#include "client/core/rm-rest.h"
#include "common/str.h"

#define CONF "/conf?name=yarn.scheduler.maximum-allocation-"
#define NUMBER_MAX (INT64_C(1) << 40)

struct cli_maximum {
    struct cli_ctx *ctx;
    cli_maximum_fn fn; /* NULL: cancelled */
    void *userdata;
    struct yarn_resource found;
};

/* Apache's numbers are texts. */
static int64_t number(const json_t *v)
{
    int64_t n;

    if (json_is_integer(v))
        n = json_integer_value(v);
    else if (!json_is_string(v) || sv_parse_i64(json_string_value(v), 0, NUMBER_MAX, &n) < 0)
        return 0;
    return n > 0 && n <= NUMBER_MAX ? n : 0;
}

struct yarn_resource cli_maximum_of_overview(const char *body, size_t len)
{
    json_t *root = json_loadb(body, len, 0, NULL);
    const json_t *most = json_object_get(root, "maximumAllocation");
    struct yarn_resource r = { .memory_mb = number(json_object_get(most, "memory")) };

    r.vcores = (int32_t)SV_MIN(number(json_object_get(most, "vCores")), (int64_t)INT32_MAX);
    json_decref(root);
    return r;
}

int64_t cli_maximum_of_conf(const char *body, size_t len)
{
    json_t *root = json_loadb(body, len, 0, NULL);
    int64_t n = number(json_object_get(json_object_get(root, "property"), "value"));

    json_decref(root);
    return n;
}

static void done(struct cli_maximum *m, int status)
{
    if (m->fn)
        m->fn(status == -ECANCELED ? status : 0, m->found, m->userdata);
    free(m);
}

static void on_vcores(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct cli_maximum *m = userdata;

    (void)why;
    if (status == 200)
        m->found.vcores = (int32_t)SV_MIN(cli_maximum_of_conf(body, len), (int64_t)INT32_MAX);
    done(m, status);
}

static void on_memory(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct cli_maximum *m = userdata;

    (void)why;
    if (status == 200)
        m->found.memory_mb = cli_maximum_of_conf(body, len);
    if (status < 0 || !m->fn || cli_rm_rest_get(m->ctx, CONF "vcores", on_vcores, m) < 0)
        done(m, status);
}

static void on_overview(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct cli_maximum *m = userdata;

    (void)why;
    if (status == 200)
        m->found = cli_maximum_of_overview(body, len);
    if (status < 0 || !m->fn || m->found.memory_mb > 0 ||
        cli_rm_rest_get(m->ctx, CONF "mb", on_memory, m) < 0)
        done(m, status);
}

int cli_maximum_ask(struct cli_ctx *ctx, cli_maximum_fn fn, void *userdata,
                    struct cli_maximum **ret)
{
    struct cli_maximum *m = malloc(sizeof(*m));
    int r;

    if (!m)
        return -ENOMEM;
    *m = (struct cli_maximum){ .ctx = ctx, .fn = fn, .userdata = userdata };
    r = cli_rm_rest_get(ctx, "scheduler-overview", on_overview, m);
    if (r < 0)
        free(m);
    else
        *ret = m;
    return r;
}

void cli_maximum_forget(struct cli_maximum *m)
{
    if (m)
        m->fn = NULL;
}
