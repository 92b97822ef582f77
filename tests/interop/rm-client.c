/* A client of ResourceManagers for tests/interop/test-rm-clients: the wire component's proxy,
 * configured by Hadoop's files as a NodeManager and a command line are.
 *
 *   rm-client CONF-DIR [-D KEY=VALUE]...
 *
 * Takes one command a line from standard input and answers each with one line:
 *   app                  getNewApplication: "application application_… <memory:…>"
 *   metrics              getClusterMetrics: "metrics N nodes"
 *   register             registerNodeManager: "registered action A"
 *   beat N               N heartbeats, each as soon as the last is answered:
 *                        "beats left N response ID actions A"
 *   hold                 sends one of app, metrics and beat 1 and answers "held" when they are
 *                        written; the three answers follow as they come
 *   active HOST PORT     makes the ResourceManager whose admin service is there the active one:
 *                        "active"
 *   standby HOST PORT    the opposite: "standby"
 *   servers              "servers CLIENT-SERVICE TRACKER retries N": where calls go now
 *
 * A failed call is answered with "failed METHOD: CLASS: text". */
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "common/conf.h"
#include "tests/lib/rm-peer.h"
#include "wire/ipc/proxy.h"

static struct {
    struct ipc_proxy *clients, *tracker;
    struct ipc_client *operator;
    struct peer_node node;
    int beats, actions, retries;
} me;

static void say(const char *fmt, ...) _printf_(1, 2);
static void say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

static bool failed(const char *method, const struct ipc_result *r, const struct sv_error *err)
{
    if (r->status < 0)
        say("failed %s: %s: %s", method, r->java_class ? r->java_class : strerror(-r->status),
            err->text);
    return r->status < 0;
}

static void on_retry(const char *method, const struct sv_error *err, int64_t wait_ms,
                     const struct ipc_proxy_server *from, const struct ipc_proxy_server *to,
                     void *userdata)
{
    (void)userdata;
    char a[360], b[360];
    me.retries++;
    fprintf(stderr, "%s at %s: %s; in %lld ms at %s\n", method,
            ipc_proxy_server_text(from, a, sizeof a), err->text, (long long)wait_ms,
            ipc_proxy_server_text(to, b, sizeof b));
}

static int call(struct ipc_proxy *p, const char *method, const void *request, ipc_done done)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    return ipc_proxy_call(p, method, request ? request : peer_request(a, method),
                          peer_response(method), 0, done, NULL, NULL);
}

/* ---- Client service ---- */

static void on_app(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)userdata;
    const Hadoop__Yarn__GetNewApplicationResponseProto *m = (const void *)r->response;
    char text[YARN_ID_TEXT_MAX];
    struct yarn_app_id id;
    if (failed("getNewApplication", r, err))
        return;
    if (yarn_app_id_from(m->application_id, &id) < 0 || !m->maximumcapability)
        say("failed getNewApplication: no id");
    else
        say("application %s <memory:%lld>", yarn_app_id_text(id, text),
            (long long)m->maximumcapability->memory);
}

static void on_metrics(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)userdata;
    const Hadoop__Yarn__GetClusterMetricsResponseProto *m = (const void *)r->response;
    if (!failed("getClusterMetrics", r, err))
        say("metrics %d nodes", m->cluster_metrics ? m->cluster_metrics->num_node_managers : -1);
}

/* ---- Resource tracker ---- */

static void on_register(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)userdata;
    const RegisterResponse *m = (const void *)r->response;
    if (failed("registerNodeManager", r, err))
        return;
    me.node.response_id = 0;
    peer_take_keys(m->container_token_master_key, m->nm_token_master_key);
    if (!m->container_token_master_key || !m->nm_token_master_key)
        say("failed registerNodeManager: no keys");
    else
        say("registered action %d", (int)m->nodeaction);
}

static int call_register(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    RegisterRequest *q = peer_registration(a, &me.node);
    q->resource = yarn_resource_to(a, (struct yarn_resource){ 4096, 4, 0 });
    return call(me.tracker, "registerNodeManager", q, on_register);
}

static int call_beat(void);

static void on_beat(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)userdata;
    const HeartbeatResponse *m = (const void *)r->response;
    if (failed("nodeHeartbeat", r, err))
        return;
    me.node.response_id = m->response_id;
    me.actions |= (int)m->nodeaction;
    if (--me.beats > 0 && m->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__NORMAL &&
        call_beat() >= 0)
        return;
    say("beats left %d response %d actions %d", me.beats, me.node.response_id, me.actions);
}

static int call_beat(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    return call(me.tracker, "nodeHeartbeat", peer_heartbeat(a, &me.node), on_beat);
}

/* ---- High availability ---- */

static void on_transition(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    if (!failed("transition", r, err))
        say("%s", (const char *)userdata);
}

static int transition(const char *host, uint16_t port, bool active)
{
    const char *method = active ? "transitionToActive" : "transitionToStandby";
    Hadoop__Common__HAStateChangeRequestInfoProto info =
        HADOOP__COMMON__HASTATE_CHANGE_REQUEST_INFO_PROTO__INIT;
    Hadoop__Common__TransitionToActiveRequestProto up =
        HADOOP__COMMON__TRANSITION_TO_ACTIVE_REQUEST_PROTO__INIT;
    Hadoop__Common__TransitionToStandbyRequestProto down =
        HADOOP__COMMON__TRANSITION_TO_STANDBY_REQUEST_PROTO__INIT;
    struct ipc_client_config cfg = {
        .host = host, .port = port, .version = 1, .protocol = HADOOP_HA_SERVICE_PROTOCOL
    };
    info.reqsource = HADOOP__COMMON__HAREQUEST_SOURCE__REQUEST_BY_USER;
    up.reqinfo = down.reqinfo = &info;
    me.operator= ipc_client_free(me.operator);
    int r = ipc_client_new(peer.event, &cfg, &me.operator, NULL);
    if (r >= 0)
        peer_send(me.operator, method, active ? (const void *)&up : &down, on_transition,
                  (void *)(uintptr_t)(active ? "active" : "standby"));
    return r;
}

/* ---- Commands ---- */

/* Called when the loop is idle: all pending output has been written. */
static int on_idle(sd_event_source *src, void *userdata)
{
    (void)userdata;
    sd_event_source_disable_unref(src);
    say("held");
    return 0;
}

static int hold(void)
{
    sd_event_source *idle = NULL;
    me.beats = 1;
    me.actions = 0;
    int r = call(me.clients, "getNewApplication", NULL, on_app);
    if (r >= 0)
        r = call(me.clients, "getClusterMetrics", NULL, on_metrics);
    if (r >= 0)
        r = call_beat();
    if (r >= 0)
        r = sd_event_add_defer(peer.event, &idle, on_idle, NULL);
    return r < 0 ? r : sd_event_source_set_priority(idle, SD_EVENT_PRIORITY_IDLE);
}

static int command(char *line)
{
    char word[32] = "", host[64] = "", a[360], b[360];
    unsigned port = 0;
    int n = 0;
    if (sscanf(line, "%31s", word) != 1)
        return 0;
    if (strcmp(word, "app") == 0)
        return call(me.clients, "getNewApplication", NULL, on_app);
    if (strcmp(word, "metrics") == 0)
        return call(me.clients, "getClusterMetrics", NULL, on_metrics);
    if (strcmp(word, "register") == 0)
        return call_register();
    if (strcmp(word, "hold") == 0)
        return hold();
    if (sscanf(line, "beat %d", &n) == 1) {
        me.beats = n;
        me.actions = 0;
        return call_beat();
    }
    if (sscanf(line, "%31s %63s %u", word, host, &port) == 3)
        return transition(host, (uint16_t)port, strcmp(word, "active") == 0);
    if (strcmp(word, "servers") != 0)
        return -EINVAL;
    say("servers %s %s retries %d",
        ipc_proxy_server_text(ipc_proxy_current(me.clients), a, sizeof a),
        ipc_proxy_server_text(ipc_proxy_current(me.tracker), b, sizeof b), me.retries);
    return 0;
}

static int on_stdin(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)src, (void)revents, (void)userdata;
    char line[256];
    ssize_t n = read(fd, line, sizeof line - 1);
    if (n <= 0)
        return sd_event_exit(peer.event, 0);
    line[n] = 0;
    int r = command(line);
    line[strcspn(line, "\n")] = 0;
    if (r < 0)
        say("failed %s: %s", line, strerror(-r));
    return 0;
}

static int proxy(struct sv_conf *conf, enum yarn_rm_service service, const char *protocol,
                 struct ipc_proxy **ret, struct sv_error *err)
{
    struct ipc_proxy_config cfg;
    int r = yarn_rm_proxy_config(conf, service, &cfg, err);
    if (r < 0)
        return r;
    cfg.client.protocol = protocol;
    cfg.notify = on_retry;
    return ipc_proxy_new(peer.event, &cfg, ret, err);
}

static int start(struct sv_conf *conf, int argc, char **argv, struct sv_error *err)
{
    me.node.id = (struct yarn_node_id){ .host = "localhost", .port = 45454 };
    int r = sv_conf_load_hadoop(conf, argv[1], err);
    for (int i = 3; r >= 0 && i < argc; i += 2) {
        char *value = strchr(argv[i], '=');
        if (!value)
            return sv_error_set(err, -EINVAL, "-D %s", argv[i]);
        *value++ = 0;
        r = sv_conf_set(conf, argv[i], value);
    }
    if (r < 0 || sd_event_default(&peer.event) < 0 ||
        sd_event_add_io(peer.event, NULL, 0, EPOLLIN | EPOLLHUP, on_stdin, NULL) < 0)
        return r < 0 ? r : sv_error_set(err, -ENOMEM, "start");
    r = proxy(conf, YARN_RM_CLIENTS, YARN_APPLICATION_CLIENT_PROTOCOL, &me.clients, err);
    if (r >= 0)
        r = proxy(conf, YARN_RM_TRACKER, YARN_RESOURCE_TRACKER_PROTOCOL, &me.tracker, err);
    return r;
}

int main(int argc, char **argv)
{
    struct sv_error err = { 0 };
    struct sv_conf *conf = sv_conf_new();
    if (argc < 2 || !conf || start(conf, argc, argv, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    say("ready");
    int r = sd_event_loop(peer.event);
    ipc_client_free(me.operator);
    ipc_proxy_free(me.clients);
    ipc_proxy_free(me.tracker);
    sd_event_unref(peer.event);
    sv_conf_free(conf);
    return r < 0;
}
