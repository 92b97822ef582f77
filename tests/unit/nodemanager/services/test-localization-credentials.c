/* Tests services/localization-credentials.c: whose credentials a download gets. Tokens of the node,
 * containers and renewed credentials are stubs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "fs/credentials.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/services/localization-internal.h"

static struct nm_conf conf;
static struct nm_context ctx;
static struct nm_localization l;
static struct nm_app app;
static struct nm_container container;
static Hadoop__Yarn__ContainerLaunchContextProto clc, next;

/* ---- stubs ---- */

static struct {
    struct nm_hdfs_tokens_config config;
    int result, asked;
    const char *host;
    bool refused;
} own;

static struct sv_buf token = { .data = (uint8_t *)(uintptr_t) "node", .len = 4 };
static const char *renewed;
static bool gone;

int __wrap_nm_hdfs_tokens_new(const struct nm_hdfs_tokens_config *cfg, struct nm_hdfs_tokens **ret);
int __wrap_nm_hdfs_tokens_new(const struct nm_hdfs_tokens_config *cfg, struct nm_hdfs_tokens **ret)
{
    own.config = *cfg;
    *ret = (struct nm_hdfs_tokens *)&own;
    return 0;
}

int __wrap_nm_hdfs_tokens_get(struct nm_hdfs_tokens *t, const char *host, uint16_t port,
                              const struct sv_buf **ret, struct sv_error *err);
int __wrap_nm_hdfs_tokens_get(struct nm_hdfs_tokens *t, const char *host, uint16_t port,
                              const struct sv_buf **ret, struct sv_error *err)
{
    assert_ptr_equal(t, &own);
    assert_string_equal(host, "nn");
    assert_int_equal(port, 8020);
    own.asked++;
    if (own.result == 0)
        *ret = &token;
    return own.result < 0 ? sv_error_set(err, own.result, "no") : 0;
}

bool __wrap_nm_hdfs_tokens_refused(struct nm_hdfs_tokens *t, const char *host, uint16_t port);
bool __wrap_nm_hdfs_tokens_refused(struct nm_hdfs_tokens *t, const char *host, uint16_t port)
{
    (void)t, (void)host, (void)port;
    return own.refused;
}

void __wrap_sgss_service_init(struct sgss_service *s, struct sgss_daemon *d, const char *key,
                              const char *configured, const char *pattern, const char *own_host);
void __wrap_sgss_service_init(struct sgss_service *s, struct sgss_daemon *d, const char *key,
                              const char *configured, const char *pattern, const char *own_host)
{
    assert_ptr_equal(d, ctx.kerberos);
    assert_string_equal(key, "dfs.namenode.kerberos.principal");
    assert_string_equal(configured, "nn/_HOST@R");
    assert_string_equal(pattern, "nn/*@R");
    assert_string_equal(own_host, "h");
    s->ipc.principal = "nm/h@R";
}

struct nm_container *__wrap_nm_container_find(const struct nm_context *c, const char *text);
struct nm_container *__wrap_nm_container_find(const struct nm_context *c, const char *text)
{
    (void)c, (void)text;
    return gone ? NULL : &container;
}

bool __wrap_nm_credentials_of(struct nm_credentials *c, const char *text, const void **ret,
                              size_t *ret_n);
bool __wrap_nm_credentials_of(struct nm_credentials *c, const char *text, const void **ret,
                              size_t *ret_n)
{
    (void)c;
    assert_string_equal(text, app.text);
    if (!renewed)
        return false;
    *ret = renewed;
    *ret_n = strlen(renewed);
    return true;
}

/* ---- helpers ---- */

static void put_tokens(Hadoop__Yarn__ContainerLaunchContextProto *m, const char *tokens)
{
    hadoop__yarn__container_launch_context_proto__init(m);
    m->has_tokens = true;
    m->tokens = (ProtobufCBinaryData){ strlen(tokens), (uint8_t *)(uintptr_t)tokens };
}

static int set_up(void **state)
{
    (void)state;
    memset(&own, 0, sizeof(own));
    conf = (struct nm_conf){
        .kerberos = { .own = { .on = true, .principal = "nm/h@R", .own_host = "h", .qop_mask = 4 },
                      .namenode_principal = "nn/_HOST@R",
                      .namenode_pattern = "nn/*@R" }
    };
    ctx = (struct nm_context){ .conf = &conf };
    l = (struct nm_localization){ .ctx = &ctx };
    put_tokens(&clc, "job");
    (void)memcpy(app.text, "application_1_0001", sizeof("application_1_0001"));
    container = (struct nm_container){ .app = &app, .clc = &clc };
    renewed = NULL;
    gone = false;
    return 0;
}

static void secure(void)
{
    ctx.kerberos = (struct sgss_daemon *)&ctx; /* never used */
    assert_int_equal(nm_localization_tokens_new(&l), 0);
}

/* The credentials of a download, "" for none, "wait", or the error's text. */
static const char *of(const char *url, enum loc_visibility v)
{
    static char text[SV_ERROR_TEXT_MAX];
    const struct loc_resource r = { .url = url, .visibility = v };
    struct sv_error err = { 0 };
    _cleanup_close_ int fd = -1;
    int k = nm_localization_credentials(&l, (struct yarn_container_id){ 0 }, &r, &fd, &err);
    ssize_t n;

    if (k != 0)
        return k > 0 ? "wait" : memcpy(text, err.text, sizeof(text));
    n = fd < 0 ? 0 : pread(fd, text, sizeof(text) - 1, 0);
    assert_true(n >= 0);
    text[n] = 0;
    return text;
}

/* ---- cases ---- */

static void test_job(void **state)
{
    static char large[FS_CREDENTIALS_MAX + 2];

    (void)state;
    secure();
    assert_string_equal(of("hdfs://nn:8020/a", LOC_PRIVATE), "job");
    put_tokens(&next, "next");
    container.reinit.clc = &next;
    assert_string_equal(of("hdfs://nn:8020/a", LOC_APPLICATION), "next");
    renewed = "renewed"; /* in the place of all of them */
    assert_string_equal(of("hdfs://nn:8020/a", LOC_APPLICATION), "renewed");
    memset(large, 'x', sizeof(large) - 1);
    renewed = large;
    assert_non_null(strstr(of("hdfs://nn:8020/a", LOC_PRIVATE), "credentials of container_"));
    renewed = NULL;
    container.reinit.clc = container.clc = NULL;
    assert_string_equal(of("hdfs://nn:8020/a", LOC_PRIVATE), "");
    gone = true;
    assert_string_equal(of("hdfs://nn:8020/a", LOC_PRIVATE), "");
    assert_int_equal(own.asked, 0);
}

/* The node's, and the job's never. */
static void test_public(void **state)
{
    (void)state;
    renewed = "renewed";
    assert_string_equal(of("hdfs://nn:8020/a", LOC_PUBLIC), ""); /* without Kerberos */
    secure();
    assert_ptr_equal(own.config.kerberos, &l.namenode.ipc);
    assert_string_equal(own.config.renewer, "nm/h@R");
    assert_int_equal(own.config.qop_mask, 4);
    assert_string_equal(of("hdfs://nn:8020/a", LOC_PUBLIC), "node");
    own.result = -EAGAIN;
    assert_string_equal(of("hdfs://nn:8020/a", LOC_PUBLIC), "wait");
    own.result = -EACCES;
    assert_string_equal(of("hdfs://nn:8020/a", LOC_PUBLIC), "Resource hdfs://nn:8020/a: no");
    assert_int_equal(own.asked, 3);
    assert_string_equal(of("file:///a", LOC_PUBLIC), "");
    assert_string_equal(of("https://h/a", LOC_PUBLIC), "");
    assert_string_equal(of("webhdfs://nn:9870/a", LOC_PUBLIC), "");
    assert_int_equal(own.asked, 3);
}

static void test_refused(void **state)
{
    struct loc_resource r = { .url = "hdfs://nn:8020/a", .visibility = LOC_PUBLIC };

    (void)state;
    own.refused = true;
    assert_false(nm_localization_refused(&l, &r));
    secure();
    assert_true(nm_localization_refused(&l, &r));
    r.visibility = LOC_PRIVATE;
    assert_false(nm_localization_refused(&l, &r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_job, set_up),
        cmocka_unit_test_setup(test_public, set_up),
        cmocka_unit_test_setup(test_refused, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
