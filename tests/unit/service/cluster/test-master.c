/* service/cluster/master.c against a master in another process: who calls, what is sent, what
 * becomes of answers and exceptions; a master that is silent, or that has a forbidden address. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "service/cluster/cluster.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods-service.h"

#define YARN_EXCEPTION "org.apache.hadoop.yarn.exceptions.YarnException"

struct fix {
    pid_t pid;
    struct svc_app app;
    struct sv_conf *conf;
    struct svc_cluster *c;
    const struct svc_backend *b;
    struct sv_error err;
};

/* ---- The master: exceptions say what was received ---- */

#define REQUEST(type) const Hadoop__Yarn__##type *q = (const void *)request

static void on_getStatus(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Yarn__GetStatusResponseProto m = HADOOP__YARN__GET_STATUS_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    m.status = (char *)(uintptr_t)ipc_call_peer(call)->user;
    ipc_call_reply(call, &m.base);
}

static void on_flexComponents(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata)
{
    REQUEST(FlexComponentsRequestProto);

    (void)userdata;
    ipc_call_fail(call, YARN_EXCEPTION, "flex %zu %s=%lld", q->n_components, q->components[1]->name,
                  (long long)q->components[1]->numberofcontainers);
}

static void on_stop(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Yarn__StopResponseProto m = HADOOP__YARN__STOP_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    ipc_call_reply(call, &m.base);
}

static void on_upgradeService(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata)
{
    Hadoop__Yarn__UpgradeServiceResponseProto m =
        HADOOP__YARN__UPGRADE_SERVICE_RESPONSE_PROTO__INIT;
    char text[100];
    REQUEST(UpgradeServiceRequestProto);

    (void)userdata;
    (void)snprintf(text, sizeof(text), "%s auto=%d express=%d", q->version, q->autofinalize,
                   q->expressupgrade);
    m.error = text;
    ipc_call_reply(call, &m.base);
}

static void on_cancelUpgrade(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)request;
    (void)userdata;
    ipc_call_fail(call, YARN_EXCEPTION, "nothing to cancel");
}

static void on_restartService(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata)
{
    (void)call; /* never answered */
    (void)request;
    (void)userdata;
}

static void on_upgrade(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    REQUEST(CompInstancesUpgradeRequestProto);

    (void)userdata;
    ipc_call_fail(call, YARN_EXCEPTION, "upgrade %zu %s", q->n_containerids, q->containerids[0]);
}

static void on_getCompInstances(struct ipc_call *call, const ProtobufCMessage *request,
                                void *userdata)
{
    Hadoop__Yarn__GetCompInstancesResponseProto m =
        HADOOP__YARN__GET_COMP_INSTANCES_RESPONSE_PROTO__INIT;
    char text[200];
    REQUEST(GetCompInstancesRequestProto);

    (void)userdata;
    (void)snprintf(text, sizeof(text), "%s/%s/%s", q->componentnames[0],
                   q->version ? q->version : "any", q->containerstates[0]);
    m.compinstances = text;
    ipc_call_reply(call, &m.base);
}

static void on_decommissionCompInstances(struct ipc_call *call, const ProtobufCMessage *request,
                                         void *userdata)
{
    REQUEST(DecommissionCompInstancesRequestProto);

    (void)userdata;
    ipc_call_fail(call, YARN_EXCEPTION, "decommission %s", q->compinstances[0]);
}

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_SERVICE_AM_METHODS(ROW) };
static const struct ipc_protocol protocol = { .name = YARN_SERVICE_AM_PROTOCOL,
                                              .version = 1,
                                              .methods = methods,
                                              .n_methods = SV_ARRAY_LEN(methods) };
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

static void serve(int port_fd)
{
    const struct ipc_server_config cfg = { .allow_simple = true, .protocols = protocols };
    struct ipc_server *server;
    sd_event *event;
    uint16_t port;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (sd_event_new(&event) < 0 || ipc_server_new(event, &cfg, &server, NULL) < 0)
        _exit(1);
    port = ipc_server_port(server);
    if (write(port_fd, &port, sizeof(port)) == sizeof(port))
        (void)sd_event_loop(event);
    _exit(1);
}

/* ---- Fixture ---- */

static int setup(void **state)
{
    static struct fix f;
    int fds[2];

    f = (struct fix){ .conf = sv_conf_new(), .app = { .host = "127.0.0.1" } };
    if (!f.conf || pipe(fds) < 0 || (f.pid = fork()) < 0)
        return -1;
    if (f.pid == 0)
        serve(fds[1]);
    close(fds[1]);
    if (read(fds[0], &f.app.port, sizeof(f.app.port)) != sizeof(f.app.port))
        return -1;
    close(fds[0]);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fix *f = *state;

    f->c = svc_cluster_free(f->c);
    f->conf = sv_conf_free(f->conf);
    (void)kill(f->pid, SIGKILL);
    (void)waitpid(f->pid, NULL, 0);
    return 0;
}

static void open_cluster(struct fix *f, int64_t ms)
{
    const struct svc_cluster_config cfg = { .conf = f->conf, .user = "alice", .deadline_ms = ms };

    f->c = svc_cluster_free(f->c);
    assert_int_equal(svc_cluster_new(&cfg, &f->c, &f->err), 0);
    f->b = svc_cluster_backend(f->c);
}

/* ---- Tests ---- */

static void test_calls(void **state)
{
    struct fix *f = *state;
    const struct svc_count counts[] = { { "web", 1 }, { "db", 3 } };
    const char *const one[] = { "web-1" };
    const struct svc_names names = { one, 1 };
    char *text = NULL;

    open_cluster(f, 60000);
    assert_int_equal(f->b->status(f->c, &f->app, &text, &f->err), 0);
    assert_string_equal(text, "alice");
    free(text);
    assert_int_equal(f->b->stop(f->c, &f->app, &f->err), 0);
    assert_int_equal(f->b->flex(f->c, &f->app, counts, 2, &f->err), -EREMOTEIO);
    assert_non_null(strstr(f->err.text, "flex 2 db=3"));
    assert_int_equal(f->b->upgrade(f->c, &f->app, "2.0", true, false, &f->err), -EREMOTEIO);
    assert_string_equal(f->err.text, "2.0 auto=1 express=0");
    assert_int_equal(f->b->cancel_upgrade(f->c, &f->app, &f->err), -EREMOTEIO);
    assert_int_equal(f->b->upgrade_containers(f->c, &f->app, names, &f->err), -EREMOTEIO);
    assert_non_null(strstr(f->err.text, "upgrade 1 web-1"));
    assert_int_equal(f->b->decommission(f->c, &f->app, names, &f->err), -EREMOTEIO);
    assert_non_null(strstr(f->err.text, "decommission web-1"));
    assert_int_equal(f->b->instances(f->c, &f->app, names, NULL, names, &text, &f->err), 0);
    assert_string_equal(text, "web-1/any/web-1");
    free(text);
}

/* The request's time ends it, and the call with it. */
static void test_silent_master(void **state)
{
    struct fix *f = *state;
    int64_t begin = sv_now_ms();

    open_cluster(f, 300);
    assert_int_equal(f->b->restart(f->c, &f->app, &f->err), -ETIMEDOUT);
    assert_in_range(sv_now_ms() - begin, 250, 30000);
    assert_int_equal(f->b->stop(f->c, &f->app, &f->err), -ETIMEDOUT); /* nothing is begun then */
}

static void test_addresses(void **state)
{
    struct fix *f = *state;
    static const char *const hosts[] = { "169.254.169.254", "::ffff:169.254.169.254", "fe80::1",
                                         "fd00:ec2::254" };
    struct svc_app app = f->app;
    char *text = NULL;

    open_cluster(f, 60000);
    for (size_t i = 0; i < SV_ARRAY_LEN(hosts); i++) {
        (void)snprintf(app.host, sizeof(app.host), "%s", hosts[i]);
        assert_int_equal(f->b->status(f->c, &app, &text, &f->err), -EACCES);
    }
    (void)snprintf(app.host, sizeof(app.host), "999.1.1.1/");
    assert_int_equal(f->b->status(f->c, &app, &text, &f->err), -EREMOTEIO);
    app = f->app;
    app.port = 1;
    assert_true(f->b->status(f->c, &app, &text, &f->err) < 0);
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(test_silent_master, setup, teardown),
        cmocka_unit_test_setup_teardown(test_addresses, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
