/* Tests wire/ipc/proxy.c and proxy-conf.c with real sockets: servers that stop, restart, are in
 * standby or refuse, and Hadoop's keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "tests/lib/free-port.h"
#include "tests/unit/wire/ipc-fake-server.h"
#include "tests/unit/wire/ipc-peer.h"
#include "wire/ipc/proxy.h"
#include "wire/sasl/gssapi.h"

#define STANDBY "org.apache.hadoop.ipc.StandbyException"
#define SAFE "getClusterMetrics"   /* may be sent twice */
#define UNSAFE "signalToContainer" /* may not */

struct fixture {
    sd_event *event;
    struct fake a, b;
    struct ipc_proxy *proxy;
    int notified;
    char last_notice[2][64]; /* failed, next */
    char last_reason[SV_ERROR_TEXT_MAX];
    int64_t longest_wait;
};

struct answer {
    int count, status;
    char text[SV_ERROR_TEXT_MAX];
    char echo[64];
    struct fixture *w;
};

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct answer *a = userdata;
    a->count++;
    a->status = r->status;
    snprintf(a->text, sizeof(a->text), "%s", r->status < 0 ? err->text : "");
    if (r->response)
        snprintf(a->echo, sizeof(a->echo), "%s", ((const echo_message *)r->response)->protocol);
}

static void on_notify(const char *method, const struct sv_error *err, int64_t wait_ms,
                      const struct ipc_proxy_server *failed, const struct ipc_proxy_server *next,
                      void *userdata)
{
    struct fixture *w = userdata;
    assert_non_null(method);
    assert_true(err->code < 0 && *err->text);
    w->notified++;
    w->longest_wait = SV_MAX(w->longest_wait, wait_ms);
    snprintf(w->last_reason, sizeof(w->last_reason), "%s", err->text);
    ipc_proxy_server_text(failed, w->last_notice[0], sizeof(w->last_notice[0]));
    ipc_proxy_server_text(next, w->last_notice[1], sizeof(w->last_notice[1]));
}

static struct ipc_retry_policy policy(enum ipc_retry_kind kind)
{
    return (struct ipc_retry_policy){ .kind = kind,
                                      .connect_interval_ms = 5,
                                      .max_wait_ms = 60000,
                                      .interval_ms = 10,
                                      .max_failovers = 100,
                                      .base_ms = 1,
                                      .max_ms = 10 };
}

/* `kerberos`: NULL = SIMPLE. */
static void fixture_of(struct fixture *w, const struct ipc_retry_policy *retry, int servers,
                       const struct ipc_kerberos *kerberos)
{
    struct ipc_proxy_config cfg = {
        .client = { .protocol = PEER_PROTOCOL, .version = 1, .user = "u", .kerberos = kerberos },
        .n_servers = (size_t)servers,
        .retry = *retry,
        .notify = on_notify,
        .userdata = w
    };
    memset(w, 0, sizeof(*w));
    assert_true(sd_event_new(&w->event) >= 0);
    fake_start(&w->a, w->event, free_port()); /* both stop and restart */
    fake_start(&w->b, w->event, free_port());
    w->a.userdata = w->b.userdata = w;
    cfg.servers[0] = (struct ipc_proxy_server){ "rm1", "127.0.0.1", w->a.port };
    cfg.servers[1] = (struct ipc_proxy_server){ "rm2", "127.0.0.1", w->b.port };
    assert_int_equal(ipc_proxy_new(w->event, &cfg, &w->proxy, NULL), 0);
}

static void fixture_new(struct fixture *w, enum ipc_retry_kind kind, int servers)
{
    const struct ipc_retry_policy retry = policy(kind);

    fixture_of(w, &retry, servers, NULL);
}

static void fixture_free(struct fixture *w)
{
    ipc_proxy_free(w->proxy);
    fake_stop(&w->a);
    fake_stop(&w->b);
    sd_event_unref(w->event);
}

static int32_t call(struct fixture *w, const char *method, struct answer *a)
{
    echo_message m = ECHO_INIT;
    int32_t id = 0;
    m.protocol = (char *)"x";
    a->w = w;
    assert_int_equal(
        ipc_proxy_call(w->proxy, method, &m.base, ECHO_DESCRIPTOR, 0, on_answer, a, &id), 0);
    return id;
}

/* ---- Answers of the fake servers ---- */

static void say_a(struct fake *f, const struct fake_call *c)
{
    if (c->id >= 0)
        fake_echo(f, c->id, "a");
}
static void say_b(struct fake *f, const struct fake_call *c)
{
    if (c->id >= 0)
        fake_echo(f, c->id, "b");
}
static void say_standby(struct fake *f, const struct fake_call *c)
{
    if (c->id >= 0)
        fake_fail(f, c->id, STANDBY,
                  STANDBY ": ResourceManager rm1 is not Active!\n\tat x.y(Z.java:1)");
}
static void say_no(struct fake *f, const struct fake_call *c)
{
    if (c->id >= 0)
        fake_fail(f, c->id, JAVA_YARN_EXCEPTION, "no");
}
static void hang_up_once(struct fake *f, const struct fake_call *c)
{
    if (c->id < 0)
        return;
    if (f->calls == 1)
        fake_hang_up(f);
    else
        fake_echo(f, c->id, "again");
}
static void reset_on_call(struct fake *f, const struct fake_call *c)
{
    if (c->id >= 0)
        fake_reset(f);
}

/* ---- The tests ---- */

/* The server sees the same client and call id and the retry count. */
static void test_identity(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 }, b = { 0 };
    fixture_new(&w, IPC_RETRY_RM, 1);
    w.a.on_call = hang_up_once;
    int32_t id = call(&w, SAFE, &a);
    peer_run_until(&w, a.count);
    assert_int_equal(a.status, 0);
    assert_string_equal(a.echo, "again");
    assert_int_equal(w.a.calls, 2);
    assert_int_equal(w.a.connections, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(w.a.last[i].id, id);
        assert_int_equal(w.a.last[i].retry_count, i);
        assert_int_equal(w.a.last[i].client_id_len, IPC_CLIENT_ID_LEN);
        assert_memory_equal(w.a.last[i].client_id, w.a.last[0].client_id, IPC_CLIENT_ID_LEN);
        assert_string_equal(w.a.last[i].method, SAFE);
    }
    assert_int_equal(w.notified, 1);
    assert_true(call(&w, SAFE, &b) != id);
    peer_run_until(&w, b.count);
    assert_int_equal(w.a.last[2].retry_count, 0);
    assert_int_equal(a.count, 1);
    fixture_free(&w);
}

/* The server dies with calls on the wire, is unreachable for some attempts, and returns. */
static void test_restart(void **state)
{
    (void)state;
    struct fixture w;
    static struct answer a[100];
    memset(a, 0, sizeof(a));
    fixture_new(&w, IPC_RETRY_RM, 1);
    uint16_t port = w.a.port;
    for (int i = 0; i < 100; i++)
        call(&w, SAFE, &a[i]);
    peer_run_until(&w, w.a.calls == 100);
    fake_stop(&w.a);
    peer_run_until(&w, w.notified >= 100 + 3 * 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(a[i].count, 0);
    w.a.on_call = say_a;
    fake_start(&w.a, w.event, port);
    for (int i = 0; i < 100; i++) {
        peer_run_until(&w, a[i].count);
        assert_int_equal(a[i].status, 0);
        assert_string_equal(a[i].echo, "a");
    }
    assert_in_range(w.longest_wait, 1, 10);
    fixture_free(&w);
}

static void test_standby(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a[20] = { 0 };
    char text[64];
    fixture_new(&w, IPC_RETRY_FAILOVER, 2);
    w.a.on_call = say_standby;
    w.b.on_call = say_b;
    for (int i = 0; i < 10; i++) /* together: one failover, not ten */
        call(&w, UNSAFE, &a[i]);
    for (int i = 0; i < 10; i++) {
        peer_run_until(&w, a[i].count);
        assert_int_equal(a[i].status, 0);
        assert_string_equal(a[i].echo, "b");
    }
    assert_string_equal(ipc_proxy_current(w.proxy)->id, "rm2");
    assert_int_equal(w.a.calls, 10);
    assert_int_equal(w.notified, 10);
    assert_string_equal(ipc_proxy_server_text(ipc_proxy_current(w.proxy), text, sizeof(text)),
                        w.last_notice[1]);
    assert_memory_equal(w.a.last[0].client_id, w.b.last[0].client_id, IPC_CLIENT_ID_LEN);
    assert_int_equal(w.b.last[0].retry_count, 1);
    call(&w, SAFE, &a[10]); /* stays there */
    peer_run_until(&w, a[10].count);
    assert_int_equal(w.a.calls, 10);
    w.b.on_call = say_standby; /* and back */
    w.a.on_call = say_a;
    call(&w, SAFE, &a[11]);
    peer_run_until(&w, a[11].count);
    assert_string_equal(a[11].echo, "a");
    assert_string_equal(ipc_proxy_current(w.proxy)->id, "rm1");
    fake_stop(&w.a); /* dead: refused */
    w.b.on_call = say_b;
    call(&w, SAFE, &a[12]);
    peer_run_until(&w, a[12].count);
    assert_string_equal(a[12].echo, "b");
    fixture_free(&w);
}

static void test_not_retried(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    fixture_new(&w, IPC_RETRY_FAILOVER, 2);
    w.a.on_call = say_no;
    w.b.on_call = say_b;
    call(&w, SAFE, &a);
    peer_run_until(&w, a.count);
    assert_int_equal(a.status, -EREMOTEIO);
    w.a.on_call = reset_on_call;
    call(&w, UNSAFE, &b);
    peer_run_until(&w, b.count);
    assert_int_equal(b.status, -ECONNRESET);
    assert_non_null(strstr(b.text, "twice"));
    assert_int_equal(w.notified, 0);
    assert_int_equal(w.b.calls, 0);
    call(&w, SAFE, &c);
    peer_run_until(&w, c.count);
    assert_int_equal(c.status, 0);
    assert_string_equal(c.echo, "b");
    w.a.on_call = say_standby; /* no server is active: the allowed failovers, then the reason */
    w.b.on_call = say_standby;
    call(&w, SAFE, &d);
    peer_run_until(&w, d.count);
    assert_int_equal(d.status, -EREMOTEIO);
    assert_non_null(strstr(d.text, "is not Active! (every server was tried"));
    assert_int_equal(w.notified, 101);
    fixture_free(&w);
}

static void test_gives_up(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 };
    struct ipc_proxy *p;
    struct ipc_proxy_config cfg = {
        .client = { .protocol = PEER_PROTOCOL, .version = 1, .user = "u" },
        .n_servers = 1,
        .retry = policy(IPC_RETRY_RM)
    };
    fixture_new(&w, IPC_RETRY_RM, 1);
    cfg.servers[0] = (struct ipc_proxy_server){ "", "127.0.0.1", w.a.port };
    cfg.retry.max_wait_ms = 40;
    fake_stop(&w.a);
    assert_int_equal(ipc_proxy_new(w.event, &cfg, &p, NULL), 0);
    echo_message m = ECHO_INIT;
    m.protocol = (char *)"x";
    int64_t start = sv_now_ms();
    assert_int_equal(ipc_proxy_call(p, SAFE, &m.base, ECHO_DESCRIPTOR, 0, on_answer, &a, NULL), 0);
    peer_run_until(&w, a.count);
    assert_int_equal(a.status, -ECONNREFUSED);
    assert_true(sv_now_ms() - start >= 40);
    assert_non_null(strstr(a.text, "as long as is configured"));
    ipc_proxy_free(p);
    cfg.n_servers = 0;
    assert_int_equal(ipc_proxy_new(w.event, &cfg, &p, NULL), -EINVAL);
    fixture_free(&w);
}

static void test_cancel(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    fixture_new(&w, IPC_RETRY_RM, 1);
    int32_t open = call(&w, SAFE, &a);
    peer_run_until(&w, w.a.calls == 1);
    assert_true(ipc_proxy_cancel(w.proxy, open));
    assert_int_equal(a.count, 1);
    assert_int_equal(a.status, -ECANCELED);
    assert_false(ipc_proxy_cancel(w.proxy, open));
    fake_echo(&w.a, open, "late"); /* dropped */
    uint16_t port = w.a.port;
    fake_stop(&w.a);
    int32_t asleep = call(&w, SAFE, &b);
    peer_run_until(&w, w.notified >= 3);
    assert_true(ipc_proxy_cancel(w.proxy, asleep));
    assert_int_equal(b.status, -ECANCELED);
    assert_int_equal(b.count, 1);
    w.a.on_call = say_a;
    fake_start(&w.a, w.event, port);
    call(&w, SAFE, &c);
    peer_run_until(&w, c.count);
    assert_int_equal(c.status, 0);
    assert_int_equal(w.a.calls, 2);
    w.a.on_call = NULL;
    call(&w, SAFE, &d); /* open at the end */
    peer_run_until(&w, w.a.calls == 3);
    fixture_free(&w);
    assert_int_equal(d.count, 1);
    assert_int_equal(d.status, -ECANCELED);
    assert_int_equal(a.count + b.count + c.count, 3);
}

/* A callback frees the proxy while others wait, open and asleep. */
static void on_answer_free(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct answer *a = userdata;
    on_answer(r, err, userdata);
    a->w->proxy = ipc_proxy_free(a->w->proxy);
}

static void test_free_inside_callback(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a[5] = { 0 }, killer = { .w = &w };
    echo_message m = ECHO_INIT;
    m.protocol = (char *)"x";
    fixture_new(&w, IPC_RETRY_RM, 1);
    w.a.on_call = say_no;
    for (int i = 0; i < 2; i++)
        call(&w, SAFE, &a[i]);
    assert_int_equal(
        ipc_proxy_call(w.proxy, SAFE, &m.base, ECHO_DESCRIPTOR, 0, on_answer_free, &killer, NULL),
        0);
    for (int i = 2; i < 5; i++)
        call(&w, SAFE, &a[i]);
    peer_run_until(&w, killer.count);
    for (int i = 0; i < 5; i++)
        assert_int_equal(a[i].count, 1);
    assert_int_equal(a[4].status, -ECANCELED);
    fixture_free(&w);

    memset(a, 0, sizeof(a));
    fixture_new(&w, IPC_RETRY_RM, 1);
    fake_stop(&w.a);
    for (int i = 0; i < 5; i++)
        call(&w, SAFE, &a[i]);
    peer_run_until(&w, w.notified >= 5);
    w.proxy = ipc_proxy_free(w.proxy);
    for (int i = 0; i < 5; i++)
        assert_int_equal(a[i].status, -ECANCELED);
    fixture_free(&w);
}

/* ---- Kerberos ---- */

static int helper_steps;

static int no_ticket(struct gssapi_handshake *h, const uint8_t *p, size_t n, gssapi_told told,
                     void *userdata, struct sv_error *err)
{
    (void)h, (void)p, (void)n, (void)told, (void)userdata;
    helper_steps++;
    return sv_error_set(err, -EAGAIN, "no KDC answers");
}

static void no_free(struct gssapi_handshake *h)
{
    (void)h;
}

static int handshake(const struct ipc_kerberos *k, const char *host,
                     char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret)
{
    static const struct gssapi_handshake_functions functions = { .step = no_ticket,
                                                                 .free = no_free };
    static struct gssapi_handshake h = { .f = &functions };

    (void)k, (void)host;
    snprintf(ret_server, IPC_PRINCIPAL_MAX, "rm/there@R");
    *ret = &h;
    return 0;
}

static const struct ipc_kerberos kerberos = { .principal = "nm/here@R", .handshake = handshake };

static void offer(struct fake *f, const char *host)
{
    Hadoop__Common__RpcSaslProto m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    Hadoop__Common__RpcSaslProto__SaslAuth auth = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT,
                                           *auths[] = { &auth };

    m.state = HADOOP__COMMON__RPC_SASL_PROTO__SASL_STATE__NEGOTIATE;
    m.n_auths = 1;
    m.auths = auths;
    auth.method = (char *)"KERBEROS";
    auth.mechanism = (char *)GSSAPI_MECHANISM;
    auth.protocol = (char *)"rm";
    auth.serverid = (char *)(uintptr_t)host;
    fake_sasl(f, &m);
}

static void say_offer(struct fake *f, const struct fake_call *c)
{
    (void)c;
    offer(f, "there");
}
static void say_other(struct fake *f, const struct fake_call *c)
{
    (void)c;
    offer(f, "elsewhere");
}
static void say_refused(struct fake *f, const struct fake_call *c)
{
    (void)c;
    fake_answer(f, IPC_CALL_SASL,
                HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__RPC_STATUS_PROTO__FATAL,
                "javax.security.sasl.SaslException", "GSS initiate failed", NULL, 0);
}

/* One attempt at one server, whatever the policy and however good the other server. */
static void test_authentication_is_final(void **state)
{
    (void)state;
    static const enum ipc_retry_kind kinds[] = { IPC_RETRY_RM, IPC_RETRY_FAILOVER, IPC_RETRY_NM };
    static const struct {
        void (*says)(struct fake *f, const struct fake_call *c);
        int status;
        const char *words;
    } cases[] = {
        { say_other, -EACCES, "principal is rm/elsewhere, expected is rm/there@R" },
        { say_refused, -EREMOTEIO, "GSS initiate failed" },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(kinds) * SV_ARRAY_LEN(cases); i++) {
        const struct ipc_retry_policy retry = policy(kinds[i % SV_ARRAY_LEN(kinds)]);
        size_t at = i / SV_ARRAY_LEN(kinds);
        struct fixture w;
        struct answer a = { 0 };
        fixture_of(&w, &retry, 2, &kerberos);
        w.a.on_call = cases[at].says;
        w.b.on_call = say_offer;
        call(&w, SAFE, &a);
        peer_run_until(&w, a.count);
        assert_int_equal(a.status, cases[at].status);
        if (!strstr(a.text, cases[at].words))
            fail_msg("%s", a.text);
        assert_int_equal(w.notified, 0);
        assert_int_equal(w.a.connections, 1);
        assert_int_equal(w.b.connections, 0);
        assert_string_equal(ipc_proxy_current(w.proxy)->id, "rm1");
        fixture_free(&w);
    }
}

/* Tried again at the same server, with the reason each time, and at the end. */
static void test_no_ticket(void **state)
{
    (void)state;
    static const enum ipc_retry_kind kinds[] = { IPC_RETRY_RM, IPC_RETRY_FAILOVER, IPC_RETRY_NM };
    for (size_t i = 0; i < SV_ARRAY_LEN(kinds); i++) {
        struct ipc_retry_policy retry = policy(kinds[i]);
        struct fixture w;
        struct answer a = { 0 };
        retry.max_wait_ms = 40;
        retry.max_failovers = 4;
        helper_steps = 0;
        fixture_of(&w, &retry, 2, &kerberos);
        w.a.on_call = w.b.on_call = say_offer;
        call(&w, UNSAFE, &a);
        peer_run_until(&w, a.count);
        assert_int_equal(a.status, -EAGAIN);
        assert_non_null(strstr(a.text, "no KDC answers ("));
        assert_true(w.notified >= 1);
        assert_non_null(strstr(w.last_reason, "no KDC answers"));
        assert_int_equal(helper_steps, w.notified + 1);
        assert_int_equal(w.a.connections, helper_steps);
        assert_int_equal(w.b.connections, 0);
        fixture_free(&w);
    }
}

/* ---- Configuration ---- */

static int load(struct sv_conf *c, const char *const *pairs)
{
    for (; *pairs; pairs += 2)
        if (sv_conf_set(c, pairs[0], pairs[1]) < 0)
            return -1;
    return 0;
}

static void test_conf_defaults(void **state)
{
    (void)state;
    struct sv_conf *c = sv_conf_new();
    struct ipc_proxy_config p;
    struct sv_error err = { 0 };
    assert_int_equal(yarn_rm_proxy_config(c, YARN_RM_CLIENTS, &p, &err), 0);
    assert_int_equal(p.n_servers, 1);
    assert_string_equal(p.servers[0].host, "127.0.0.1");
    assert_int_equal(p.servers[0].port, 8032);
    assert_string_equal(p.servers[0].id, "");
    assert_int_equal(p.retry.kind, IPC_RETRY_RM);
    assert_int_equal(p.retry.max_wait_ms, 900000);
    assert_int_equal(p.retry.interval_ms, 30000);
    assert_int_equal(p.retry.connect_retries, 10);
    assert_int_equal(p.retry.connect_timeout_retries, 45);
    assert_int_equal(p.retry.connect_interval_ms, 1000);
    assert_int_equal(p.client.connect_ms, 20000);
    assert_int_equal(p.client.call_ms, 120000);
    assert_int_equal(p.client.ping_ms, 60000);
    assert_int_equal(p.client.idle_ms, 10000);
    assert_int_equal(p.client.max_frame, 128 << 20);
    assert_int_equal(yarn_nm_proxy_config(c, &p, &err), 0);
    assert_int_equal(p.retry.kind, IPC_RETRY_NM);
    assert_int_equal(p.retry.max_wait_ms, 180000);
    assert_int_equal(p.retry.interval_ms, 10000);
    static const char *const set[] = { "yarn.resourcemanager.hostname",
                                       "rm.example",
                                       "yarn.resourcemanager.scheduler.address",
                                       "other",
                                       "yarn.resourcemanager.connect.max-wait.ms",
                                       "-1",
                                       "ipc.client.rpc-timeout.ms",
                                       "0",
                                       "yarn.nodemanager.resourcemanager.connect.retry-interval.ms",
                                       "5s",
                                       NULL };
    assert_int_equal(load(c, set), 0);
    assert_int_equal(yarn_rm_proxy_config(c, YARN_RM_TRACKER, &p, &err), 0);
    assert_string_equal(p.servers[0].host, "rm.example");
    assert_int_equal(p.servers[0].port, 8031);
    assert_int_equal(p.retry.max_wait_ms, -1);
    assert_int_equal(p.retry.interval_ms, 5000);
    assert_int_equal(p.client.call_ms, 86400000);
    assert_int_equal(yarn_rm_proxy_config(c, YARN_RM_SCHEDULER, &p, &err), 0);
    assert_string_equal(p.servers[0].host, "other");
    assert_int_equal(p.servers[0].port, 8030);
    assert_int_equal(p.retry.interval_ms, 30000);
    sv_conf_free(c);
}

static void test_conf_ha(void **state)
{
    (void)state;
    struct sv_conf *c = sv_conf_new();
    struct ipc_proxy_config p;
    struct sv_error err = { 0 };
    static const char *const ha[] = { "yarn.resourcemanager.ha.enabled", "true", NULL };
    static const char *const ids[] = { "yarn.resourcemanager.ha.rm-ids",
                                       " rm1, rm2 ,rm3",
                                       "yarn.resourcemanager.hostname.rm1",
                                       "one",
                                       "yarn.resourcemanager.resource-tracker.address.rm2",
                                       "two:99",
                                       NULL };
    static const char *const rest[] = { "yarn.resourcemanager.hostname.rm3",
                                        "0.0.0.0",
                                        "yarn.client.failover-sleep-base-ms",
                                        "500",
                                        "yarn.client.failover-sleep-max-ms",
                                        "15s",
                                        "yarn.client.failover-retries",
                                        "2",
                                        NULL };
    assert_int_equal(load(c, ha), 0);
    assert_int_equal(yarn_rm_proxy_config(c, YARN_RM_TRACKER, &p, &err), -EINVAL);
    assert_non_null(strstr(err.text, "rm-ids"));
    assert_int_equal(load(c, ids), 0);
    assert_int_equal(yarn_rm_proxy_config(c, YARN_RM_TRACKER, &p, &err), -EINVAL);
    assert_non_null(strstr(err.text, "yarn.resourcemanager.resource-tracker.address.rm3"));
    assert_non_null(strstr(err.text, "yarn.resourcemanager.hostname.rm3"));
    assert_int_equal(load(c, rest), 0);
    assert_int_equal(yarn_rm_proxy_config(c, YARN_RM_TRACKER, &p, &err), 0);
    assert_int_equal(p.n_servers, 3);
    assert_string_equal(p.servers[0].host, "one");
    assert_string_equal(p.servers[1].host, "two");
    assert_string_equal(p.servers[1].id, "rm2");
    assert_int_equal(p.servers[0].port, 8031);
    assert_int_equal(p.servers[1].port, 99);
    assert_string_equal(p.servers[2].host, "127.0.0.1");
    assert_int_equal(p.retry.kind, IPC_RETRY_FAILOVER);
    assert_int_equal(p.retry.max_failovers, 1800); /* 900000 / 500 */
    assert_int_equal(p.retry.base_ms, 500);
    assert_int_equal(p.retry.max_ms, 15000);
    assert_int_equal(p.retry.connect_retries, 2);
    assert_int_equal(p.retry.connect_timeout_retries, 0);
    assert_int_equal(yarn_rm_proxy_config(c, YARN_RM_CLIENTS, &p, &err),
                     -EINVAL); /* rm2 has none */
    static const char *const bad[] = { "yarn.client.failover-max-attempts", "many", NULL };
    assert_int_equal(load(c, bad), 0);
    assert_int_equal(yarn_rm_proxy_config(c, YARN_RM_TRACKER, &p, &err), -EINVAL);
    assert_non_null(strstr(err.text, "failover-max-attempts"));
    sv_conf_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_standby),
        cmocka_unit_test(test_not_retried),
        cmocka_unit_test(test_gives_up),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_free_inside_callback),
        cmocka_unit_test(test_authentication_is_final),
        cmocka_unit_test(test_no_ticket),
        cmocka_unit_test(test_conf_defaults),
        cmocka_unit_test(test_conf_ha),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
