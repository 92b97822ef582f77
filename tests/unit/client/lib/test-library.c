/* Tests client/lib/library.c and its sides: bad use is an error code, callbacks of requests run
 * once, and handles may be closed within their callbacks. Nothing listens where the client
 * connects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/library.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/version.h"
#include "wire/token/token.h"

#define APP "application_1700000000000_0001"
#define CONTAINER "container_1700000000000_0001_01_000002"

static char dir[] = "/tmp/test-library-XXXXXX";

struct told {
    selvedge_loop loop;
    selvedge_rm rm;
    selvedge_am am;
    int calls, status;
    char why[1024];
    bool close; /* within the callback */
};

/* ---- Fixture ---- */

static void write_file(const char *name, const void *bytes, size_t n)
{
    char path[256];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
    static const char site[] =
        "<configuration><property><name>yarn.resourcemanager.address</name>"
        "<value>127.0.0.1:1</value></property>"
        "<property><name>yarn.resourcemanager.scheduler.address</name>"
        "<value>127.0.0.1:1</value></property>"
        "<property><name>yarn.resourcemanager.connect.max-wait.ms</name><value>1</value></property>"
        "<property><name>yarn.resourcemanager.connect.retry-interval.ms</name><value>1</value>"
        "</property></configuration>";
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_amrm_token amrm = { .attempt = { { 1700000000000, 1 }, 1 }, .key_id = 1 };
    struct yarn_credentials c = { 0 };
    struct yarn_token token = { .kind = YARN_KIND_AMRM, .service = "" };
    struct sv_buf out = SV_BUF_INIT(65536);
    char path[256];

    (void)state;
    assert_non_null(mkdtemp(dir));
    write_file("yarn-site.xml", site, sizeof(site) - 1);
    assert_int_equal(yarn_amrm_token_encode(a, &amrm, &token.id, &token.id_len), 0);
    token.password = (const uint8_t *)"x";
    token.password_len = 1;
    assert_int_equal(yarn_credentials_add(a, &c, "am", &token), 0);
    assert_int_equal(yarn_credentials_write(&c, &out), 0);
    write_file("tokens", out.data, out.len);
    sv_buf_free(&out);
    (void)snprintf(path, sizeof(path), "%s/tokens", dir);
    assert_int_equal(setenv("HADOOP_TOKEN_FILE_LOCATION", path, 1), 0);
    assert_int_equal(unsetenv("SELVEDGE_SCHEDULERS"), 0);
    return 0;
}

static int tear_down(void **state)
{
    char path[256];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/tokens", dir);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof(path), "%s/yarn-site.xml", dir);
    assert_int_equal(unlink(path), 0);
    return rmdir(dir);
}

static void on_done(struct told *t, int status, const char *why)
{
    t->calls++;
    t->status = status;
    (void)snprintf(t->why, sizeof(t->why), "%s", why);
    if (t->close) {
        assert_int_equal(selvedge_loop_free(t->loop), -EBUSY);
        assert_int_equal(selvedge_rm_close(t->rm), 0);
        assert_int_equal(selvedge_rm_close(t->rm), -EBADF);
        assert_int_equal(selvedge_rm_list(t->rm, NULL, 1, NULL, NULL), -EBADF);
    }
    if (status != -ECANCELED)
        assert_int_equal(selvedge_loop_quit(t->loop, 7), 0);
}

static void on_reports(int status, const char *why, const struct selvedge_report *reports, size_t n,
                       void *userdata)
{
    (void)reports;
    assert_int_equal(n, 0);
    on_done(userdata, status, why);
}

static void on_submitted(int status, const char *why, const char *app, void *userdata)
{
    assert_string_equal(app, "");
    on_done(userdata, status, why);
}

static void on_killed(int status, const char *why, void *userdata)
{
    on_done(userdata, status, why);
}

static void on_containers(int status, const char *why, const struct selvedge_container_report *list,
                          size_t n, void *userdata)
{
    (void)list;
    assert_int_equal(n, 0);
    on_done(userdata, status, why);
}

static void on_log(int status, const char *why, const char *text, size_t len, void *userdata)
{
    assert_int_equal(len, 0);
    assert_string_equal(text, "");
    on_done(userdata, status, why);
}

static void open_rm(struct told *t)
{
    struct selvedge_error err = { 0 };

    *t = (struct told){ 0 };
    assert_int_equal(selvedge_loop_new(NULL, &t->loop), 0);
    assert_int_equal(selvedge_rm_open(t->loop, dir, "ann", &t->rm, &err), 0);
}

/* ---- Tests ---- */

static void test_unknown_handles(void **state)
{
    struct selvedge_submission s = SELVEDGE_SUBMISSION;
    struct selvedge_launch l = SELVEDGE_LAUNCH;
    struct selvedge_am_ops ops = { .struct_size = sizeof(ops) };
    selvedge_loop loop = { 0 };
    selvedge_rm rm = { 99 };
    selvedge_am am = { UINT64_MAX };

    (void)state;
    assert_int_equal(selvedge_loop_new(NULL, NULL), -EINVAL);
    assert_int_equal(selvedge_loop_free(loop), -EBADF);
    assert_int_equal(selvedge_loop_run(loop), -EBADF);
    assert_int_equal(selvedge_loop_quit(loop, 0), -EBADF);
    assert_int_equal(selvedge_loop_fd(loop), -EBADF);
    assert_int_equal(selvedge_loop_dispatch(loop), -EBADF);
    assert_int_equal(selvedge_rm_open(loop, NULL, NULL, &rm, NULL), -EBADF);
    assert_int_equal(selvedge_rm_close(rm), -EBADF);
    assert_int_equal(selvedge_rm_submit(rm, &s, on_submitted, NULL), -EBADF);
    assert_int_equal(selvedge_rm_report(rm, APP, on_reports, NULL), -EBADF);
    assert_int_equal(selvedge_rm_wait(rm, APP, on_reports, NULL), -EBADF);
    assert_int_equal(selvedge_rm_list(rm, NULL, 0, on_reports, NULL), -EBADF);
    assert_int_equal(selvedge_rm_kill(rm, APP, NULL, on_killed, NULL), -EBADF);
    assert_int_equal(selvedge_rm_submit_with(rm, &s, NULL, on_submitted, NULL), -EBADF);
    assert_int_equal(selvedge_rm_set_priority(rm, APP, 1, on_killed, NULL), -EBADF);
    assert_int_equal(selvedge_rm_containers(rm, APP, on_containers, NULL), -EBADF);
    assert_int_equal(selvedge_rm_log(rm, CONTAINER, NULL, "stdout", on_log, NULL), -EBADF);
    assert_int_equal(selvedge_am_open(loop, NULL, &ops, NULL, &am, NULL), -EBADF);
    assert_int_equal(selvedge_am_close(am), -EBADF);
    assert_int_equal(selvedge_am_register(am, "", -1, ""), -EBADF);
    assert_int_equal(selvedge_am_want(am, 1, 1, 1, 1), -EBADF);
    assert_int_equal(selvedge_am_start(am, CONTAINER, &l), -EBADF);
    assert_int_equal(selvedge_am_stop(am, CONTAINER), -EBADF);
    assert_int_equal(selvedge_am_release(am, CONTAINER), -EBADF);
    assert_int_equal(selvedge_am_progress(am, 0), -EBADF);
    assert_int_equal(selvedge_am_finish(am, 1, ""), -EBADF);
    assert_int_equal(selvedge_am_request(am, NULL, NULL), -EBADF);
    assert_int_equal(selvedge_am_cancel(am, 1, 1), -EBADF);
    assert_int_equal(selvedge_am_blacklist(am, "n", 1), -EBADF);
    assert_int_equal(selvedge_am_update(am, CONTAINER, 1, 1), -EBADF);
}

static void test_version(void **state)
{
    (void)state;
    assert_string_equal(selvedge_version(), SV_VERSION);
    assert_int_equal(selvedge_api(), SELVEDGE_API);
}

static void test_bad_arguments(void **state)
{
    struct selvedge_submission s = SELVEDGE_SUBMISSION;
    struct selvedge_options o = SELVEDGE_OPTIONS;
    const char *bad_env[] = { "NOVALUE", NULL };
    const char *bad_names[] = { NULL, "", ".", "..", "a/b" };
    struct selvedge_file file = { "f", "hdfs://h/f", -1, 0, 0, 0 };
    struct selvedge_error err = { 0 };
    selvedge_rm other;
    struct told t;

    (void)state;
    open_rm(&t);
    assert_int_equal(selvedge_rm_submit(t.rm, NULL, on_submitted, &t), -EINVAL);
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), -EINVAL); /* no command */
    s.launch.command = "true";
    assert_int_equal(selvedge_rm_submit(t.rm, &s, NULL, &t), -EINVAL);
    s.launch.env = bad_env;
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), -EINVAL);
    s.launch.env = NULL;
    s.launch.n_files = 1;
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), -EINVAL);
    s.launch.files = &file;
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), -EINVAL); /* its size */
    file.url = "file:///no/such/file";
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), -ENOENT);
    s.launch.n_files = 0;
    s.launch.struct_size = 1000;
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), -EINVAL);
    s.launch.struct_size = sizeof(s.launch);
    s.memory_mb = 0;
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), -EINVAL);
    s.memory_mb = 1;
    o.struct_size = sizeof(o) + 1;
    assert_int_equal(selvedge_rm_submit_with(t.rm, &s, &o, on_submitted, &t), -EINVAL);
    o.struct_size = sizeof(o);
    o.priority = -1;
    assert_int_equal(selvedge_rm_submit_with(t.rm, &s, &o, on_submitted, &t), -EINVAL);
    o.priority = 0;
    o.n_resources = 1;
    assert_int_equal(selvedge_rm_submit_with(t.rm, &s, &o, on_submitted, &t), -EINVAL);
    s.struct_size = 111; /* of SELVEDGE_API 2: 112 */
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), -EINVAL);
    s.struct_size = 112; /* with a launch that is longer than what is left for it */
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), -EINVAL);
    assert_int_equal(selvedge_rm_set_priority(t.rm, APP, -1, on_killed, &t), -EINVAL);
    assert_int_equal(selvedge_rm_containers(t.rm, "x", on_containers, &t), -EINVAL);
    for (size_t i = 0; i < sizeof(bad_names) / sizeof(*bad_names); i++)
        assert_int_equal(selvedge_rm_log(t.rm, CONTAINER, NULL, bad_names[i], on_log, &t), -EINVAL);
    assert_int_equal(selvedge_rm_log(t.rm, APP, NULL, "stdout", on_log, &t), -EINVAL);
    assert_int_equal(selvedge_rm_log(t.rm, CONTAINER, "h:1/x", "stdout", on_log, &t), -EINVAL);
    assert_int_equal(selvedge_rm_report(t.rm, "application_1", on_reports, &t), -EINVAL);
    assert_int_equal(selvedge_rm_report(t.rm, NULL, on_reports, &t), -EINVAL);
    assert_int_equal(selvedge_rm_kill(t.rm, CONTAINER, "", on_killed, &t), -EINVAL);
    assert_int_equal(selvedge_rm_open(t.loop, dir, NULL, NULL, NULL), -EINVAL);
    assert_int_equal(selvedge_rm_open(t.loop, "/no/such/directory", NULL, &other, &err) < 0, 1);
    assert_true(err.code < 0 && strstr(err.text, "/no/such/directory"));
    assert_int_equal(selvedge_loop_free(t.loop), -EBUSY);
    assert_int_equal(selvedge_rm_close(t.rm), 0);
    assert_int_equal(selvedge_loop_free(t.loop), 0);
    assert_int_equal(selvedge_loop_free(t.loop), -EBADF);
    assert_int_equal(t.calls, 0);
}

static void on_tokens(int status, const char *why, const void *tokens, size_t len, void *userdata)
{
    struct told *t = userdata;

    assert_non_null(why);
    assert_true(len == 0 || tokens);
    t->calls++;
    t->status = status;
    if (t->close)
        assert_int_equal(selvedge_rm_close(t->rm), 0);
    (void)selvedge_loop_quit(t->loop, 0);
}

/* Each pending request is reported as cancelled exactly once. */
static void test_closed_with_requests(void **state)
{
    struct selvedge_submission s = SELVEDGE_SUBMISSION;
    struct told t;

    (void)state;
    open_rm(&t);
    s.launch.command = "true";
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), 0);
    s.struct_size = 112; /* of SELVEDGE_API 2 */
    s.launch.struct_size = 56;
    assert_int_equal(selvedge_rm_submit(t.rm, &s, on_submitted, &t), 0);
    assert_int_equal(selvedge_rm_set_priority(t.rm, APP, 2, on_killed, &t), 0);
    assert_int_equal(selvedge_rm_containers(t.rm, APP, on_containers, &t), 0);
    assert_int_equal(selvedge_rm_log(t.rm, CONTAINER, NULL, "stdout", on_log, &t), 0);
    assert_int_equal(selvedge_rm_log(t.rm, CONTAINER, "127.0.0.1:1", "stderr", on_log, &t), 0);
    assert_int_equal(selvedge_rm_list(t.rm, NULL, 1, on_reports, &t), 0);
    assert_int_equal(selvedge_rm_wait(t.rm, APP, on_reports, &t), 0);
    assert_int_equal(selvedge_rm_kill(t.rm, APP, NULL, on_killed, &t), 0);
    assert_int_equal(selvedge_rm_tokens(t.rm, (const char *const[]){ NULL }, on_tokens, &t), 0);
    assert_int_equal(t.calls, 0);
    assert_int_equal(selvedge_rm_close(t.rm), 0);
    assert_int_equal(t.calls, 10);
    assert_int_equal(t.status, -ECANCELED);
    assert_int_equal(selvedge_loop_free(t.loop), 0);
    assert_int_equal(t.calls, 10);
}

/* Without Kerberos nothing needs a token. */
static void test_tokens(void **state)
{
    const char *const urls[] = { "/", "yarn:", NULL };
    const char *many[66] = { NULL };
    const void *p = NULL;
    struct told t;
    size_t n;

    (void)state;
    open_rm(&t);
    assert_int_equal(selvedge_rm_tokens(t.rm, NULL, on_tokens, &t), -EINVAL);
    assert_int_equal(selvedge_rm_tokens(t.rm, urls, NULL, &t), -EINVAL);
    for (size_t i = 0; i < 65; i++)
        many[i] = "/";
    assert_int_equal(selvedge_rm_tokens(t.rm, many, on_tokens, &t), -E2BIG);
    t.close = true;
    assert_int_equal(selvedge_rm_tokens(t.rm, urls, on_tokens, &t), 0);
    assert_int_equal(t.calls, 0);
    assert_int_equal(selvedge_loop_run(t.loop), 0);
    assert_int_equal(t.calls, 1);
    assert_int_equal(t.status, 0);
    assert_int_equal(selvedge_rm_tokens(t.rm, urls, on_tokens, &t), -EBADF);
    assert_int_equal(selvedge_am_tokens((selvedge_am){ 99 }, &p, &n), -EBADF);
    assert_int_equal(selvedge_loop_free(t.loop), 0);
}

static void test_login(void **state)
{
    struct selvedge_login l = SELVEDGE_LOGIN;
    struct selvedge_error err = { 0 };
    selvedge_rm other = { 0 };
    struct told t;

    (void)state;
    open_rm(&t);
    l.conf_dir = dir;
    assert_int_equal(selvedge_rm_open_as(t.loop, NULL, &other, NULL), -EINVAL);
    assert_int_equal(selvedge_rm_open_as(t.loop, &l, NULL, NULL), -EINVAL);
    l.struct_size = sizeof(l) + 1;
    assert_int_equal(selvedge_rm_open_as(t.loop, &l, &other, NULL), -EINVAL);
    l.struct_size = offsetof(struct selvedge_login, principal);
    l.keytab = "/no/keytab"; /* behind its end */
    assert_int_equal(selvedge_rm_open_as(t.loop, &l, &other, &err), 0);
    assert_int_equal(selvedge_rm_close(other), 0);
    assert_int_equal(selvedge_rm_close(t.rm), 0);
    assert_int_equal(selvedge_loop_free(t.loop), 0);
}

static void test_closed_within_its_callback(void **state)
{
    struct told t;

    (void)state;
    open_rm(&t);
    t.close = true;
    assert_int_equal(selvedge_rm_report(t.rm, APP, on_reports, &t), 0);
    assert_int_equal(selvedge_loop_run(t.loop), 7);
    assert_int_equal(t.calls, 1);
    assert_true(t.status < 0 && t.status != -ECANCELED && t.why[0]);
    assert_int_equal(selvedge_loop_free(t.loop), 0);
}

/* From another loop: by the descriptor alone. */
static void test_descriptor(void **state)
{
    struct told t;

    (void)state;
    open_rm(&t);
    assert_int_equal(selvedge_rm_wait(t.rm, APP, on_reports, &t), 0);
    while (t.calls == 0) {
        struct pollfd p = { .fd = selvedge_loop_fd(t.loop), .events = POLLIN };
        int r = selvedge_loop_dispatch(t.loop);

        assert_true(r >= 0 || t.calls > 0);
        if (r == 0 && t.calls == 0)
            assert_true(poll(&p, 1, 60000) > 0);
    }
    assert_int_equal(t.calls, 1);
    assert_int_equal(selvedge_rm_close(t.rm), 0);
    assert_int_equal(selvedge_loop_free(t.loop), 0);
}

static void test_master(void **state)
{
    struct selvedge_am_ops ops = { .struct_size = sizeof(ops) };
    struct selvedge_launch l = SELVEDGE_LAUNCH;
    struct selvedge_error err = { 0 };
    selvedge_loop loop;
    selvedge_am am;

    (void)state;
    assert_int_equal(selvedge_loop_new(NULL, &loop), 0);
    assert_int_equal(selvedge_am_open(loop, "127.0.0.1:1", NULL, NULL, &am, &err), -EINVAL);
    ops.struct_size = sizeof(ops) + 8;
    assert_int_equal(selvedge_am_open(loop, "127.0.0.1:1", &ops, NULL, &am, &err), -EINVAL);
    ops.struct_size = sizeof(ops);
    assert_int_equal(selvedge_am_open(loop, "nonsense", &ops, NULL, &am, &err), -EINVAL);
    assert_non_null(strstr(err.text, "nonsense"));
    assert_int_equal(selvedge_am_open(loop, "127.0.0.1:1,127.0.0.1:2", &ops, NULL, &am, &err), 0);
    assert_int_equal(selvedge_am_finish(am, 1, "early"), -ENOTCONN);
    l.command = "true";
    assert_int_equal(selvedge_am_start(am, CONTAINER, &l), -ENOENT);
    assert_int_equal(selvedge_am_start(am, "container_x", &l), -EINVAL);
    assert_int_equal(selvedge_am_start(am, CONTAINER, NULL), -EINVAL);
    assert_int_equal(selvedge_am_stop(am, CONTAINER), -ENOENT);
    assert_int_equal(selvedge_am_release(am, CONTAINER), -ENOENT);
    assert_int_equal(selvedge_am_want(am, 1, -1, 1, 1), -EINVAL);
    assert_int_equal(selvedge_am_want(am, 1, 100, 1, 1), 0);
    assert_int_equal(selvedge_am_progress(am, 2), -EINVAL);
    assert_int_equal(selvedge_am_progress(am, 0.5), 0);
    assert_int_equal(selvedge_am_register(am, NULL, -1, NULL), 0);
    assert_int_equal(selvedge_am_register(am, "", -1, ""), -EALREADY);
    assert_true(selvedge_loop_dispatch(loop) >= 0);
    assert_int_equal(selvedge_am_close(am), 0);
    assert_int_equal(selvedge_am_close(am), -EBADF);
    assert_int_equal(selvedge_am_register(am, "", -1, ""), -EBADF);
    assert_int_equal(selvedge_loop_free(loop), 0);
    assert_int_equal(unsetenv("HADOOP_TOKEN_FILE_LOCATION"), 0);
    assert_int_equal(selvedge_loop_new(NULL, &loop), 0);
    assert_int_equal(selvedge_am_open(loop, "127.0.0.1:1", &ops, NULL, &am, &err), -ENOKEY);
    assert_non_null(strstr(err.text, "HADOOP_TOKEN_FILE_LOCATION"));
    assert_int_equal(selvedge_loop_free(loop), 0);
}

/* ---- Requests ---- */

static void refuse(selvedge_am am, const struct selvedge_request *q, const char *words)
{
    struct selvedge_error err = { 0 };

    assert_int_equal(selvedge_am_request(am, q, &err), -EINVAL);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, err.text);
}

static selvedge_am open_am(selvedge_loop loop, size_t ops_size)
{
    struct selvedge_am_ops ops = { .struct_size = ops_size };
    struct selvedge_error err = { 0 };
    selvedge_am am;

    if (selvedge_am_open(loop, "127.0.0.1:1", &ops, NULL, &am, &err) < 0)
        fail_msg("%s", err.text);
    return am;
}

/* A program that was compiled with the first header knows fewer callbacks. */
static void test_older_program(void **state)
{
    selvedge_loop loop;
    selvedge_am am;

    (void)state;
    assert_int_equal(selvedge_loop_new(NULL, &loop), 0);
    am = open_am(loop, offsetof(struct selvedge_am_ops, recovered));
    assert_int_equal(selvedge_am_want(am, 1, 100, 1, 1), 0);
    assert_int_equal(selvedge_am_close(am), 0);
    assert_int_equal(selvedge_loop_free(loop), 0);
}

static void test_requests(void **state)
{
    static const char *const tags[] = { "web", NULL };
    static const struct selvedge_place places[] = { { "n1", "/r1" }, { NULL, "/r2" } },
                                       star = { "*", 0 };
    struct selvedge_constraint apart = SELVEDGE_CONSTRAINT, both = SELVEDGE_CONSTRAINT;
    const struct selvedge_constraint *children[] = { &apart, NULL }, *itself[] = { &both, NULL };
    struct selvedge_request q = SELVEDGE_REQUEST;
    selvedge_loop loop;
    selvedge_am am;

    (void)state;
    assert_int_equal(selvedge_loop_new(NULL, &loop), 0);
    am = open_am(loop, sizeof(struct selvedge_am_ops));
    q.request_id = 7;
    assert_int_equal(selvedge_am_request(am, &q, NULL), 0);
    q.places = places;
    q.n_places = 2;
    q.strict = 1;
    assert_int_equal(selvedge_am_request(am, &q, NULL), 0);
    q.tags = tags;
    refuse(am, &q, "cannot be combined");
    q.n_places = 0;
    q.strict = 0;
    refuse(am, &q, "not a scheduling request");
    q.request_id = 8;
    apart.tags = tags;
    q.constraint = &apart;
    assert_int_equal(selvedge_am_request(am, &q, NULL), 0);
    q.request_id = 9;
    both.type = SELVEDGE_ALL_OF;
    both.children = children;
    q.constraint = &both;
    assert_int_equal(selvedge_am_request(am, &q, NULL), 0);
    q.request_id = 10;
    both.children = itself; /* has no end */
    refuse(am, &q, "too large");
    both.children = NULL;
    refuse(am, &q, "children");
    both.type = 99;
    refuse(am, &q, "no known type");
    q.tags = NULL;
    refuse(am, &q, "a constraint needs tags");
    q.constraint = NULL;
    q.memory_mb = 0;
    refuse(am, &q, "more than 0");
    q.memory_mb = 1;
    q.places = &star;
    q.n_places = 1;
    refuse(am, &q, "place 0");
    q.struct_size = 1;
    assert_int_equal(selvedge_am_request(am, &q, NULL), -EINVAL);
    assert_int_equal(selvedge_am_request(am, NULL, NULL), -EINVAL);
    assert_int_equal(selvedge_am_cancel(am, 0, 8), 0);
    assert_int_equal(selvedge_am_cancel(am, 0, 8), -ENOENT);
    assert_int_equal(selvedge_am_blacklist(am, "n9", 1), 0);
    assert_int_equal(selvedge_am_blacklist(am, NULL, 1), -EINVAL);
    assert_int_equal(selvedge_am_update(am, CONTAINER, 1, 1), -ENOENT);
    assert_int_equal(selvedge_am_update(am, CONTAINER, 0, 1), -EINVAL);
    assert_int_equal(selvedge_am_update(am, "x", 1, 1), -EINVAL);
    assert_int_equal(selvedge_am_close(am), 0);
    assert_int_equal(selvedge_loop_free(loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_handles),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_closed_with_requests),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_login),
        cmocka_unit_test(test_closed_within_its_callback),
        cmocka_unit_test(test_descriptor),
        cmocka_unit_test(test_older_program),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_master),
    };
    return cmocka_run_group_tests_name("library", tests, set_up, tear_down);
}
