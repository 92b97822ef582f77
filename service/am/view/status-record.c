/* See status-record.h. */
#include "service/am/view/status-record.h"

#include <inttypes.h>

#include "service/am/view/json-write.h"

/* `c` may be NULL. */
static int put(struct sv_buf *b, struct yarn_container_id container, const char *instance,
               const char *bare_host, const char *state, const struct svc_container *c)
{
    char id[YARN_ID_TEXT_MAX];
    int r = sv_buf_put_str(b, "{\"id\":");

    if (r == 0)
        r = svc_json_text(b, yarn_container_id_text(container, id));
    if (r == 0 && c && c->started_ms)
        r = svc_json_number(b, "launch_time", c->started_ms);
    if (r == 0 && c)
        r = svc_json_member(b, "ip", c->ip);
    if (r == 0 && c)
        r = svc_json_member(b, "hostname", c->host);
    if (r == 0)
        r = svc_json_member(b, "bare_host", bare_host);
    if (r == 0)
        r = svc_json_member(b, "state", state);
    if (r == 0)
        r = svc_json_member(b, "component_instance_name", instance);
    if (r == 0 && c && c->localized) {
        r = sv_buf_put_str(b, ",\"localization_statuses\":");
        if (r == 0)
            r = sv_buf_put_str(b, c->localized);
    }
    return r < 0 ? r : sv_buf_put_u8(b, '}');
}

int svc_record_container(struct sv_buf *b, const struct svc_instance_view *v,
                         const struct svc_container *c)
{
    return put(b, v->container, v->name, v->host, svc_instance_state_text(v), c);
}

int svc_record_ended(struct sv_buf *b, const struct svc_instance_view *v,
                     const struct svc_container *ended)
{
    return put(b, ended->id, v->name, ended->node.host, ended->succeeded ? "SUCCEEDED" : "FAILED",
               ended);
}
