/* See master.h. The order of the start: the descriptor, then the greeting; begin.c goes on with its
 * answer. */
#include "service/am/framework/master.h"

#include <errno.h>
#include <string.h>

#include "client/lib/am-server.h"
#include "common/str.h"
#include "service/am/framework/master-internal.h"
#include "wire/ipc/proxy.h"

#define HEARTBEAT_MS 500

static const struct sv_conf_key port_range = {
    "selvedge.framework.port-range",
    SV_CONF_STRING,
    "20000-29999",
    0,
    0,
    0,
    "Ports of tasks of frameworks that ask for any, first-last: the master picks those that no "
    "task of its framework has on the host, and one that another program has ends the task as "
    "-7103, for another try."
};

/* ---- Start ---- */

/* The member "descriptor" of an object that has one, as text; malloc'd. Takes the text. */
static char *inner(char *json, size_t len)
{
    json_t *tree = json_loadb(json, len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *d = json_object_get(tree, "descriptor");
    char *text = json;

    if (d) {
        free(json);
        text = json_dumps(d, JSON_COMPACT);
    }
    json_decref(tree);
    return text;
}

static int read_spec(struct svc_fwm *m, struct sv_error *err)
{
    _cleanup_free_ char *json = NULL, *violations = NULL;
    size_t len;
    int r = svc_files_read(m->files, svc_files_definition(m->files), 2 * SVC_FW_JSON_MAX, &json,
                           &len, err);

    if (r < 0)
        return r;
    json = inner(SV_TAKE(json), len);
    m->spec_arena = sv_arena_new(0);
    r = m->spec_arena && json
            ? svc_fw_parse(json, strlen(json), true, m->spec_arena, &m->spec, &violations)
            : -ENOMEM;
    if (r == -EINVAL)
        return sv_error_set(err, r, "%s: %s", m->options->yarnfile, violations);
    return r < 0 ? sv_error_errno(err, r, "%s", m->options->yarnfile) : 0;
}

static int read_ports(struct svc_fwm *m, struct sv_error *err)
{
    const char *range = NULL;
    uint16_t first, last;
    int r = sv_conf_string(m->conf, &port_range, &range, err);

    if (r < 0)
        return r;
    if (cli_port_range_parse(range, &first, &last) < 0)
        return sv_error_set(err, -EINVAL, "%s: \"%.64s\": \"first-last\", of 1 to 65535",
                            port_range.name, range);
    r = svc_ports_new(first, last, &m->ports);
    return r < 0 ? sv_error_errno(err, r, "ports") : 0;
}

static int open_yarn(struct svc_fwm *m, struct sv_error *err)
{
    struct cli_server schedulers[CLI_SERVERS_MAX];
    struct cli_am_config cfg = { .schedulers = schedulers,
                                 .heartbeat_ms = HEARTBEAT_MS,
                                 .max_wait_ms = -1,
                                 .ops = &svc_fwm_yarn_ops,
                                 .userdata = m };
    struct ipc_proxy_config rm;
    struct yarn_attempt_id attempt;
    const uint8_t *tokens;
    size_t len;
    int r = yarn_rm_proxy_config(m->conf, YARN_RM_SCHEDULER, &rm, err);

    for (size_t i = 0; r == 0 && i < rm.n_servers && i < CLI_SERVERS_MAX; i++) {
        schedulers[i] = (struct cli_server){ rm.servers[i].host, rm.servers[i].port };
        cfg.n_schedulers++;
    }
    if (r == 0)
        r = cli_am_new(m->event, &cfg, &m->yarn, err);
    if (r < 0)
        return r;
    tokens = cli_am_tokens(m->yarn, &len);
    r = svc_job_tokens_read(tokens, len, &m->tokens, err);
    if (r < 0)
        return r;
    attempt = cli_am_attempt(m->yarn);
    (void)yarn_app_id_text(attempt.app, m->application);
    (void)yarn_attempt_id_text(attempt, m->attempt);
    return 0;
}

static int open_link(struct svc_fwm *m, struct sv_error *err)
{
    const char *token = getenv(SVC_FW_ENV_TOKEN);
    const struct svc_link_config cfg = {
        .launcher = m->launcher,
        .framework = m->options->name,
        .application = m->application,
        .token = token,
        .version = m->spec->version,
        .attempt = cli_am_attempt(m->yarn).attempt,
        .ops = &svc_fwm_link_ops,
        .userdata = m,
    };

    if (!token)
        return sv_error_set(err, -ENOKEY,
                            SVC_FW_ENV_TOKEN
                            " is not set: this program is started by selvedge-services");
    return svc_link_new(m->event, &cfg, &m->link, err);
}

static int start(struct svc_fwm *m, struct sv_error *err)
{
    int r;

    m->progress = -1;
    m->launcher = getenv(SVC_FW_ENV_LINK);
    if (!m->launcher)
        return sv_error_set(err, -ENOKEY,
                            SVC_FW_ENV_LINK
                            " is not set: this program is started by selvedge-services");
    r = svc_files_open(m->conf, m->options->yarnfile, m->options->user, &m->files, err);
    if (r == 0)
        r = read_spec(m, err);
    if (r == 0)
        r = read_ports(m, err);
    if (r == 0)
        r = open_yarn(m, err);
    if (r == 0 && (r = svc_fwm_operate_new(m)) < 0)
        (void)sv_error_errno(err, r, "master");
    if (r >= 0 && (r = svc_work_new(m->event, m->files, m->conf, &m->work)) < 0)
        (void)sv_error_errno(err, r, "master");
    if (r < 0)
        return r;
    m->files = NULL; /* the worker's */
    return open_link(m, err);
}

/* ---- Life ---- */

int svc_fwm_new(sd_event *event, const struct svc_fwm_options *options, struct sv_conf *conf,
                struct svc_fwm **ret, struct sv_error *err)
{
    struct svc_fwm *m = calloc(1, sizeof(*m));
    int r;

    if (!m)
        return sv_error_errno(err, -ENOMEM, "master");
    m->event = sd_event_ref(event);
    m->options = options;
    m->conf = conf;
    r = start(m, err);
    if (r < 0) {
        svc_fwm_free(m);
        return r;
    }
    *ret = m;
    return 0;
}

static void free_sources(struct svc_fwm *m)
{
    sd_event_source_disable_unref(m->engine_timer);
    sd_event_source_disable_unref(m->end_timer);
    sd_event_source_disable_unref(m->publish_timer);
    sd_event_source_disable_unref(m->publish_turn);
    sd_event_source_disable_unref(m->turn);
}

struct svc_fwm *svc_fwm_free(struct svc_fwm *m)
{
    struct svc_fwm_released *p, *next;

    if (!m)
        return NULL;
    svc_link_free(m->link);
    svc_work_free(m->work);
    svc_files_close(m->files);
    svc_fwm_tasks_clear(m);
    svc_fwm_cluster_free(m);
    svc_fwm_avoid_free(m);
    for (p = m->released; p; p = next) {
        next = p->next;
        free(p->why);
        free(p);
    }
    cli_am_free(m->yarn);
    svc_engine_free(m->engine);
    svc_fw_exits_free(m->exits);
    svc_ports_free(m->ports);
    svc_job_tokens_free(&m->tokens);
    free_sources(m);
    svc_shared_text_unref(m->addresses);
    sv_buf_free(&m->info);
    json_decref(m->cluster);
    sv_arena_free(m->arena);
    sv_arena_free(m->spec_arena);
    free(m->final_text);
    sd_event_unref(m->event);
    free(m);
    return NULL;
}
