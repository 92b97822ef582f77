/* Tests client/lib/login.c and tokens.c, as far as they need no server: whose proof is used, and
 * the tokens of a caller who has a token file alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/login.h"
#include "client/lib/tokens.h"
#include "common/buf.h"
#include "hdfs/namenode.h"

#define ALICE "alice@A.TEST"

static struct {
    int tickets; /* looked for */
    struct ipc_ticket_config asked;
    int result;
} fake;

int __wrap_ipc_ticket_new(const struct ipc_ticket_config *cfg, struct ipc_ticket **ret,
                          struct sv_error *err);
int __wrap_ipc_ticket_new(const struct ipc_ticket_config *cfg, struct ipc_ticket **ret,
                          struct sv_error *err)
{
    fake.tickets++;
    fake.asked = *cfg;
    if (fake.result < 0)
        return sv_error_set(err, fake.result, "no ticket: run kinit");
    *ret = calloc(1, 8192); /* a ticket, to ipc_ticket_principal() */
    return *ret ? 0 : -ENOMEM;
}

const char *__wrap_ipc_ticket_principal(const struct ipc_ticket *t);
const char *__wrap_ipc_ticket_principal(const struct ipc_ticket *t)
{
    (void)t;
    return ALICE;
}

/* ---- Files ---- */

static char path[] = "/tmp/test-login-XXXXXX";

struct given {
    const char *kind, *service, *owner;
};

static void add(struct sv_arena *a, struct yarn_credentials *all, const struct given *g)
{
    const struct yarn_delegation_token id = { .sequence = 1, .key_id = 1 };
    struct yarn_delegation_token named = id;
    struct yarn_token t = { .password = (const uint8_t *)"secret",
                            .password_len = 6,
                            .kind = g->kind,
                            .service = g->service };
    char alias[64];

    snprintf(named.owner, sizeof(named.owner), "%s", g->owner ? g->owner : "");
    snprintf(alias, sizeof(alias), "%zu", all->n_tokens);
    assert_int_equal(yarn_delegation_token_encode(a, &named, &t.id, &t.id_len), 0);
    assert_int_equal(yarn_credentials_add(a, all, alias, &t), 0);
}

static void write_tokens(const struct given *list, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(65536);
    struct yarn_credentials all = { 0 };
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    for (size_t i = 0; i < n; i++)
        add(a, &all, &list[i]);
    assert_int_equal(yarn_credentials_write(&all, &b), 0);
    assert_int_equal(fwrite(b.data, 1, b.len, f), b.len);
    fclose(f);
    setenv("HADOOP_TOKEN_FILE_LOCATION", path, 1);
}

static struct sv_conf *conf_of(const char *more_key, const char *more_value)
{
    struct sv_conf *c = sv_conf_new();

    assert_non_null(c);
    assert_int_equal(sv_conf_set(c, "hadoop.security.authentication", "kerberos"), 0);
    assert_int_equal(sv_conf_set(c, "hadoop.rpc.protection", "privacy"), 0);
    assert_int_equal(sv_conf_set(c, "yarn.resourcemanager.address", "127.0.0.1:8032"), 0);
    if (more_key)
        assert_int_equal(sv_conf_set(c, more_key, more_value), 0);
    return c;
}

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    unsetenv("HADOOP_TOKEN_FILE_LOCATION");
    return 0;
}

/* ---- The proof that is used ---- */

static void test_simple(void **state)
{
    (void)state;
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct cli_login *l = (struct cli_login *)&fake;

    assert_int_equal(cli_login_new(c, YARN_RM_CLIENTS, &l, NULL), 0);
    assert_null(l);
    assert_int_equal(fake.tickets, 0);
}

static void test_ticket(void **state)
{
    (void)state;
    _cleanup_(sv_conf_freep) struct sv_conf *c =
        conf_of("hadoop.security.kerberos.ticket.cache.path", "/tmp/x");
    _cleanup_(cli_login_freep) struct cli_login *l = NULL;

    assert_int_equal(cli_login_new(c, YARN_RM_CLIENTS, &l, NULL), 0);
    assert_string_equal(cli_login_principal(l), ALICE);
    assert_string_equal(fake.asked.cache, "/tmp/x");
    assert_null(fake.asked.principal);
    assert_null(cli_login_token(l));
    assert_non_null(cli_login_hdfs(l));
    assert_int_equal(cli_login_credentials_fd(l), -1);
    assert_int_equal(cli_login_qop(l), 4);
}

static void test_proxy_user(void **state)
{
    (void)state;
    static const struct given list[] = { { YARN_KIND_RM_DELEGATION, "127.0.0.1:8032", ALICE } };
    _cleanup_(sv_conf_freep) struct sv_conf *c = conf_of(NULL, NULL), *d = conf_of(NULL, NULL);
    _cleanup_(cli_login_freep) struct cli_login *l = NULL, *m = NULL;

    setenv("HADOOP_PROXY_USER", "bob", 1);
    assert_int_equal(cli_login_new(c, YARN_RM_CLIENTS, &l, NULL), 0);
    assert_string_equal(cli_login_for_user(l), "bob");
    assert_string_equal(cli_login_hdfs(l)->for_user, "bob");
    write_tokens(list, 1); /* a token acts for its owner alone */
    assert_int_equal(cli_login_new(d, YARN_RM_CLIENTS, &m, NULL), 0);
    assert_null(cli_login_for_user(m));
    unsetenv("HADOOP_PROXY_USER");
}

/* A token comes first; administrators' calls take tickets alone; a principal that is named, too. */
static void test_token(void **state)
{
    (void)state;
    static const struct given list[] = { { YARN_KIND_HDFS_DELEGATION, "127.0.0.1:9000", ALICE },
                                         { YARN_KIND_RM_DELEGATION, "10.0.0.9:8032", ALICE } };
    _cleanup_(sv_conf_freep) struct sv_conf *c = conf_of(NULL, NULL);
    _cleanup_(sv_conf_freep) struct sv_conf *named =
        conf_of("selvedge.client.kerberos.principal", "bob");
    _cleanup_(cli_login_freep) struct cli_login *l = NULL, *admin = NULL, *bob = NULL;

    write_tokens(list, 2);
    assert_int_equal(cli_login_new(c, YARN_RM_CLIENTS, &l, NULL), 0);
    assert_non_null(cli_login_token(l));
    assert_string_equal(cli_login_principal(l), ALICE);
    assert_null(cli_login_ticket(l));
    assert_null(cli_login_hdfs(l));
    assert_true(cli_login_credentials_fd(l) >= 0);
    assert_int_equal(fake.tickets, 0);
    assert_int_equal(cli_login_new(c, YARN_RM_ADMIN, &admin, NULL), 0);
    assert_null(cli_login_token(admin));
    assert_int_equal(cli_login_new(named, YARN_RM_CLIENTS, &bob, NULL), 0);
    assert_string_equal(fake.asked.principal, "bob");
    assert_int_equal(fake.tickets, 2);
}

static void test_several_tokens(void **state)
{
    (void)state;
    static const struct given list[] = {
        { YARN_KIND_RM_DELEGATION, "10.0.0.9:8032", "first" },
        { YARN_KIND_RM_DELEGATION, "10.0.0.8:8032,127.0.0.1:8032", "second" },
        { YARN_KIND_AMRM, "127.0.0.1:8032", "third" },
    };
    _cleanup_(sv_conf_freep) struct sv_conf *c = conf_of(NULL, NULL);
    _cleanup_(sv_conf_freep) struct sv_conf *other =
        conf_of("yarn.resourcemanager.address", "127.0.0.1:80");
    _cleanup_(cli_login_freep) struct cli_login *l = NULL, *m = NULL;
    struct sv_error err = { 0 };

    write_tokens(list, 3);
    assert_int_equal(cli_login_new(c, YARN_RM_CLIENTS, &l, NULL), 0);
    assert_string_equal(cli_login_principal(l), "second");
    fake.result = -ENOKEY; /* none is for that one, and there is no ticket */
    assert_int_equal(cli_login_new(other, YARN_RM_CLIENTS, &m, &err), -ENOKEY);
    assert_non_null(strstr(err.text, "$HADOOP_TOKEN_FILE_LOCATION"));
    assert_non_null(strstr(err.text, "run kinit"));
}

static void test_bad_files(void **state)
{
    (void)state;
    _cleanup_(sv_conf_freep) struct sv_conf *c = conf_of(NULL, NULL);
    struct cli_login *l = NULL;
    struct sv_error err = { 0 };
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs("no credentials", f);
    fclose(f);
    setenv("HADOOP_TOKEN_FILE_LOCATION", path, 1);
    assert_true(cli_login_new(c, YARN_RM_CLIENTS, &l, &err) < 0);
    assert_non_null(strstr(err.text, path));
    setenv("HADOOP_TOKEN_FILE_LOCATION", "/nowhere", 1);
    assert_int_equal(cli_login_new(c, YARN_RM_CLIENTS, &l, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nowhere"));
    assert_null(l);
}

static void test_bad_keys(void **state)
{
    (void)state;
    _cleanup_(sv_conf_freep) struct sv_conf *c =
        conf_of("selvedge.client.kerberos.keytab", "/a.keytab");
    _cleanup_(sv_conf_freep) struct sv_conf *d = conf_of("hadoop.rpc.protection", "some");
    struct cli_login *l = NULL;
    struct sv_error err = { 0 };

    assert_int_equal(cli_login_new(c, YARN_RM_CLIENTS, &l, &err), -EINVAL);
    assert_non_null(strstr(err.text, "--principal"));
    assert_int_equal(cli_login_new(d, YARN_RM_CLIENTS, &l, &err), -EINVAL);
}

/* ---- Tokens of a job ---- */

struct told {
    sd_event *event;
    int n, status;
    struct yarn_credentials all;
    struct sv_arena *a;
};

static void on_tokens(int status, const uint8_t *p, size_t n, const struct sv_error *err,
                      void *userdata)
{
    struct told *t = userdata;

    (void)err;
    t->n++;
    t->status = status;
    assert_int_equal(yarn_credentials_parse(p, n, t->a, &t->all, NULL), 0);
    sd_event_exit(t->event, 0);
}

static void fetch(struct told *t, struct sv_conf *c, const struct cli_login *l)
{
    static const char *const urls[] = { "/", "hdfs://127.0.0.1:9000/x", CLI_TOKENS_OF_RM };
    struct cli_tokens *fetch = NULL;

    assert_int_equal(sd_event_new(&t->event), 0);
    t->a = sv_arena_new(0);
    assert_int_equal(cli_tokens_fetch(t->event, c, l, urls, 3, on_tokens, t, &fetch, NULL), 0);
    assert_int_equal(t->n, 0);
    assert_int_equal(sd_event_loop(t->event), 0);
    assert_int_equal(t->n, 1);
    cli_tokens_free(fetch);
    sd_event_unref(t->event);
}

/* Nothing is asked: the file's tokens of file systems go with the job, the others stay. */
static void test_tokens_of_file(void **state)
{
    (void)state;
    static const struct given list[] = { { YARN_KIND_HDFS_DELEGATION, "127.0.0.1:9000", ALICE },
                                         { YARN_KIND_RM_DELEGATION, "127.0.0.1:8032", ALICE } };
    _cleanup_(sv_conf_freep) struct sv_conf *c = conf_of(NULL, NULL), *d = conf_of(NULL, NULL);
    _cleanup_(cli_login_freep) struct cli_login *l = NULL;
    struct told t = { 0 }, u = { 0 };

    write_tokens(list, 2);
    assert_int_equal(cli_login_new(c, YARN_RM_CLIENTS, &l, NULL), 0);
    fetch(&t, c, l);
    assert_int_equal(t.status, 0);
    assert_int_equal(t.all.n_tokens, 1);
    assert_string_equal(t.all.tokens[0].token.kind, YARN_KIND_HDFS_DELEGATION);
    sv_arena_free(t.a);
    fetch(&u, d, NULL);
    assert_int_equal(u.all.n_tokens, 0);
    sv_arena_free(u.a);
}

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_simple, set_up),
        cmocka_unit_test_setup(test_ticket, set_up),
        cmocka_unit_test_setup(test_proxy_user, set_up),
        cmocka_unit_test_setup(test_token, set_up),
        cmocka_unit_test_setup(test_several_tokens, set_up),
        cmocka_unit_test_setup(test_bad_files, set_up),
        cmocka_unit_test_setup(test_bad_keys, set_up),
        cmocka_unit_test_setup(test_tokens_of_file, set_up),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
