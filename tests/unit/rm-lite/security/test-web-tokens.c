/* rm-lite/security/web-tokens.c and web-issuers.c: tokens of WebHDFS and key servers, renewed by
 * HTTP at servers of the test, with a ticket, at those that the files name and no others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/str.h"
#include "common/web/http.h"
#include "rm-lite/security/web-tokens.h"
#include "wire/ipc/ipc-client.h"
#include "wire/sasl/gssapi.h"

#define PUT "PUT /webhdfs/v1/?op=RENEWDELEGATIONTOKEN&token="

static struct {
    sd_event *event;
    struct sv_http *http[2];
    struct rm_web_tokens *w;
    unsigned status[2];
    const char *body[2];
    char seen[512], ticket[64], host[64];
    int requests, handshakes;
    int kdc; /* -errno: no ticket */
    int done, result;
    int64_t expires;
    char why[512];
} t;

/* ---- A server ---- */

static int serve(int i, const struct sv_http_request *req, struct sv_http_response *ret)
{
    const char *ticket = sv_http_header(req, "Authorization");

    snprintf(t.seen, sizeof(t.seen), "%s %s", req->method, req->uri);
    snprintf(t.ticket, sizeof(t.ticket), "%s", ticket ? ticket : "");
    t.requests++;
    ret->status = t.status[i];
    ret->content_type = "application/json";
    ret->body = strdup(t.body[i]);
    ret->body_len = strlen(t.body[i]);
    return 0;
}

static int on_first(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    (void)userdata;
    return serve(0, req, ret);
}

static int on_second(const struct sv_http_request *req, struct sv_http_response *ret,
                     void *userdata)
{
    (void)userdata;
    return serve(1, req, ret);
}

/* ---- A ticket ---- */

struct shake {
    struct gssapi_handshake base;
    sd_event_source *later;
    gssapi_told told;
    void *userdata;
};

static int tell(sd_event_source *s, void *userdata)
{
    struct shake *h = userdata;
    const struct gssapi_outcome good = { .token = (const uint8_t *)"ticket", .token_len = 6 };
    const struct gssapi_outcome bad = { .status = t.kdc, .text = "no KDC answers" };

    (void)s;
    h->told(t.kdc < 0 ? &bad : &good, h->userdata);
    return 0;
}

static int on_step(struct gssapi_handshake *base, const uint8_t *p, size_t n, gssapi_told told,
                   void *userdata, struct sv_error *err)
{
    struct shake *h = (struct shake *)base;

    (void)p, (void)err;
    assert_int_equal(n, 0);
    h->told = told;
    h->userdata = userdata;
    return sd_event_add_defer(t.event, &h->later, tell, h);
}

static void on_free(struct gssapi_handshake *base)
{
    struct shake *h = (struct shake *)base;

    sd_event_source_disable_unref(h->later);
    free(h);
}

static int on_handshake(const struct ipc_kerberos *k, const char *host,
                        char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret)
{
    static const struct gssapi_handshake_functions f = { on_step, on_free };
    struct shake *h = calloc(1, sizeof(*h));

    (void)k;
    t.handshakes++;
    snprintf(t.host, sizeof(t.host), "%s", host);
    snprintf(ret_server, IPC_PRINCIPAL_MAX, "HTTP/%s@R", host);
    h->base.f = &f;
    *ret = &h->base;
    return 0;
}

static const struct ipc_kerberos login = { .principal = "rm/host@R", .handshake = on_handshake };

/* ---- Calls ---- */

static int setup(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    memset(&t, 0, sizeof(t));
    assert_true(sd_event_new(&t.event) >= 0);
    assert_int_equal(sv_http_new(t.event, "127.0.0.1", 0, on_first, NULL, &t.http[0], &err), 0);
    assert_int_equal(sv_http_new(t.event, "127.0.0.1", 0, on_second, NULL, &t.http[1], &err), 0);
    assert_int_equal(rm_web_tokens_new(t.event, &login, &t.w), 0);
    t.status[0] = t.status[1] = 200;
    t.body[0] = t.body[1] = "{\"long\":1700000000123}";
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rm_web_tokens_free(t.w);
    sv_http_free(t.http[0]);
    sv_http_free(t.http[1]);
    sd_event_unref(t.event);
    return 0;
}

static void on_done(const struct rm_web_result *r, void *userdata)
{
    assert_ptr_equal(userdata, &t);
    t.done++;
    t.result = r->status;
    t.expires = r->expires_ms;
    snprintf(t.why, sizeof(t.why), "%s", r->why ? r->why : "");
}

static struct rm_web_issuer both(void)
{
    struct rm_web_issuer to = { .path = "/webhdfs/v1/", .n = 2 };

    for (int i = 0; i < 2; i++) {
        snprintf(to.servers[i].host, sizeof(to.servers[i].host), "127.0.0.1");
        to.servers[i].port = sv_http_port(t.http[i]);
    }
    return to;
}

static int call_at(const struct rm_web_issuer *to, bool cancel)
{
    const struct yarn_token token = { .id = (const uint8_t *)"id",
                                      .id_len = 2,
                                      .password = (const uint8_t *)"secret",
                                      .password_len = 6,
                                      .kind = RM_KIND_WEBHDFS,
                                      .service = "127.0.0.1:9870" };
    struct sv_error err = { 0 };
    int64_t until = sv_now_ms() + 20000;

    t.done = 0;
    assert_int_equal(rm_web_tokens_call(t.w, to, &token, cancel, on_done, &t, &err), 0);
    assert_int_equal(t.done, 0);
    while (!t.done) {
        assert_true(sv_now_ms() < until);
        assert_true(sd_event_run(t.event, 10000) >= 0);
    }
    return t.result;
}

static void test_renewed(void **state)
{
    struct rm_web_issuer to = both();

    (void)state;
    assert_int_equal(call_at(&to, false), 0);
    assert_int_equal(t.expires, 1700000000123);
    assert_memory_equal(t.seen, PUT, strlen(PUT));
    assert_string_equal(t.ticket, "Negotiate dGlja2V0");
    assert_string_equal(t.host, "127.0.0.1");
    t.body[0] = "";
    assert_int_equal(call_at(&to, true), 0);
    assert_non_null(strstr(t.seen, "op=CANCELDELEGATIONTOKEN"));
    assert_int_equal(t.requests, 2);
}

static void test_next_server(void **state)
{
    struct rm_web_issuer to = both();

    (void)state;
    t.status[0] = 403;
    t.body[0] = "{\"RemoteException\":{\"exception\":\"StandbyException\",\"javaClassName\":"
                "\"org.apache.hadoop.ipc.StandbyException\",\"message\":\"standby\"}}";
    assert_int_equal(call_at(&to, false), 0);
    assert_int_equal(t.requests, 2);
    assert_int_equal(t.handshakes, 2); /* a ticket is for one server */
    t.status[0] = 503;
    assert_int_equal(call_at(&to, false), 0);
    t.status[1] = 500;
    assert_int_equal(call_at(&to, false), -EAGAIN);
    to.servers[0].port = to.servers[1].port = 1;
    assert_int_equal(call_at(&to, false), -EAGAIN);
    t.kdc = -EIO;
    assert_int_equal(call_at(&to, false), -EAGAIN);
    assert_non_null(strstr(t.why, "no KDC answers"));
}

static void test_refused(void **state)
{
    static const struct {
        unsigned status;
        const char *body, *words;
    } cases[] = {
        { 401, "<html>", "status 401" },
        { 302, "", "status 302" }, /* the token is shown to nobody else */
        { 403,
          "{\"RemoteException\":{\"exception\":\"InvalidToken\",\"javaClassName\":\"x."
          "InvalidToken\","
          "\"message\":\"can't be found\\nat line 2\"}}",
          "can't be found" },
        { 200, "{\"long\":\"1\"}", "has no time" },
        { 200, "{\"long\":-1}", "has no time" },
        { 200, "[]", "has no time" },
        { 200, "", "has no time" },
    };
    struct rm_web_issuer to = both();

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        t.status[0] = cases[i].status;
        t.body[0] = cases[i].body;
        assert_int_equal(call_at(&to, false), -EACCES);
        assert_non_null(strstr(t.why, cases[i].words));
        assert_null(strchr(t.why, '\n'));
    }
    assert_int_equal(t.requests, SV_ARRAY_LEN(cases));
}

static void test_large_answer(void **state)
{
    struct rm_web_issuer to = both();
    char *large = calloc(1, RM_WEB_ANSWER_MAX + 2);

    (void)state;
    memset(large, ' ', RM_WEB_ANSWER_MAX + 1);
    t.body[0] = t.body[1] = large;
    assert_int_equal(call_at(&to, false), -EAGAIN);
    free(large);
}

static void test_end(void **state)
{
    struct rm_web_issuer to = both();
    const struct yarn_token token = { .kind = RM_KIND_KMS, .service = "" };
    const struct yarn_token large = { .kind = "", .service = "", .id_len = 5000 };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(rm_web_tokens_call(t.w, &to, &large, false, on_done, &t, &err), -E2BIG);
    for (int i = 0; i < 3; i++)
        assert_int_equal(rm_web_tokens_call(t.w, &to, &token, i == 1, on_done, &t, &err), 0);
    t.w = rm_web_tokens_free(t.w);
    assert_int_equal(t.done, 3);
    assert_int_equal(t.result, -ECANCELED);
}

/* ---- Which services ---- */

static struct rm_web_issuers *issuers_of(const char *const (*keys)[2], struct sv_conf **ret)
{
    struct rm_web_issuers *w;
    struct rm_web_issuer at;
    struct sv_error err = { 0 };
    struct sv_conf *c = sv_conf_new();

    for (; (*keys)[0]; keys++)
        assert_int_equal(sv_conf_set(c, (*keys)[0], (*keys)[1]), 0);
    assert_int_equal(rm_web_issuers_new(t.event, c, &w, &err), 0);
    for (const char *kind = RM_KIND_WEBHDFS; kind;
         kind = sv_streq(kind, RM_KIND_WEBHDFS)    ? RM_KIND_SWEBHDFS
                : sv_streq(kind, RM_KIND_SWEBHDFS) ? RM_KIND_KMS
                                                   : NULL)
        while (rm_web_issuers_find(w, kind, "192.0.2.1:1", &at, NULL) == -EAGAIN)
            assert_true(sd_event_run(t.event, 10000) >= 0);
    *ret = c;
    return w;
}

static void test_services(void **state)
{
    static const char *const keys[][2] = {
        { "fs.defaultFS", "hdfs://localhost:8020" },
        { "dfs.nameservices", "ns" },
        { "dfs.ha.namenodes.ns", "a,b" },
        { "dfs.namenode.http-address.ns.a", "127.0.0.2:9870" },
        { "dfs.namenode.http-address.ns.b", "127.0.0.3:9870" },
        { "dfs.namenode.http-address", "localhost:9870" },
        { "hadoop.security.key.provider.path", "kms://https@127.0.0.4;localhost:9600/kms" },
        { NULL, NULL },
    };
    static const struct {
        const char *kind, *service;
        int r;
        const char *host;
        unsigned n;
        bool secure;
    } cases[] = {
        { RM_KIND_WEBHDFS, "127.0.0.1:9870", 0, "localhost", 1, false },
        { RM_KIND_WEBHDFS, "LOCALHOST:9870", 0, "localhost", 1, false },
        { RM_KIND_WEBHDFS, "ha-webhdfs:ns", 0, "127.0.0.2", 2, false },
        { RM_KIND_WEBHDFS, "127.0.0.3:9870", 0, "127.0.0.3", 1, false },
        { RM_KIND_WEBHDFS, "ha-webhdfs:other", -EACCES, NULL, 0, false },
        { RM_KIND_WEBHDFS, "evil.example:9870", -EACCES, NULL, 0, false },
        { RM_KIND_WEBHDFS, "127.0.0.1:9871", -EACCES, NULL, 0, false },
        { RM_KIND_WEBHDFS, "localhost", -EINVAL, NULL, 0, false },
        { RM_KIND_WEBHDFS, "x/../y:1", -EINVAL, NULL, 0, false },
        { RM_KIND_SWEBHDFS, "127.0.0.1:9871", 0, "localhost", 1, true }, /* Hadoop's port */
        { RM_KIND_SWEBHDFS, "127.0.0.1:9870", -EACCES, NULL, 0, true },
        { RM_KIND_SWEBHDFS, "ha-swebhdfs:ns", -EACCES, NULL, 0, true },
        { RM_KIND_KMS, "127.0.0.1:9600", 0, "127.0.0.4", 2, true },
        { RM_KIND_KMS, "kms://https@127.0.0.4:9600/kms", 0, "127.0.0.4", 2, true },
        { RM_KIND_KMS, "kms://http@127.0.0.4:9600/kms", -EACCES, NULL, 0, true },
        { RM_KIND_KMS, "kms://https@evil.example:9600/kms", -EACCES, NULL, 0, true },
        { RM_KIND_KMS, "kms://https@127.0.0.4;evil.example:9600/kms", -EACCES, NULL, 0, true },
        { RM_KIND_KMS, "kms://https@127.0.0.4:9600/other", -EACCES, NULL, 0, true },
        { RM_KIND_KMS, "kms://nonsense", -EINVAL, NULL, 0, true },
    };
    struct sv_conf *c;
    struct rm_web_issuers *w = issuers_of(keys, &c);

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct rm_web_issuer at = { 0 };
        struct sv_error err = { 0 };
        int r = rm_web_issuers_find(w, cases[i].kind, cases[i].service, &at, &err);

        if (r != cases[i].r)
            fail_msg("%s: %d, not %d: %s", cases[i].service, r, cases[i].r, err.text);
        if (r < 0) {
            assert_true(*err.text);
            continue;
        }
        assert_string_equal(at.servers[0].host, cases[i].host);
        assert_int_equal(at.n, cases[i].n);
        assert_int_equal(at.secure, cases[i].secure);
        assert_string_equal(at.path,
                            sv_streq(cases[i].kind, RM_KIND_KMS) ? "/kms/v1/" : "/webhdfs/v1/");
    }
    rm_web_issuers_free(w);
    sv_conf_free(c);
}

static void test_no_services(void **state)
{
    static const char *const keys[][2] = { { NULL, NULL } };
    struct rm_web_issuer at;
    struct sv_error err = { 0 };
    struct sv_conf *c;
    struct rm_web_issuers *w = issuers_of(keys, &c);

    (void)state;
    assert_int_equal(
        rm_web_issuers_find(w, RM_KIND_KMS, "kms://http@localhost:9600/kms", &at, &err), -EACCES);
    assert_true(rm_web_issuers_kind(RM_KIND_KMS));
    assert_false(rm_web_issuers_kind("mapreduce.job"));
    rm_web_issuers_free(w);
    sv_conf_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_renewed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_next_server, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_services, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_services, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
