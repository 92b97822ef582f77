/* See master.h. The order of the start: what can be wrong without YARN first, then the ports, then
 * the registration. */
#include "service/am/master.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "service/am/facts/journal.h"
#include "service/am/master-internal.h"
#include "wire/ipc/proxy.h"
#include "wire/token/token.h"

#define HEARTBEAT_MS 500

/* ---- The definition and the past ---- */

/* Properties of the service override the configuration's keys, as with Hadoop's master. */
static int apply_properties(struct sv_conf *conf, const struct svc_definition *d,
                            struct sv_error *err)
{
    const struct svc_map *m = &d->configuration.properties;
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->n; i++)
        r = sv_conf_set(conf, m->pairs[i].name, m->pairs[i].value);
    return r < 0 ? sv_error_errno(err, r, "configuration of the service") : 0;
}

static int read_definition(struct svc_master *m, struct svc_files *files, struct sv_conf *conf,
                           struct sv_error *err)
{
    _cleanup_free_ char *json = NULL;
    size_t len;
    int r = svc_files_read(files, svc_files_definition(files), SVC_JSON_MAX, &json, &len, err);

    if (r == 0)
        r = svc_plan_new(json, len, conf, &m->plan, err);
    if (r < 0)
        return sv_error_wrap(err, "%s", m->options->yarnfile);
    m->version = m->plan->stored->version;
    if (strcmp(m->plan->stored->name, m->options->name) != 0)
        return sv_error_set(err, -EINVAL, "%s: is the service %s, not %s", m->options->yarnfile,
                            m->plan->stored->name, m->options->name);
    return apply_properties(conf, m->plan->stored, err);
}

static int add_expected(void *userdata, const struct svc_journal_row *row)
{
    static const struct yarn_node_id nowhere;
    static const struct yarn_resource nothing;
    struct svc_master *m = userdata;
    struct svc_container *c = svc_containers_add(&m->expected, row->id, &nowhere, &nothing, "");

    if (!c)
        return 0; /* named twice: the first counts */
    c->upgrade = row->new || row->turning ? SVC_RESUMED : 0;
    c->turning = row->turning;
    return svc_container_name(c, row->instance);
}

/* A journal that cannot be read costs the names of the containers that run, not the service. */
static int read_journal(struct svc_master *m, struct svc_files *files, struct yarn_app_id app)
{
    _cleanup_free_ char *text = NULL;
    struct sv_error err = { 0 };
    size_t len;
    int r = svc_files_read(files, SVC_JOURNAL_FILE, SVC_JOURNAL_MAX, &text, &len, &err);

    if (r == -ENOENT)
        return 0;
    if (r == 0)
        r = svc_journal_parse(text, len, app, &m->past, add_expected, m, &err);
    if (r < 0 && r != -ENOMEM) {
        sv_log_warning("%s: containers of an earlier attempt are replaced", err.text);
        r = 0;
    }
    return r;
}

/* The tokens of the master without the one that is for the ResourceManager alone. */
static int read_credentials(struct svc_master *m, struct sv_error *err)
{
    const char *path = getenv("HADOOP_TOKEN_FILE_LOCATION");
    struct yarn_credentials all, kept;
    _cleanup_free_ char *bytes = NULL;
    struct sv_buf out = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    size_t len;
    int r;

    m->credentials_arena = sv_arena_new(0);
    if (!path || !m->credentials_arena)
        return path ? sv_error_errno(err, -ENOMEM, "tokens") : 0;
    r = sv_read_file_at(AT_FDCWD, path, YARN_CREDENTIALS_MAX, &bytes, &len);
    if (r < 0)
        return sv_error_errno(err, r, "%s", path);
    r = yarn_credentials_parse((uint8_t *)bytes, len, m->credentials_arena, &all, err);
    if (r < 0)
        return sv_error_wrap(err, "%s", path);
    kept = all;
    kept.n_tokens = 0;
    for (size_t i = 0; i < all.n_tokens; i++)
        if (strcmp(all.tokens[i].token.kind, YARN_KIND_AMRM) != 0)
            kept.tokens[kept.n_tokens++] = all.tokens[i];
    r = yarn_credentials_write(&kept, &out);
    if (r == 0) {
        m->credentials = sv_arena_memdup(m->credentials_arena, out.data, out.len);
        m->credentials_len = out.len;
        r = m->credentials ? 0 : -ENOMEM;
    }
    sv_buf_wipe(&out);
    return r < 0 ? sv_error_errno(err, r, "tokens of containers") : 0;
}

static int make_engine(struct svc_master *m, struct sv_error *err)
{
    struct svc_setup setup = {
        .policy = &svc_yarn_policy,
        .definition = m->plan->resolved,
        .options = m->plan->options,
        .limits = m->plan->limits,
    };

    if (getrandom(&setup.seed, sizeof(setup.seed), 0) != sizeof(setup.seed))
        setup.seed = 1; /* a seed of the order alone, ignoring */
    return svc_engine_new(&setup, &m->engine, err);
}

/* ---- Surroundings ---- */

static int make_parts(struct svc_master *m, struct sv_error *err)
{
    const struct svc_checks_config checks = {
        .interval_ms = m->plan->check_interval_ms,
        .http = m->plan->http,
        .report = svc_master_checked,
        .userdata = m,
    };
    int r =
        svc_status_new(m->event, m->engine, &m->containers, svc_master_status_done, m, &m->status);

    if (r == 0)
        r = svc_instances_new(m->event, m->engine, &m->containers, &m->instances);
    if (r == 0)
        r = svc_status_definition(m->status, m->plan->stored);
    if (r == 0)
        r = svc_master_operations_new(m);
    if (r < 0)
        return sv_error_errno(err, r, "master");
    return svc_checks_new(m->event, &checks, &m->checks, err);
}

static void on_view(void *userdata, struct svc_slider_view *ret)
{
    const struct svc_master *m = userdata;

    *ret = (struct svc_slider_view){ m->engine, &m->containers, m->plan->stored, m->plan->resolved,
                                     m->options->user };
}

/* This container's address towards the ResourceManager: in a private network the node's name is
 * not its own. Connecting a datagram socket finds it without sending. */
static int own_address(const struct cli_server *rm, char ret[NI_MAXHOST], struct sv_error *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICSERV }, *to = NULL;
    struct sockaddr_storage own;
    socklen_t len = sizeof(own);
    char port[8];
    int r;

    (void)snprintf(port, sizeof(port), "%u", rm->port);
    r = getaddrinfo(rm->host, port, &hints, &to);
    if (r != 0)
        return sv_error_set(err, -EADDRNOTAVAIL, "%s: %s", rm->host, gai_strerror(r));
    _cleanup_close_ int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen) < 0 ||
        getsockname(fd, (struct sockaddr *)&own, &len) < 0)
        r = sv_error_errno(err, -errno, "address towards %s", rm->host);
    else if (getnameinfo((struct sockaddr *)&own, len, ret, NI_MAXHOST, NULL, 0, NI_NUMERICHOST))
        r = sv_error_set(err, -EADDRNOTAVAIL, "address towards %s", rm->host);
    freeaddrinfo(to);
    return r;
}

/* Listens on the node's name, which clients resolve, else on the container's own address. */
static int serve_web(struct svc_master *m, const struct svc_proxies *proxies,
                     const struct cli_server *rm, const char **host, char own[NI_MAXHOST],
                     struct sv_error *err)
{
    struct svc_rest_config cfg = {
        .host = *host,
        .control = { &svc_master_control_ops, m },
        .status = m->status,
        .proxies = *proxies,
        .view = on_view,
        .userdata = m,
    };
    int r = svc_rest_new(m->event, &cfg, &m->rest, err);

    if (r != -EADDRNOTAVAIL)
        return r;
    r = own_address(rm, own, err);
    if (r < 0)
        return r;
    cfg.host = *host = own;
    return svc_rest_new(m->event, &cfg, &m->rest, err);
}

static int local_name(void *userdata, const char *name, char ret[256], struct sv_error *err)
{
    const struct svc_client_am *s = userdata;
    const struct svc_master *m = s->control.master;

    return svc_caller_name(&m->callers, name, ret, err);
}

static int serve_rpc(struct svc_master *m, struct sv_error *err)
{
    static const struct ipc_protocol *const protocols[] = { &svc_client_am_protocol, NULL };
    struct cli_am_server_config cfg = { .protocols = protocols,
                                        .userdata = &m->client,
                                        .hmac = m->callers.hmac,
                                        .local_name = local_name };

    m->client = (struct svc_client_am){
        .control = { &svc_master_control_ops, m },
        .status = m->status,
        .instances = m->instances,
        .version = &m->version,
    };
    if (cli_port_range_parse(m->plan->port_range, &cfg.first, &cfg.last) < 0)
        return sv_error_set(err, -EINVAL,
                            "yarn.service.am.client.port-range: \"%.64s\": \"first-last\", of 1 "
                            "to 65535",
                            m->plan->port_range);
    return cli_am_serve(m->yarn, &cfg, &m->rpc, err);
}

/* Without ACLs everybody may view the service, as with Hadoop's, and its user and those of its
 * lists alone may change it; with them also the administrators. */
static void set_access(struct svc_master *m, struct sv_conf *conf)
{
    const char *enable = sv_conf_raw(conf, "yarn.acl.enable"), *user = getenv("USER");
    bool enabled = enable && strcasecmp(enable, "true") == 0;

    m->access = (struct cli_am_access){
        .enabled = enabled,
        .owner = user && *user ? user : m->options->user,
        .admins = enabled ? sv_conf_raw(conf, "yarn.admin.acl") : NULL,
    };
}

static int find_schedulers(struct sv_conf *conf, struct ipc_proxy_config *rm,
                           struct cli_server list[CLI_SERVERS_MAX], size_t *ret_n,
                           struct sv_error *err)
{
    int r = yarn_rm_proxy_config(conf, YARN_RM_SCHEDULER, rm, err);

    for (*ret_n = 0; r == 0 && *ret_n < rm->n_servers && *ret_n < CLI_SERVERS_MAX; (*ret_n)++)
        list[*ret_n] = (struct cli_server){ rm->servers[*ret_n].host, rm->servers[*ret_n].port };
    return r;
}

/* The ResourceManager's handler of placement constraints, of which its answers say nothing: one
 * adds the counts of requests, the other replaces them. */
static void set_counting(struct svc_master *m, struct sv_conf *conf)
{
    const char *handler = sv_conf_raw(conf, "yarn.resourcemanager.placement-constraints.handler");

    if (handler && strcmp(handler, "placement-processor") == 0)
        cli_am_adds(m->yarn);
}

static int join(struct svc_master *m, struct svc_files *files, struct sv_conf *conf,
                struct sv_error *err)
{
    struct cli_server schedulers[CLI_SERVERS_MAX];
    struct cli_am_config cfg = { .schedulers = schedulers,
                                 .heartbeat_ms = HEARTBEAT_MS,
                                 .max_wait_ms = -1,
                                 .ops = &svc_master_yarn_ops,
                                 .userdata = m };
    struct svc_proxies proxies;
    struct ipc_proxy_config rm;
    const char *host = m->options->host;
    char own[NI_MAXHOST], url[NI_MAXHOST + 32];
    int r = find_schedulers(conf, &rm, schedulers, &cfg.n_schedulers, err);

    if (r == 0)
        r = svc_proxies_read(conf, m->options->proxy_base, &proxies, err);
    if (r == 0)
        r = cli_am_new(m->event, &cfg, &m->yarn, err);
    if (r == 0)
        r = read_journal(m, files, cli_am_attempt(m->yarn).app);
    if (r == 0)
        svc_master_read_target(m, files, conf);
    if (r == 0)
        r = serve_web(m, &proxies, &schedulers[0], &host, own, err);
    if (r == 0)
        r = serve_rpc(m, err);
    if (r < 0)
        return err->code ? r : sv_error_errno(err, r, "master");
    set_access(m, conf);
    set_counting(m, conf);
    svc_master_identify(m);
    svc_master_need(svc_status_definition(m->status, m->plan->stored));
    (void)snprintf(url, sizeof(url), strchr(host, ':') ? "http://[%s]:%u/" : "http://%s:%u/", host,
                   svc_rest_port(m->rest));
    r = svc_master_describe(m, host, cli_am_server_port(m->rpc), url);
    if (r == 0)
        r = cli_am_register(m->yarn, host, cli_am_server_port(m->rpc), url);
    return r < 0 ? sv_error_errno(err, r, "registration") : 0;
}

static int start(struct svc_master *m, struct sv_conf *conf, struct sv_error *err)
{
    struct svc_files *files = NULL;
    int r = svc_files_open(conf, m->options->yarnfile, m->options->user, &files, err);

    if (r == 0)
        r = read_definition(m, files, conf, err);
    if (r == 0)
        r = read_credentials(m, err);
    if (r == 0)
        r = svc_caller_names_read(conf, &m->callers, err);
    if (r == 0)
        r = svc_launch_tokens(m->plan->stored, conf, m->options->user, svc_files_url(files),
                              &m->tokens, err);
    if (r == 0)
        svc_master_registry_open(m, conf, svc_files_url(files));
    if (r == 0)
        r = make_engine(m, err);
    if (r == 0)
        r = make_parts(m, err);
    if (r == 0 && (r = svc_master_names_new(m, conf)) < 0)
        (void)sv_error_errno(err, r, "master");
    if (r == 0)
        r = join(m, files, conf, err);
    if (r == 0 && (r = svc_work_new(m->event, files, conf, &m->work)) < 0)
        (void)sv_error_errno(err, r, "master");
    if (r < 0)
        svc_files_close(files);
    else
        m->definition_file = svc_files_definition(files);
    return r;
}

int svc_master_new(sd_event *event, const struct svc_am_options *options, struct sv_conf *conf,
                   struct svc_master **ret, struct sv_error *err)
{
    struct svc_master *m = calloc(1, sizeof(*m));
    int r;

    if (!m)
        return sv_error_errno(err, -ENOMEM, "master");
    m->event = sd_event_ref(event);
    m->options = options;
    r = start(m, conf, err);
    if (r < 0) {
        svc_master_free(m);
        return r;
    }
    *ret = m;
    return 0;
}

static void free_list(struct svc_pending *list)
{
    struct svc_pending *p, *next;

    for (p = list; p; p = next) {
        next = p->next;
        free(p);
    }
}

/* The plans stay: jobs that were given up may use them until the process ends. */
struct svc_master *svc_master_free(struct svc_master *m)
{
    if (!m)
        return NULL;
    svc_rest_free(m->rest);
    cli_am_server_free(m->rpc);
    svc_checks_free(m->checks);
    m->addresses = svc_addresses_free(m->addresses); /* before the queries end */
    cli_am_free(m->yarn);
    svc_caller_names_free(&m->callers);
    svc_status_free(m->status);
    svc_instances_free(m->instances);
    svc_master_registry_free(m);
    sd_event_source_disable_unref(m->turn);
    sd_event_source_disable_unref(m->engine_timer);
    sd_event_source_disable_unref(m->localized_timer);
    sd_event_source_disable_unref(m->exit_timer);
    svc_names_free(m->names);
    svc_engine_free(m->engine);
    svc_work_free(m->work);
    if (m->jobs == 0 && !m->upgrade.reading) {
        svc_tokens_free(m->tokens);
        sv_arena_wipe(m->credentials_arena);
        svc_plan_free(m->plan);
        svc_plan_free(m->next);
        svc_plan_free(m->old);
    }
    free_list(m->pending);
    free_list(m->journaled);
    free_list(m->released);
    svc_containers_clear(&m->containers);
    svc_containers_clear(&m->expected);
    sd_event_unref(m->event);
    free(m);
    return NULL;
}
