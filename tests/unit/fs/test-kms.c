/* Tests fs/kms.c with servers of the test (fs_web_get is wrapped): who is asked, as whom, and what
 * each answer means. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "fs/kms.h"
#include "hdfs/servers.h"
#include "wire/token/token.h"

#define KEY "{\"material\":\"AAAAAAAAAAAAAAAAAAAAAQ\"}"
#define EXCEPTION(name, text)                                                                      \
    "{\"RemoteException\":{\"message\":\"" text "\",\"exception\":\"" name "\"}}"

/* Answers of the servers, by their host's first letter; and what they were asked. */
static struct answer {
    int status; /* -errno: the connection fails */
    const char *body;
} answers[128];
static struct {
    unsigned n;
    char url[FS_URL_MAX + 1], body[500], headers[4000], hosts[100];
} asked;
static struct fs_url url;
static struct hdfs_site site;
static struct fs_options options;
static struct fs_kms kms;
static struct hdfs_edek edek;
static struct sv_error err;
static uint8_t key[HDFS_KEY_MAX];

int __wrap_fs_web_get(struct fs_web *w, const struct fs_web_get *g, struct sv_error *e);
int __wrap_fs_web_get(struct fs_web *w, const struct fs_web_get *g, struct sv_error *e)
{
    const char *host = strstr(g->url, "://") + 3;
    const struct answer *a = &answers[(unsigned char)*host & 127];
    struct curl_slist *headers = NULL;

    assert_true(g->one_host && g->post && g->to && g->timeout_ms == 5000 && asked.n < 90);
    asked.hosts[asked.n++] = *host;
    (void)snprintf(asked.url, sizeof(asked.url), "%s", g->url);
    (void)snprintf(asked.body, sizeof(asked.body), "%s", g->post);
    assert_int_equal(g->sign(g->userdata, NULL, &headers), CURLE_OK);
    asked.headers[0] = 0;
    for (const struct curl_slist *h = headers; h; h = h->next)
        (void)snprintf(asked.headers + strlen(asked.headers),
                       sizeof(asked.headers) - strlen(asked.headers), "%s\n", h->data);
    w->curl->slist_free_all(headers);
    if (a->status < 0)
        return sv_error_set(e, a->status, "no connection");
    fs_web_forget(w);
    if (a->status == 200)
        return g->to->sink(g->to->userdata, a->body, strlen(a->body)) < 0 ? -EIO : 200;
    w->answer_n = strlen(a->body);
    memcpy(w->answer, a->body, w->answer_n + 1);
    return a->status;
}

static int set_up(void **state)
{
    (void)state;
    memset(answers, 0, sizeof(answers));
    memset(&asked, 0, sizeof(asked));
    memset(key, 0, sizeof(key));
    assert_int_equal(fs_url_parse("hdfs://nn.example:8020/f", &url, &err), 0);
    site = (struct hdfs_site){ .n_servers = 1, .io_timeout_ms = 5000 };
    site.servers[0] = (struct hdfs_server){ .host = "other.example", .port = 9000 };
    options = (struct fs_options){ .url = &url,
                                   .site = &site,
                                   .curl = &sv_curl_linked,
                                   .program = "test-kms",
                                   .policy = &fs_policy_jobs,
                                   .identity = { .user = "alice", .credentials = -1 } };
    kms = (struct fs_kms){ .options = &options };
    edek = (struct hdfs_edek){ .n = 16, .name = "k", .version = "k@0" };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fs_kms_close(&kms);
    options.identity.credentials = sv_close(options.identity.credentials);
    return 0;
}

static int ask(const char *provider)
{
    asked.n = 0;
    memset(&err, 0, sizeof(err));
    return fs_kms_decrypt(&kms, provider, &edek, key, &err);
}

/* In a secure cluster nobody is told a name without a proof. */
static void test_secure(void **state)
{
    (void)state;
    site.secure = true;
    assert_int_equal(ask("kms://http@h:9600/kms"), -EKEYREJECTED);
    assert_int_equal(asked.n, 0);
    assert_non_null(strstr(err.text, "no token of kind kms-dt"));
}

static void test_simple(void **state)
{
    static const struct fs_policy of_files = { .schemes = 1u << FS_SCHEME_HDFS };

    (void)state;
    options.policy = &of_files;
    answers['h'] = (struct answer){ 200, KEY };
    assert_int_equal(ask("kms://http@h:9600/kms"), 0);
    assert_int_equal(key[15], 1);
    assert_int_equal(asked.n, 1);
    assert_string_equal(
        asked.url, "http://h:9600/kms/v1/keyversion/k%400/_eek?eek_op=decrypt&user.name=alice");
    assert_non_null(strstr(asked.body, "\"name\":\"k\""));
    assert_string_equal(asked.headers, "Content-Type: application/json\n");
    assert_int_equal(ask("kms://https@h:9600/kms"), 0); /* the other scheme, in the same process */
    assert_true(kms.web.secure);
    options.identity.user = NULL;
    assert_int_equal(ask("kms://http@h:9600/kms"), 0);
    assert_null(strstr(asked.url, "user.name"));
}

/* Each is asked, the first one twice. */
static void test_all_away(void **state)
{
    (void)state;
    answers['a'] = answers['b'] = answers['c'] = (struct answer){ -EIO, NULL };
    assert_int_equal(ask("kms://http@a;b;c:9600/kms"), -EIO);
    assert_int_equal(asked.n, 4);
    assert_true(strchr(asked.hosts, 'a') && strchr(asked.hosts, 'b') && strchr(asked.hosts, 'c'));
    assert_int_equal(asked.hosts[0], asked.hosts[3]);
    assert_non_null(strstr(err.text, ":9600: no connection"));
}

static void test_failover(void **state)
{
    static const struct answer bad[] = {
        { -ETIMEDOUT, NULL },
        { 500, EXCEPTION("IOException", "the key store is away") },
        { 503, "<html>" },
        { 302, "" },
        { 404, "" },
        { 200, "{}" },
        { 200, "{\"material\":\"AAAA\"}" },
    };

    (void)state;
    answers['z'] = (struct answer){ 200, KEY };
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        for (unsigned times = 0; times < 6; times++) { /* the first one is chosen at random */
            answers['a'] = answers['b'] = bad[i];
            assert_int_equal(ask("kms://http@a;b;z:9600/kms"), 0);
            assert_true(asked.n <= 3 && asked.hosts[asked.n - 1] == 'z');
        }
    answers['a'] = (struct answer){ 500, EXCEPTION("IOException", "the key store is away\\nat") };
    assert_int_equal(ask("kms://http@a:9600/kms"), -EREMOTEIO);
    assert_string_equal(err.text, "KMS a:9600: the key store is away (HTTP status 500)");
    answers['a'] = (struct answer){ 200, "{}" };
    assert_int_equal(ask("kms://http@a:9600/kms"), -EBADMSG);
}

/* Another server would say the same. */
static void test_denied(void **state)
{
    static const struct {
        struct answer answer;
        int error;
        const char *words;
    } cases[] = {
        { { 403, EXCEPTION("AuthorizationException", "User [alice] is not authorized") },
          -EACCES,
          "User [alice] is not authorized" },
        { { 401, EXCEPTION("AuthorizationException", "not allowed") }, -EACCES, "not allowed" },
        { { 403, EXCEPTION("AuthenticationException", "token expired") },
          -EKEYREJECTED,
          "token expired" },
        { { 401, "<html>" }, -EKEYREJECTED, "it refuses the login" },
        { { 403, "" }, -EKEYREJECTED, "it refuses the login (HTTP status 403)" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        answers['a'] = answers['b'] = cases[i].answer;
        assert_int_equal(ask("kms://http@a;b:9600/kms"), cases[i].error);
        assert_int_equal(asked.n, 1);
        assert_non_null(strstr(err.text, cases[i].words));
    }
}

/* Credentials with a token, and a secret of this name; NULL: none. */
static void give(const char *kind, const char *service, const char *secret, const char *value)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_token t = { .id = (const uint8_t *)"id",
                            .id_len = 2,
                            .password = (const uint8_t *)"pw",
                            .password_len = 2,
                            .kind = kind,
                            .service = service };
    struct yarn_credentials c = { 0 };
    struct sv_buf b = SV_BUF_INIT(1 << 20);

    assert_int_equal(yarn_credentials_add(a, &c, "alias", &t), 0);
    if (secret)
        assert_int_equal(yarn_credentials_add_secret(a, &c, secret, value, strlen(value)), 0);
    assert_int_equal(yarn_credentials_write(&c, &b), 0);
    options.identity.credentials = sv_close(options.identity.credentials);
    options.identity.credentials = memfd_create("credentials", MFD_CLOEXEC);
    assert_int_equal(write(options.identity.credentials, b.data, b.len), (ssize_t)b.len);
    sv_buf_free(&b);
}

#define TOKEN "X-Hadoop-Delegation-Token: "

static void test_token(void **state)
{
    static const struct {
        const char *kind, *service;
        bool found;
    } cases[] = {
        { "kms-dt", "kms://http@localhost;127.0.0.1:9600/kms", true },
        { "kms-dt", "127.0.0.1:9600", true },
        { "kms-dt", "localhost:9600", true },
        { "KMS_DELEGATION_TOKEN", "kms://http@localhost;127.0.0.1:9600/kms", true },
        { "kms-dt", "kms://http@evil:9600/kms", false },
        { "kms-dt", "127.0.0.1:9601", false },
        { "kms-dt", "", false },
        { "HDFS_DELEGATION_TOKEN", "127.0.0.1:9600", false },
    };

    (void)state;
    answers['l'] = answers['1'] = (struct answer){ 200, KEY };
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        give(cases[i].kind, cases[i].service, NULL, NULL);
        assert_int_equal(ask("kms://http@localhost;127.0.0.1:9600/kms"), 0);
        assert_int_equal(strstr(asked.headers, TOKEN) != NULL, cases[i].found);
        assert_int_equal(strstr(asked.url, "user.name") == NULL, cases[i].found);
    }
    give("kms-dt", "127.0.0.1:9600", NULL, NULL);
    answers['1'] = (struct answer){ 403, "" };
    assert_int_equal(ask("kms://http@127.0.0.1:9600/kms"), -EKEYREJECTED);
    assert_string_equal(
        err.text, "KMS 127.0.0.1:9600: it refuses the job's delegation token (HTTP status 403)");
    assert_int_equal(pwrite(options.identity.credentials, "XXXX", 4, 0), 4);
    assert_true(ask("kms://http@127.0.0.1:9600/kms") < 0);
    assert_int_equal(asked.n, 0);
}

/* The provider that the job's client knew comes before the NameNode's. */
static void test_secret(void **state)
{
    (void)state;
    answers['h'] = answers['s'] = (struct answer){ 200, KEY };
    give("kms-dt", "kms://http@s:1/k", "dfs-kms-hdfs://nn.example:8020", "kms://http@s:1/k");
    assert_int_equal(ask("kms://http@h:9600/kms"), 0);
    assert_string_equal(asked.url, "http://s:1/k/v1/keyversion/k%400/_eek?eek_op=decrypt");
    give("other", "x", "dfs-kms-hdfs://other.example:9000", "kms://http@s:1/k");
    assert_int_equal(ask(""), 0);
    assert_int_equal(asked.hosts[0], 's');
    give("other", "x", "dfs-kms-hdfs://elsewhere:9000", "kms://http@s:1/k");
    assert_int_equal(ask("kms://http@h:9600/kms"), 0);
    assert_int_equal(asked.hosts[0], 'h');
    url.port = 0;
    give("other", "x", "dfs-kms-hdfs://nn.example", "jceks://file/keys");
    assert_int_equal(ask("kms://http@h:9600/kms"), -EOPNOTSUPP);
    assert_int_equal(asked.n, 0);
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(ask(""), -EOPNOTSUPP);
    assert_int_equal(ask("jceks://file/keys"), -EOPNOTSUPP);
    assert_int_equal(ask("kms://http@h/kms"), -EINVAL);
    assert_int_equal(asked.n, 0);
    options.curl = NULL;
    fs_kms_close(&kms);
    assert_int_equal(ask("kms://http@h:9600/kms"), -ELIBACC);
    assert_int_equal(ask("kms://http@h:9600/kms"), -ELIBACC); /* once more */
}

static int load(const struct sv_curl **ret, struct sv_error *e)
{
    (void)e;
    *ret = &sv_curl_linked;
    return 0;
}

static void test_loaded(void **state)
{
    (void)state;
    answers['h'] = (struct answer){ 200, KEY };
    options.curl = NULL;
    options.load_curl = load;
    assert_int_equal(ask("kms://http@h:9600/kms"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_secure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_simple, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failover, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_denied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_token, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_secret, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_loaded, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
