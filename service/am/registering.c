/* Records of the service and its instances in YARN's registry, with the contents of Hadoop's
 * master; its own record has endpoints besides, by which Slider's clients find its REST API. The
 * service needs none of them: the log tells what fails. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "registry/conf.h"
#include "registry/directory.h"
#include "registry/path.h"
#include "registry/record.h"
#include "registry/registry.h"
#include "registry/zookeeper.h"
#include "service/am/master-internal.h"

#define FOLDER "registry"      /* in the directory of the definition */
#define RECOVERY_SLACK_MS 1000 /* the engine's own timer is first */
#define DESCRIPTION "YarnServiceMaster"
#define API_WEB "http://"
#define API_SLIDER "classpath:org.apache.slider.client.rest"
#define API_RPC "classpath:org.apache.hadoop.yarn.service.ClientAMProtocol"

/* ---- The back end ---- */

static void on_news(enum reg_news news, const char *text, void *userdata)
{
    (void)userdata;
    if (news == REG_BACK)
        sv_log_info("%s", text);
    else
        sv_log_warning("%s", text);
}

static void on_idle(void *userdata)
{
    svc_master_maybe_exit(userdata);
}

static int open_directory(struct svc_master *m, struct sv_conf *conf, const char *url,
                          struct reg_backend **ret, struct sv_error *err)
{
    const char *tokens = getenv("HADOOP_TOKEN_FILE_LOCATION");
    const struct reg_directory_config cfg = {
        .url = url,
        .folder = FOLDER,
        .program = "selvedge-service-am",
        .user = m->options->user,
        .credentials = tokens ? open(tokens, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1,
    };

    return reg_directory_open(m->event, conf, &cfg, ret, err);
}

/* ZooKeeper where it is configured and its client library is there. */
static int open_backend(struct svc_master *m, struct sv_conf *conf, const char *url,
                        const struct reg_conf *c, struct reg_backend **ret, struct sv_error *err)
{
    const struct reg_zookeeper_config cfg = { c->quorum, c->root, c->session_ms };
    int r = c->quorum ? reg_zookeeper_open(m->event, &cfg, ret, err) : -ELIBACC;

    if (r != -ELIBACC)
        return r;
    if (c->quorum)
        sv_log_warning("hadoop.registry.zk.quorum=%s: %s; records are kept in %s/" FOLDER,
                       c->quorum, err->text, url);
    *err = (struct sv_error){ 0 };
    return open_directory(m, conf, url, ret, err);
}

static int open_registry(struct svc_master *m, struct sv_conf *conf, const char *url,
                         struct sv_error *err)
{
    char path[REG_PATH_MAX + 1];
    struct reg_config cfg = { .idle = on_idle, .say = on_news, .userdata = m };
    struct reg_conf c;
    int r = reg_conf_read(conf, &c, err);

    if (r == 0 &&
        (r = reg_service_path(m->options->user, REG_CLASS_YARN, m->options->name, path)) < 0)
        (void)sv_error_errno(err, r, "the path of user %.64s", m->options->user);
    if (r == 0)
        r = open_backend(m, conf, url, &c, &cfg.backend, err);
    if (r < 0)
        return r;
    cfg.retry_min_ms = c.retry_min_ms;
    cfg.retry_max_ms = c.retry_max_ms;
    m->registry_path = strdup(path);
    m->registry_where = strdup(cfg.backend->where);
    if (!m->registry_path || !m->registry_where) {
        reg_backend_free(cfg.backend);
        return sv_error_errno(err, -ENOMEM, "registry");
    }
    sv_log_info("records of the service: %s%s", cfg.backend->where, path);
    r = reg_new(m->event, &cfg, &m->registry);
    return r < 0 ? sv_error_errno(err, r, "registry") : 0;
}

void svc_master_registry_open(struct svc_master *m, struct sv_conf *conf, const char *url)
{
    struct sv_error err = { 0 };

    if (open_registry(m, conf, url, &err) < 0)
        sv_log_err("registry: %s; the service runs without records", err.text);
}

void svc_master_registry_free(struct svc_master *m)
{
    m->registry_timer = sd_event_source_disable_unref(m->registry_timer);
    m->registry = reg_free(m->registry);
    free(SV_TAKE(m->registry_path));
    free(SV_TAKE(m->registry_where));
    sv_buf_free(&m->registry_record);
}

/* ---- The service ---- */

int svc_master_describe(struct svc_master *m, const char *host, uint16_t port, const char *url)
{
    char app[YARN_ID_TEXT_MAX], number[8];
    const struct reg_pair attributes[] = {
        { REG_YARN_ID, yarn_app_id_text(cli_am_attempt(m->yarn).app, app) },
        { REG_YARN_PERSISTENCE, REG_APPLICATION },
    };
    const struct reg_pair uri = { REG_URI, url };
    const struct reg_pair rpc[] = { { REG_HOST, host }, { REG_PORT, number } };
    const struct reg_address at_url = { &uri, 1 }, at_port = { rpc, SV_ARRAY_LEN(rpc) };
    const struct reg_endpoint external[] = {
        { API_WEB, REG_ADDRESS_URI, REG_PROTOCOL_WEB, &at_url, 1 },
        { API_SLIDER, REG_ADDRESS_URI, REG_PROTOCOL_REST, &at_url, 1 },
        { API_RPC, REG_ADDRESS_HOST_PORT, REG_PROTOCOL_IPC, &at_port, 1 },
    };
    const struct reg_record record = {
        .description = DESCRIPTION,
        .attributes = attributes,
        .n_attributes = SV_ARRAY_LEN(attributes),
        .external = external,
        .n_external = SV_ARRAY_LEN(external),
    };

    (void)snprintf(number, sizeof(number), "%u", port);
    m->registry_record = SV_BUF_INIT(REG_RECORD_MAX);
    return reg_record_print(&record, &m->registry_record);
}

static bool path_of(const struct svc_master *m, const char *id, char ret[REG_PATH_MAX + 1])
{
    return m->registry && !m->unregistered && reg_component_path(m->registry_path, id, ret) == 0;
}

static void know(struct svc_master *m, const struct svc_containers *list)
{
    char path[REG_PATH_MAX + 1];

    for (const struct svc_container *c = list->table; c; c = c->hh.next)
        if (path_of(m, c->key, path))
            (void)!reg_known(m->registry, path); /* then it stays when it ends, ignoring */
}

/* The engine replaces containers that were not handed back: their records go. */
static int on_recovery_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_master *m = userdata;
    char path[REG_PATH_MAX + 1];

    (void)s;
    (void)usec;
    for (const struct svc_container *c = m->expected.table; c; c = c->hh.next)
        if (path_of(m, c->key, path))
            reg_remove(m->registry, path);
    return 0;
}

static void await_recovery(struct svc_master *m)
{
    uint64_t wait = (uint64_t)m->plan->limits.recovery_ms + RECOVERY_SLACK_MS;

    if (m->expected.n > 0 && !m->registry_timer)
        (void)sd_event_add_time_relative(/* without it records stay until the end, ignoring */
                                         m->event, &m->registry_timer, CLOCK_MONOTONIC, wait * 1000,
                                         10000, on_recovery_time, m);
}

/* A killed application's records are removed; a later attempt keeps its own instances'. */
void svc_master_register(struct svc_master *m)
{
    char components[REG_PATH_MAX + 1];

    if (!path_of(m, NULL, components))
        return;
    if (cli_am_attempt(m->yarn).attempt == 1) {
        svc_master_need(reg_remove_tree(m->registry, components));
    } else {
        know(m, &m->containers);
        know(m, &m->expected);
        reg_sweep(m->registry, components);
        await_recovery(m);
    }
    svc_master_need(
        reg_put(m->registry, m->registry_path, m->registry_record.data, m->registry_record.len));
}

void svc_master_unregister(struct svc_master *m)
{
    if (m->registry && !m->unregistered)
        svc_master_need(reg_remove_tree(m->registry, m->registry_path));
    m->unregistered = true;
}

/* ---- Instances ---- */

/* Host names are those of Hadoop's DNS server. */
int svc_master_names_new(struct svc_master *m, struct sv_conf *conf)
{
    const char *domain = sv_conf_raw(conf, "hadoop.registry.dns.domain-name");
    _cleanup_free_ char *heading = NULL, *suffix = NULL;
    struct svc_names_config cfg = { m->engine, &m->containers, m->tokens, NULL, NULL };
    char user[REG_NAME_MAX + 1];
    int r;

    if (m->registry)
        r = sv_asprintf(&heading,
                        "# Instances of %s that had an address when this container was launched.\n"
                        "# Later ones: records below %s%s/components\n",
                        m->options->name, m->registry_where, m->registry_path);
    else
        r = sv_asprintf(&heading,
                        "# Instances of %s that had an address when this container was launched.\n",
                        m->options->name);
    if (r >= 0 && domain && *domain && reg_user(m->options->user, user) == 0)
        r = sv_asprintf(&suffix, ".%s.%s.%s", m->options->name, user, domain);
    cfg.heading = heading;
    cfg.suffix = suffix;
    return r < 0 ? r : svc_names_new(&cfg, &m->names);
}

void svc_master_record(struct svc_master *m, const struct svc_container *c)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(REG_RECORD_MAX);
    char path[REG_PATH_MAX + 1], component[SVC_NAME_MAX + 1] = "";
    const char *number = c->instance ? strrchr(c->instance, '-') : NULL;
    const struct reg_pair attributes[] = {
        { REG_YARN_ID, c->key },
        { REG_YARN_PERSISTENCE, REG_CONTAINER },
        { REG_YARN_IP, c->ip ? c->ip : "" },
        { REG_YARN_HOSTNAME, c->host ? c->host : c->node.host },
        { REG_YARN_COMPONENT, component },
    };
    const struct reg_record record = {
        .description = c->instance,
        .attributes = attributes,
        .n_attributes = SV_ARRAY_LEN(attributes),
    };
    int r;

    svc_names_changed(m->names, c->instance);
    if (!number || !c->ip || !path_of(m, c->key, path))
        return;
    (void)snprintf(component, sizeof(component), "%.*s", (int)(number - c->instance), c->instance);
    r = reg_record_print(&record, &b);
    if (r == 0)
        r = reg_put(m->registry, path, b.data, b.len);
    svc_master_need(r);
}

void svc_master_unrecord(struct svc_master *m, struct yarn_container_id id)
{
    const struct svc_container *c = svc_containers_find(&m->containers, id);
    char path[REG_PATH_MAX + 1], key[YARN_ID_TEXT_MAX];

    if (c)
        svc_names_changed(m->names, c->instance);
    if (path_of(m, yarn_container_id_text(id, key), path))
        reg_remove(m->registry, path);
}
