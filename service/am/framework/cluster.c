/* Asks the ResourceManager as clients do: for the application's containers, of which a task's can
 * be missing or one can be no task's, and for the nodes, among which requests for GPUs choose.
 * Asked as the framework's user: with Kerberos by the token that selvedge-services gave the
 * application. */
#include <errno.h>
#include <string.h>

#include "client/lib/client.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/oom.h"
#include "service/am/framework/master-internal.h"

#define EXPIRY_KEY "yarn.nm.liveness-monitor.expiry-interval-ms"
#define RESYNC_ROUNDS 6
#define RESYNC_SPARE_MS 60000
#define NODES_MS 60000
#define FIRST_MS 100

static void again(sd_event_source *timer, int64_t ms)
{
    (void)sd_event_source_set_time_relative(timer, (uint64_t)ms * 1000);
    (void)sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT); /* exists, ignoring */
}

/* Logs the first failure of several, and the first answer afterwards. */
static void note_outcome(struct svc_fwm *m, int status, const struct sv_error *err)
{
    if (status < 0 && !m->lists_fail)
        sv_log_warning("lists of containers and nodes are refused or late: %s",
                       err && err->code ? err->text : strerror(-status));
    else if (status >= 0 && m->lists_fail)
        sv_log_info("lists of containers and nodes are answered again");
    m->lists_fail = status < 0;
}

/* ---- Containers ---- */

static void end_list(struct svc_fwm *m, bool complete)
{
    m->listing = 0;
    svc_fw_list_end(m->engine, sv_now_ms(), complete);
    m->operate(m);
}

static bool is_own(const struct cli_container_report *c)
{
    const char *own = getenv("CONTAINER_ID");
    struct yarn_container_id id;

    return own && yarn_container_id_parse(own, &id) == 0 && yarn_container_id_cmp(c->id, id) == 0;
}

static void on_containers(int status, const struct cli_container_report *list, size_t n,
                          const struct sv_error *err, void *userdata);

/* Kept containers are their first attempt's, by our ResourceManager, and the present one's by
 * Apache's: each is taken from the list of the attempt in its id. */
static void list_next(struct svc_fwm *m)
{
    struct yarn_attempt_id a = cli_am_attempt(m->yarn);

    a.attempt = m->listing;
    if (cli_rm_containers(m->rm, a, on_containers, m) < 0)
        end_list(m, false);
}

/* A list without the master's own container is of something else. */
static void on_containers(int status, const struct cli_container_report *list, size_t n,
                          const struct sv_error *err, void *userdata)
{
    struct svc_fwm *m = userdata;

    if (status == -ECANCELED || m->ending)
        return;
    note_outcome(m, status, err);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        m->list_own |= is_own(&list[i]);
        if (list[i].id.attempt.attempt == m->listing && strcmp(list[i].state, "COMPLETE") != 0 &&
            !is_own(&list[i]))
            svc_fw_listed(m->engine, sv_now_ms(), &list[i].id, 1);
    }
    if (status < 0 || m->listing == cli_am_attempt(m->yarn).attempt) {
        end_list(m, status >= 0 && m->list_own);
        return;
    }
    m->listing++;
    list_next(m);
}

static int on_resync(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_fwm *m = userdata;

    (void)usec;
    again(s, m->resync_ms);
    if (!m->registered || m->ending || m->listing)
        return 0;
    m->listing = 1;
    m->list_own = false;
    svc_fw_listed(m->engine, sv_now_ms(), NULL, 0); /* it begins, and may stay empty */
    list_next(m);
    return 0;
}

/* ---- Nodes ---- */

static void report(struct svc_fwm *m, const struct cli_node_report *n)
{
    const struct svc_place_report r = {
        .host = n->id.host,
        .total = { .memory_mb = n->capability.memory_mb,
                   .cpus = n->capability.vcores,
                   .gpus = { .n = n->capability.gpus } },
        .used = { .memory_mb = n->used.memory_mb,
                  .cpus = n->used.vcores,
                  .gpus = { .n = n->used.gpus } },
    };

    svc_places_report(m->places, &r);
}

/* Allocated containers are in this list: they need no claim of ours any longer. */
static void take_nodes(struct svc_fwm *m, const struct cli_node_report *nodes, size_t n)
{
    if (!m->places)
        m->places = svc_places_new();
    for (size_t i = 0; i < n; i++)
        report(m, &nodes[i]);
    for (size_t i = 0; i < m->n_answered; i++)
        svc_places_settle(m->places, m->answered[i], false);
    m->n_answered = 0;
}

static void on_nodes(int status, const struct cli_node_report *nodes, size_t n,
                     const struct sv_error *err, void *userdata)
{
    struct svc_fwm *m = userdata;

    m->asking_nodes = false;
    m->nodes_asked = true;
    if (status == -ECANCELED)
        return;
    note_outcome(m, status, err);
    if (status >= 0) /* else the last list counts on */
        take_nodes(m, nodes, n);
    if (!m->start_waits || m->ending)
        return;
    m->start_waits = false;
    svc_engine_start(m->engine, sv_now_ms());
    m->operate(m);
}

static int on_nodes_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_fwm *m = userdata;

    (void)usec;
    again(s, NODES_MS);
    if (m->ending || m->asking_nodes)
        return 0;
    m->asking_nodes = cli_rm_nodes(m->rm, false, on_nodes, m) >= 0;
    if (!m->asking_nodes)
        on_nodes(-EIO, NULL, 0, NULL, m);
    return 0;
}

void svc_fwm_cluster_start(struct svc_fwm *m)
{
    if (m->nodes_timer && !m->nodes_asked)
        m->start_waits = true;
    else
        svc_engine_start(m->engine, sv_now_ms());
}

static const char *type_of(void *userdata, const char *host)
{
    const struct svc_fwm *m = userdata;
    const json_t *nodes = json_object_get(m->cluster, "nodes");

    return json_string_value(json_object_get(json_object_get(nodes, host), "gpuType"));
}

int svc_fwm_choose(struct svc_fwm *m, int64_t request, const struct svc_fw_role *role,
                   struct svc_place_choice *ret, struct sv_error *err)
{
    const char *label = role->label ? role->label : m->spec->label;
    const json_t *nodes = json_object_get(m->cluster, "nodes");
    struct svc_place_wish w = {
        .resource = &role->resource,
        .gpu_types = role->gpu_type ? role->gpu_type : m->spec->gpu_type,
        .type_of = json_is_object(nodes) ? type_of : NULL,
        .userdata = m,
        .skip_tried = m->spec->skip_tried,
        .min_port = 1,
        .tasks = role->tasks,
        .factor = 2,
        .random = { (uint64_t)sv_now_ms(), (uint64_t)request },
    };
    int r;

    *ret = (struct svc_place_choice){ 0 };
    if (!m->places || role->resource.gpus == 0 || (label && *label))
        return 0;
    r = svc_places_choose(m->places, &w, ret, err);
    if (r == -EAGAIN && !role->resource.gpu_mask)
        return 0; /* its ports are picked where it is given, and hosts of its type are asked for */
    if (r == 0 && ret->host)
        svc_places_claim(m->places, request, &role->resource, ret);
    return r;
}

/* ---- Life ---- */

static bool wants_gpus(const struct svc_fw_descriptor *d)
{
    for (size_t i = 0; i < d->n_roles; i++)
        if (d->roles[i].resource.gpus > 0)
            return true;
    return false;
}

static int new_timer(struct svc_fwm *m, int64_t ms, sd_event_time_handler_t handler,
                     sd_event_source **ret)
{
    return sd_event_add_time_relative(m->event, ret, CLOCK_MONOTONIC, (uint64_t)ms * 1000, 1000,
                                      handler, m);
}

/* With Kerberos by a token alone: a ticket that happens to be on the node is not the master's. */
static bool may_ask(const struct svc_fwm *m)
{
    const char *authentication = sv_conf_raw(m->conf, "hadoop.security.authentication");

    return m->tokens.of_rm || !authentication || strcasecmp(authentication, "kerberos") != 0;
}

int svc_fwm_cluster_new(struct svc_fwm *m, struct sv_error *err)
{
    static const struct sv_conf_key expiry = { EXPIRY_KEY, SV_CONF_DURATION, "600000",
                                               1000,       86400000,         1,
                                               "" };
    int64_t expiry_ms;
    int r;

    if (!may_ask(m)) {
        sv_log_info("without a token of the ResourceManager no lists of containers and nodes");
        return 0;
    }
    r = sv_conf_duration_ms(m->conf, &expiry, &expiry_ms, err);
    if (r >= 0)
        r = cli_rm_new(m->event, m->conf, m->options->user, &m->rm, err);
    if (r < 0)
        return r;
    m->resync_ms = (expiry_ms + RESYNC_SPARE_MS) / RESYNC_ROUNDS;
    r = new_timer(m, m->resync_ms, on_resync, &m->resync_timer);
    if (r >= 0 && wants_gpus(m->spec))
        r = new_timer(m, FIRST_MS, on_nodes_time, &m->nodes_timer);
    return r < 0 ? sv_error_errno(err, r, "ResourceManager") : 0;
}

void svc_fwm_cluster_free(struct svc_fwm *m)
{
    sd_event_source_disable_unref(m->resync_timer);
    sd_event_source_disable_unref(m->nodes_timer);
    cli_rm_free(m->rm);
    svc_places_free(m->places);
    free(m->answered);
}
