/* Tests service/cluster/login.c with a helper, a NameNode and a ResourceManager that are wrapped:
 * the ticket, the tokens, whom they are for, and that they are given back. */
#include "service/cluster/login.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* after these */
#include <cmocka.h>

#include "gss/daemon.h"
#include "service/cluster/internal.h"
#include "service/cluster/kerberos-conf.h"
#include "wire/ipc/methods-hdfs.h"
#include "wire/ipc/methods.h"
#include "wire/ipc/proxy.h"

static struct {
    struct svc_cluster c;
    struct svc_kerberos_conf kerberos;
    struct sv_conf *conf;
    struct sgss_daemon_state state; /* of the login */
    char log[512];                  /* "getDelegationToken(rm/rm1@S for alice) …" */
    char for_user[64];
    const char *kind; /* of the token that the NameNode gives; NULL: none */
    int status;       /* of the call */
    int namenode, rm; /* what stands for their proxies */
} w;

static struct sgss_daemon *fake_daemon(void)
{
    return (struct sgss_daemon *)(void *)&w;
}

int __wrap_sgss_daemon_new(const struct sgss_daemon_config *cfg, struct sgss_daemon **ret,
                           struct sv_error *err);
int __wrap_sgss_daemon_new(const struct sgss_daemon_config *cfg, struct sgss_daemon **ret,
                           struct sv_error *err)
{
    (void)err;
    assert_string_equal(cfg->principal, "services/h@S");
    assert_string_equal(cfg->keytabs[0], "/etc/own.keytab");
    assert_null(cfg->keytabs[1]); /* that of the web server is not a request's */
    *ret = fake_daemon();
    return 0;
}

struct sgss_daemon_state __wrap_sgss_daemon_state(const struct sgss_daemon *d);
struct sgss_daemon_state __wrap_sgss_daemon_state(const struct sgss_daemon *d)
{
    (void)d;
    return w.state;
}

struct sgss_daemon *__wrap_sgss_daemon_free(struct sgss_daemon *d);
struct sgss_daemon *__wrap_sgss_daemon_free(struct sgss_daemon *d)
{
    size_t n = strlen(w.log);

    if (d)
        (void)snprintf(w.log + n, sizeof(w.log) - n, "gone ");
    return NULL;
}

void __wrap_sgss_service_init(struct sgss_service *s, struct sgss_daemon *d, const char *key,
                              const char *configured, const char *pattern, const char *own_host);
void __wrap_sgss_service_init(struct sgss_service *s, struct sgss_daemon *d, const char *key,
                              const char *configured, const char *pattern, const char *own_host)
{
    (void)key;
    (void)pattern;
    (void)own_host;
    s->daemon = d;
    s->ipc.principal = configured;
}

int __wrap_ipc_proxy_new(sd_event *event, const struct ipc_proxy_config *cfg,
                         struct ipc_proxy **ret, struct sv_error *err);
int __wrap_ipc_proxy_new(sd_event *event, const struct ipc_proxy_config *cfg,
                         struct ipc_proxy **ret, struct sv_error *err)
{
    (void)event;
    (void)err;
    bool rm = strcmp(cfg->client.kerberos->principal, "rm/_HOST@S") == 0;

    if (!rm)
        assert_string_equal(cfg->client.kerberos->principal, "nn/_HOST@S");
    assert_string_equal(cfg->client.protocol,
                        rm ? YARN_APPLICATION_CLIENT_PROTOCOL : HDFS_CLIENT_PROTOCOL);
    (void)snprintf(w.for_user, sizeof(w.for_user), "%s", cfg->client.for_user);
    *ret = (struct ipc_proxy *)(void *)(rm ? &w.rm : &w.namenode);
    return 0;
}

struct ipc_proxy *__wrap_ipc_proxy_free(struct ipc_proxy *p);
struct ipc_proxy *__wrap_ipc_proxy_free(struct ipc_proxy *p)
{
    (void)p;
    return NULL;
}

/* Answers at once; the message is of the arena that it is given with. */
static void give_token(const char *kind, ipc_done done, void *userdata)
{
    struct sv_arena *a = sv_arena_new(0);
    Hadoop__Common__GetDelegationTokenResponseProto m =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;
    struct ipc_result r = { .status = w.status, .response = &m.base, .arena = &a };
    const struct sv_error err = { .code = w.status, .text = "alice is not allowed" };
    struct yarn_token t = { .id = (const uint8_t *)"id",
                            .id_len = 2,
                            .password = (const uint8_t *)"password",
                            .password_len = 8,
                            .kind = kind,
                            .service = "" };

    assert_non_null(a);
    if (kind)
        m.token = yarn_token_to(a, &t);
    done(&r, &err, userdata);
    sv_arena_free(a);
}

int __wrap_ipc_proxy_call(struct ipc_proxy *p, const char *method, const ProtobufCMessage *request,
                          const ProtobufCMessageDescriptor *response, int64_t call_ms,
                          ipc_done done, void *userdata, int32_t *ret_id);
int __wrap_ipc_proxy_call(struct ipc_proxy *p, const char *method, const ProtobufCMessage *request,
                          const ProtobufCMessageDescriptor *response, int64_t call_ms,
                          ipc_done done, void *userdata, int32_t *ret_id)
{
    const Hadoop__Common__GetDelegationTokenRequestProto *get = (const void *)request;
    const Hadoop__Common__CancelDelegationTokenRequestProto *cancel = (const void *)request;
    const struct ipc_result ok = { 0 };
    size_t n = strlen(w.log);

    const char *of = p == (struct ipc_proxy *)(void *)&w.rm ? "rm-" : "";

    (void)response;
    (void)call_ms;
    (void)ret_id;
    if (strcmp(method, "getDelegationToken") == 0) {
        (void)snprintf(w.log + n, sizeof(w.log) - n, "%sget(%s for %s) ", of, get->renewer,
                       w.for_user);
        give_token(*of ? YARN_KIND_RM_DELEGATION : w.kind, done, userdata);
    } else {
        assert_string_equal(method, "cancelDelegationToken");
        assert_int_equal(cancel->token->password.len, 8);
        (void)snprintf(w.log + n, sizeof(w.log) - n, "%scancel ", of);
        done(&ok, NULL, userdata);
    }
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    memset(&w, 0, sizeof(w));
    w.kind = YARN_KIND_HDFS_DELEGATION;
    w.conf = sv_conf_new();
    assert_int_equal(sv_conf_set(w.conf, "fs.defaultFS", "hdfs://127.0.0.1:8020"), 0);
    assert_int_equal(sv_conf_set(w.conf, "yarn.resourcemanager.address", "rm1:8032"), 0);
    w.kerberos = (struct svc_kerberos_conf){ .on = true,
                                             .host = "h",
                                             .principal = "services/h@S",
                                             .keytab = "/etc/own.keytab",
                                             .rm_principal = "rm/_HOST@S",
                                             .namenode_principal = "nn/_HOST@S" };
    w.c.cfg =
        (struct svc_cluster_config){ .conf = w.conf, .user = "alice", .kerberos = &w.kerberos };
    w.c.until_ms = INT64_MAX / 2;
    w.state.until = 1;
    return sd_event_new(&w.c.event);
}

static int tear_down(void **state)
{
    (void)state;
    w.c.login = svc_login_free(w.c.login);
    sd_event_unref(w.c.event);
    sv_conf_free(w.conf);
    return 0;
}

static void end(void)
{
    w.c.login = svc_login_free(w.c.login);
}

static void given_back(void **state)
{
    struct sv_error err = { 0 };
    struct yarn_credentials all;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const uint8_t *bytes;
    size_t n;
    char file[256];
    int fd, again;

    (void)state;
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), 0);
    assert_int_equal(svc_login_credentials(&w.c, &again, &err), 0);
    assert_int_equal(fd, again);
    assert_string_equal(w.log, "get(rm/rm1@S for alice) "); /* once */
    svc_login_tokens(&w.c, &bytes, &n);
    assert_int_equal(pread(fd, file, sizeof(file), 0), n);
    assert_memory_equal(file, bytes, n);
    assert_int_equal(yarn_credentials_parse(bytes, n, a, &all, &err), 0);
    assert_int_equal(all.n_tokens, 1);
    assert_string_equal(all.tokens[0].token.service, "127.0.0.1:8020");
    end();
    assert_string_equal(w.log, "get(rm/rm1@S for alice) cancel gone ");
}

/* An application has it. */
static void handed(void **state)
{
    struct sv_error err = { 0 };
    int fd;

    (void)state;
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), 0);
    svc_login_handed(&w.c);
    end();
    assert_string_equal(w.log, "get(rm/rm1@S for alice) gone ");
}

/* The master's own, behind that of HDFS; the file for HDFS has that one alone. */
static void of_rm(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials all;
    struct sv_error err = { 0 };
    const uint8_t *bytes;
    char file[512];
    ssize_t len;
    size_t n;
    int fd;

    (void)state;
    assert_int_equal(sv_conf_set(w.conf, "hadoop.security.token.service.use_ip", "false"), 0);
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), 0);
    assert_int_equal(svc_login_rm_token(&w.c, &err), 0);
    assert_int_equal(svc_login_rm_token(&w.c, &err), 0);
    assert_string_equal(w.log, "get(rm/rm1@S for alice) rm-get(rm/rm1@S for alice) ");
    svc_login_tokens(&w.c, &bytes, &n);
    assert_int_equal(yarn_credentials_parse(bytes, n, a, &all, &err), 0);
    assert_int_equal(all.n_tokens, 2);
    assert_string_equal(all.tokens[0].token.kind, YARN_KIND_HDFS_DELEGATION);
    assert_string_equal(all.tokens[1].token.kind, YARN_KIND_RM_DELEGATION);
    assert_string_equal(all.tokens[1].token.service, "rm1:8032");
    len = pread(fd, file, sizeof(file), 0);
    assert_true(len > 0);
    assert_int_equal(yarn_credentials_parse((uint8_t *)file, (size_t)len, a, &all, &err), 0);
    assert_int_equal(all.n_tokens, 1);
    end();
    assert_non_null(strstr(w.log, ") rm-cancel cancel gone "));
}

/* Definitions on file: the ResourceManager's is all there is; a submission leaves it. */
static void of_rm_alone(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials all;
    struct sv_error err = { 0 };
    const uint8_t *bytes;
    size_t n;
    int fd;

    (void)state;
    assert_int_equal(sv_conf_set(w.conf, "hadoop.security.token.service.use_ip", "false"), 0);
    assert_int_equal(sv_conf_set(w.conf, "yarn.service.base.path", "file:///srv/services"), 0);
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), 0);
    assert_int_equal(svc_login_rm_token(&w.c, &err), 0);
    svc_login_tokens(&w.c, &bytes, &n);
    assert_int_equal(yarn_credentials_parse(bytes, n, a, &all, &err), 0);
    assert_int_equal(all.n_tokens, 1);
    svc_login_handed(&w.c);
    end();
    assert_null(strstr(w.log, "cancel"));
    w.status = -EREMOTEIO;
    assert_int_equal(svc_login_rm_token(&w.c, &err), -EREMOTEIO);
    assert_non_null(strstr(err.text, "delegation token of the ResourceManager, as services/h@S"));
    svc_login_tokens(&w.c, &bytes, &n);
    assert_int_equal(n, 0);
    w.c.cfg.kerberos = NULL;
    assert_int_equal(svc_login_rm_token(&w.c, &err), 0);
}

static void none_needed(void **state)
{
    struct sv_error err = { 0 };
    const uint8_t *bytes;
    size_t n;
    int fd = 7;

    (void)state;
    w.c.cfg.kerberos = NULL;
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), 0);
    assert_int_equal(fd, -1);
    svc_login_tokens(&w.c, &bytes, &n);
    assert_int_equal(n, 0);
    w.c.cfg.kerberos = &w.kerberos;
    assert_int_equal(sv_conf_set(w.conf, "yarn.service.base.path", "file:///srv/services"), 0);
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), 0);
    assert_int_equal(fd, -1);
    end();
    assert_string_equal(w.log, "gone ");
}

static void refused(void **state)
{
    struct sv_error err = { 0 };
    int fd;

    (void)state;
    w.state = (struct sgss_daemon_state){ .words = "no KDC answers" };
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), -EKEYREJECTED);
    assert_non_null(strstr(err.text, "services/h@S: no KDC answers"));
    w.state = (struct sgss_daemon_state){ .until = 1 };
    w.status = -EREMOTEIO;
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), -EREMOTEIO);
    assert_non_null(strstr(err.text, "for alice"));
    assert_non_null(strstr(err.text, "alice is not allowed"));
    end();
    w.status = 0;
    w.kind = NULL;
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), -EBADMSG);
    end();
    w.kind = "ANOTHER_KIND";
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), -EBADMSG);
    end();
    assert_int_equal(sv_conf_set(w.conf, "yarn.service.base.path", "webhdfs://h:1/services"), 0);
    assert_int_equal(svc_login_credentials(&w.c, &fd, &err), -EOPNOTSUPP);
    assert_non_null(strstr(err.text, "only hdfs: and file:"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = { TEST(given_back),  TEST(handed),      TEST(of_rm),
                                        TEST(of_rm_alone), TEST(none_needed), TEST(refused) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
