/* States of the files of started containers, as their nodes tell them: shown in the status, as by
 * Hadoop's master. Components without files are not asked about. Hostile: nodes' texts, which are
 * containers' users'. */
#include <errno.h>
#include <string.h>

#include "common/loop-guard.h"
#include "service/am/master-internal.h"
#include "service/am/view/json-write.h"

#define ASK_MS 1000
#define OPEN_MAX 64                /* queries at a time */
#define TRIES 300                  /* of a container whose files take long */
#define ONE_MAX ((size_t)64 << 10) /* bytes of the states of one container */

static int put_one(struct sv_buf *b, const struct cli_localized *one, bool first)
{
    int r = sv_buf_put_str(b, first ? "{\"dest_file\":" : ",{\"dest_file\":");

    if (r == 0)
        r = svc_json_text(b, one->key);
    if (r == 0)
        r = svc_json_member(b, "state", one->state);
    if (r == 0)
        r = svc_json_member(b, "diagnostics", one->diagnostics);
    return r < 0 ? r : sv_buf_put_u8(b, '}');
}

/* The definition's files alone, as with Hadoop's master. NULL: more than a status shows of one
 * container. */
static char *json_of(const struct cli_localized *list, size_t n)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(ONE_MAX);
    int r = sv_buf_put_u8(&b, '[');

    for (size_t i = 0; r == 0 && i < n; i++)
        if (strcmp(list[i].key, SVC_HOSTS_FILE) != 0)
            r = put_one(&b, &list[i], b.len == 1);
    if (r == 0)
        r = sv_buf_put(&b, "]", 2); /* with the NUL */
    svc_master_need(r);
    return r < 0 ? NULL : (char *)SV_TAKE(b.data);
}

static void arm(struct svc_master *m, uint64_t ms)
{
    (void)sd_event_source_set_time_relative(m->localized_timer, ms * 1000); /* exists, ignoring */
    (void)sd_event_source_set_enabled(m->localized_timer, SD_EVENT_ONESHOT);
}

static void on_states(struct cli_am *yarn, struct yarn_container_id id, int status,
                      const struct cli_localized *list, size_t n, const struct sv_error *err,
                      void *userdata)
{
    struct svc_master *m = userdata;
    struct svc_container *c = svc_containers_find(&m->containers, id);
    bool pending = false;

    (void)yarn;
    (void)err;
    if (status == -ECANCELED)
        return; /* the master ends */
    if (m->localized_open-- == OPEN_MAX / 2)
        arm(m, 0); /* others may wait */
    if (c)
        c->localized_open = false;
    if (c && status == -EREMOTEIO)
        c->localizing = 0; /* a node that does not know the call */
    if (!c || status < 0 || n == 0)
        return; /* the next turn calls the node again, ignoring */
    for (size_t i = 0; i < n; i++)
        pending |= list[i].pending;
    if (!pending)
        c->localizing = 0;
    svc_containers_localized(&m->containers, c, json_of(list, n));
    svc_status_changed(m->status);
}

static void ask(struct svc_master *m, struct svc_container *c)
{
    c->localizing--;
    if (cli_am_localized(m->yarn, c->id, on_states, m) < 0)
        return; /* the next turn calls it again */
    c->localized_open = true;
    m->localized_open++;
}

static int on_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_master *m = userdata;
    bool more = false;

    (void)s;
    (void)usec;
    for (struct svc_container *c = m->containers.table; c; c = c->hh.next) {
        if (!c->localizing)
            continue;
        more = true;
        if (m->localized_open >= OPEN_MAX)
            break;
        if (!c->localized_open)
            ask(m, c);
    }
    if (more)
        arm(m, ASK_MS);
    return 0;
}

void svc_master_localized(struct svc_master *m, struct yarn_container_id id)
{
    struct svc_container *c = svc_containers_find(&m->containers, id);
    struct svc_instance_view v;

    if (!c || svc_engine_find_container(m->engine, id, &v) < 0 ||
        (v.component->configuration.n_files == 0 &&
         v.component->artifact.type != SVC_ARTIFACT_TARBALL))
        return;
    c->localizing = TRIES;
    arm(m, 0);
}

int svc_master_localized_new(struct svc_master *m)
{
    int r = sd_event_add_time_relative(m->event, &m->localized_timer, CLOCK_MONOTONIC, 0, 1000,
                                       on_time, m);

    return r < 0 ? r : sd_event_source_set_enabled(m->localized_timer, SD_EVENT_OFF);
}
