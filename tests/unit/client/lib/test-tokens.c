/* Tests client/lib/tokens.c with servers that answer what a test wants: whose tokens are taken, for
 * whom, who renews them, under which names, and what goes wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/login.h"
#include "client/lib/tokens.h"
#include "hdfs/namenode-proxy.h"
#include "proto/security.pb-c.h"
#include "wire/ipc/methods.h"

#define RENEWER "rm/127.0.0.1@A.TEST"

/* ---- Servers ---- */

static struct {
    sd_event *event;
    int calls, proxies; /* proxies: alive */
    char asked[256];    /* "host:port " of each call */
    char renewer[64], for_user[64];
    const char *kind; /* of the answer's token; NULL: what was asked for */
    int status;       /* of the call */
    bool of_rm;       /* the last proxy */
    ipc_done done;
    void *userdata;
} net;

static struct ipc_proxy *proxy(const char *host, unsigned port, const char *for_user)
{
    const size_t used = strlen(net.asked);

    snprintf(net.asked + used, sizeof(net.asked) - used, "%s:%u ", host, port);
    snprintf(net.for_user, sizeof(net.for_user), "%s", for_user ? for_user : "");
    net.proxies++;
    return (struct ipc_proxy *)&net;
}

int __wrap_hdfs_proxy_new(const struct hdfs_login *login, const struct hdfs_site *site,
                          struct ipc_proxy **ret, struct sv_error *err);
int __wrap_hdfs_proxy_new(const struct hdfs_login *login, const struct hdfs_site *site,
                          struct ipc_proxy **ret, struct sv_error *err)
{
    (void)err;
    assert_non_null(login->kerberos);
    assert_int_equal(login->qop_mask, 4);
    net.of_rm = false;
    *ret = proxy(site->servers[0].host, site->servers[0].port, login->for_user);
    return 0;
}

int __wrap_ipc_proxy_new(sd_event *event, const struct ipc_proxy_config *cfg,
                         struct ipc_proxy **ret, struct sv_error *err);
int __wrap_ipc_proxy_new(sd_event *event, const struct ipc_proxy_config *cfg,
                         struct ipc_proxy **ret, struct sv_error *err)
{
    (void)event, (void)err;
    assert_string_equal(cfg->client.protocol, YARN_APPLICATION_CLIENT_PROTOCOL);
    assert_non_null(cfg->client.kerberos);
    net.of_rm = true;
    *ret = proxy(cfg->servers[0].host, cfg->servers[0].port, cfg->client.for_user);
    return 0;
}

struct ipc_proxy *__wrap_ipc_proxy_free(struct ipc_proxy *p);
struct ipc_proxy *__wrap_ipc_proxy_free(struct ipc_proxy *p)
{
    net.proxies -= p != NULL;
    return NULL;
}

static int answer(sd_event_source *s, void *userdata)
{
    Hadoop__Common__TokenProto token = HADOOP__COMMON__TOKEN_PROTO__INIT;
    Hadoop__Common__GetDelegationTokenResponseProto m =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;
    const char *kind = net.of_rm ? YARN_KIND_RM_DELEGATION : YARN_KIND_HDFS_DELEGATION;
    struct sv_arena *a = sv_arena_new(0);
    struct ipc_result r = { .status = net.status, .response = &m.base, .arena = &a };
    struct sv_error err = { .code = net.status, .text = "the server's words" };

    (void)userdata;
    sd_event_source_unref(s);
    kind = net.kind ? net.kind : kind;
    token.kind = sv_arena_strdup(a, kind);
    token.service = (char *)"";
    token.identifier = (ProtobufCBinaryData){ 2, (uint8_t *)(uintptr_t) "id" };
    token.password = (ProtobufCBinaryData){ 2, (uint8_t *)(uintptr_t) "pw" };
    m.token = sv_arena_memdup(a, &token, sizeof(token)); /* it outlives this call */
    net.done(&r, &err, net.userdata);
    sv_arena_free(a);
    return 0;
}

int __wrap_ipc_proxy_call(struct ipc_proxy *p, const char *method, const ProtobufCMessage *request,
                          const ProtobufCMessageDescriptor *response, int64_t call_ms,
                          ipc_done done, void *userdata, int32_t *ret_id);
int __wrap_ipc_proxy_call(struct ipc_proxy *p, const char *method, const ProtobufCMessage *request,
                          const ProtobufCMessageDescriptor *response, int64_t call_ms,
                          ipc_done done, void *userdata, int32_t *ret_id)
{
    const Hadoop__Common__GetDelegationTokenRequestProto *q = (const void *)request;
    sd_event_source *s = NULL;

    (void)p, (void)response, (void)call_ms, (void)ret_id;
    assert_string_equal(method, "getDelegationToken");
    snprintf(net.renewer, sizeof(net.renewer), "%s", q->renewer);
    net.calls++;
    net.done = done;
    net.userdata = userdata;
    return sd_event_add_defer(net.event, &s, answer, NULL);
}

int __wrap_ipc_ticket_new(const struct ipc_ticket_config *cfg, struct ipc_ticket **ret,
                          struct sv_error *err);
int __wrap_ipc_ticket_new(const struct ipc_ticket_config *cfg, struct ipc_ticket **ret,
                          struct sv_error *err)
{
    (void)cfg, (void)err;
    *ret = calloc(1, 1);
    return *ret ? 0 : -ENOMEM;
}

const char *__wrap_ipc_ticket_principal(const struct ipc_ticket *t);
const char *__wrap_ipc_ticket_principal(const struct ipc_ticket *t)
{
    (void)t;
    return "alice@A.TEST";
}

/* ---- Fixture ---- */

struct told {
    struct sv_conf *conf;
    struct cli_login *login;
    struct cli_tokens *fetch;
    struct sv_arena *a;
    struct yarn_credentials all;
    int n, status;
    char why[SV_ERROR_TEXT_MAX];
};

static void on_tokens(int status, const uint8_t *p, size_t n, const struct sv_error *err,
                      void *userdata)
{
    struct told *t = userdata;

    t->n++;
    t->status = status;
    snprintf(t->why, sizeof(t->why), "%s", err ? err->text : "");
    assert_int_equal(yarn_credentials_parse(p, n, t->a, &t->all, NULL), 0);
    t->fetch = cli_tokens_free(t->fetch);
    sd_event_exit(net.event, 0);
}

static int set_up(void **state)
{
    static const char *const keys[][2] = {
        { "hadoop.security.authentication", "kerberos" },
        { "hadoop.rpc.protection", "privacy" },
        { "yarn.resourcemanager.address", "127.0.0.1:8032" },
        { "yarn.resourcemanager.principal", "rm/127.0.0.1@A.TEST" },
        { "dfs.namenode.kerberos.principal", "nn/_HOST@A.TEST" },
        { "fs.defaultFS", "hdfs://one" },
        { "dfs.nameservices", "one" },
        { "dfs.ha.namenodes.one", "a,b" },
        { "dfs.namenode.rpc-address.one.a", "127.0.0.1:9000" },
        { "dfs.namenode.rpc-address.one.b", "127.0.0.2:9000" },
    };
    struct told *t = calloc(1, sizeof(*t));

    memset(&net, 0, sizeof(net));
    unsetenv("HADOOP_TOKEN_FILE_LOCATION");
    unsetenv("HADOOP_PROXY_USER");
    t->conf = sv_conf_new();
    t->a = sv_arena_new(0);
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++)
        assert_int_equal(sv_conf_set(t->conf, keys[i][0], keys[i][1]), 0);
    *state = t;
    return sd_event_new(&net.event) < 0;
}

static int tear_down(void **state)
{
    struct told *t = *state;

    cli_tokens_free(t->fetch);
    cli_login_free(t->login);
    sv_conf_free(t->conf);
    sv_arena_free(t->a);
    free(t);
    sd_event_unref(net.event);
    return net.proxies; /* none is left */
}

static int begin(struct told *t, const char *const *urls, size_t n, struct sv_error *err)
{
    if (!t->login)
        assert_int_equal(cli_login_new(t->conf, YARN_RM_CLIENTS, &t->login, NULL), 0);
    return cli_tokens_fetch(net.event, t->conf, t->login, urls, n, on_tokens, t, &t->fetch, err);
}

static void fetch(struct told *t, const char *const *urls, size_t n)
{
    struct sv_error err = { 0 };

    if (begin(t, urls, n, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(sd_event_loop(net.event), 0);
    assert_int_equal(t->n, 1);
}

/* ---- Tests ---- */

/* A file system is asked once, whatever urls are on it; the ResourceManager last. */
static void test_servers(void **state)
{
    static const char *const urls[] = { "/",        "hdfs://one/logs",         CLI_TOKENS_OF_RM,
                                        "/staging", "hdfs://127.0.0.9:8020",   "file:///tmp",
                                        "hdfs:///", "hdfs://127.0.0.9:8020/x/" };
    static const char *const names[] = { "ha-hdfs:one", "127.0.0.9:8020", "127.0.0.1:8032" };
    struct told *t = *state;

    fetch(t, urls, SV_ARRAY_LEN(urls));
    assert_int_equal(t->status, 0);
    assert_string_equal(net.asked, "127.0.0.1:9000 127.0.0.9:8020 127.0.0.1:8032 ");
    assert_string_equal(net.renewer, RENEWER);
    assert_string_equal(net.for_user, "");
    assert_int_equal(t->all.n_tokens, SV_ARRAY_LEN(names));
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        assert_string_equal(t->all.tokens[i].alias, names[i]);
        assert_string_equal(t->all.tokens[i].token.service, names[i]);
        assert_string_equal(t->all.tokens[i].token.kind,
                            i < 2 ? YARN_KIND_HDFS_DELEGATION : YARN_KIND_RM_DELEGATION);
        assert_memory_equal(t->all.tokens[i].token.password, "pw", 2);
    }
}

static void test_for_somebody_else(void **state)
{
    struct told *t = *state;

    setenv("HADOOP_PROXY_USER", "bob", 1);
    fetch(t, (const char *const[]){ "/" }, 1);
    assert_string_equal(net.for_user, "bob");
    unsetenv("HADOOP_PROXY_USER");
}

static void test_nothing(void **state)
{
    struct told *t = *state;

    fetch(t, (const char *const[]){ "file:///tmp", "https://x/y" }, 2);
    assert_int_equal(t->status, 0);
    assert_int_equal(net.calls, 0);
    assert_int_equal(t->all.n_tokens, 0);
}

static void test_refused(void **state)
{
    struct told *t = *state;

    net.status = -EREMOTEIO;
    fetch(t, (const char *const[]){ "/", CLI_TOKENS_OF_RM }, 2);
    assert_int_equal(t->status, -EREMOTEIO);
    assert_string_equal(t->why, "delegation token of HDFS at 127.0.0.1: the server's words");
    assert_int_equal(net.calls, 1);
}

/* A NameNode gives tokens of its own kind, or none. */
static void test_wrong_kind(void **state)
{
    struct told *t = *state;

    net.kind = YARN_KIND_AMRM;
    fetch(t, (const char *const[]){ "/" }, 1);
    assert_int_equal(t->status, -EBADMSG);
    assert_int_equal(t->all.n_tokens, 0);
}

static void test_bad_arguments(void **state)
{
    struct told *t = *state;
    struct sv_error err = { 0 };

    assert_int_equal(begin(t, (const char *const[]){ "ftp://x/y" }, 1, &err), -EINVAL);
    assert_int_equal(sv_conf_set(t->conf, "yarn.resourcemanager.principal", ""), 0);
    assert_int_equal(begin(t, (const char *const[]){ "/" }, 1, &err), -EINVAL);
    assert_non_null(strstr(err.text, "yarn.resourcemanager.principal"));
    assert_int_equal(t->n, 0);
}

static void test_given_up(void **state)
{
    struct told *t = *state;
    struct sv_error err = { 0 };

    assert_int_equal(begin(t, (const char *const[]){ "/" }, 1, &err), 0);
    assert_true(sd_event_run(net.event, 0) >= 0); /* the call is open */
    assert_int_equal(net.calls, 1);
    t->fetch = cli_tokens_free(t->fetch);
    assert_int_equal(t->n, 0);
    assert_int_equal(net.proxies, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_servers),    T(test_for_somebody_else), T(test_nothing),  T(test_refused),
        T(test_wrong_kind), T(test_bad_arguments),     T(test_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
