/* See status-record.h. */
#include "service/am/status-record.h"

#include <inttypes.h>

#include "service/am/json-write.h"

static int put_additional(struct sv_buf *b, const char *name, const char *unit, int64_t value,
                          bool *first)
{
    int r = *first ? 0 : sv_buf_put_u8(b, ',');

    *first = false;
    if (r == 0)
        r = svc_json_text(b, name);
    if (r == 0)
        r = sv_buf_printf(b, ":{\"value\":%" PRId64 ",\"unit\":\"%s\"}", value, unit);
    return r;
}

static int put_resource(struct sv_buf *b, const struct yarn_resource *res)
{
    const struct yarn_types *types = yarn_types();
    bool first = true;
    int r = sv_buf_printf(
        b, ",\"resource\":{\"cpus\":%" PRId32 ",\"memory\":\"%" PRId64 "\",\"additional\":{",
        res->vcores, res->memory_mb);

    if (r == 0 && res->gpus > 0)
        r = put_additional(b, YARN_GPU, "", res->gpus, &first);
    for (size_t i = 0; r == 0 && i < types->n; i++)
        if (res->extra[i] > 0)
            r = put_additional(b, types->types[i].name, types->types[i].unit, res->extra[i],
                               &first);
    return r < 0 ? r : sv_buf_put(b, "}}", 2);
}

static int put_artifact(struct sv_buf *b, const struct svc_artifact *a)
{
    int r;

    if (a->type == SVC_ARTIFACT_NONE)
        return 0;
    r = sv_buf_put_str(b, ",\"artifact\":{\"type\":");
    if (r == 0)
        r = svc_json_text(b, a->type == SVC_ARTIFACT_TARBALL ? "TARBALL" : "SERVICE");
    if (r == 0)
        r = svc_json_member(b, "id", a->id);
    if (r == 0)
        r = svc_json_member(b, "uri", a->uri);
    return r < 0 ? r : sv_buf_put_u8(b, '}');
}

int svc_record_container(struct sv_buf *b, const struct svc_instance_view *v,
                         const struct svc_container *c)
{
    char id[YARN_ID_TEXT_MAX];
    int r = sv_buf_put_str(b, "{\"id\":");

    if (r == 0)
        r = svc_json_text(b, yarn_container_id_text(v->container, id));
    if (r == 0 && c && c->started_ms)
        r = svc_json_number(b, "launch_time", c->started_ms);
    if (r == 0 && c)
        r = svc_json_member(b, "ip", c->ip);
    if (r == 0 && c)
        r = svc_json_member(b, "hostname", c->host);
    if (r == 0)
        r = svc_json_member(b, "bare_host", v->host);
    if (r == 0)
        r = svc_json_member(b, "state", svc_instance_state_text(v));
    if (r == 0)
        r = svc_json_member(b, "component_instance_name", v->name);
    if (r == 0)
        r = put_resource(b, c ? &c->resource : &v->component->resource);
    if (r == 0)
        r = put_artifact(b, &v->component->artifact);
    return r < 0 ? r : sv_buf_put_u8(b, '}');
}
