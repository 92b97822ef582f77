/* logs/log-aggregation.c and its parts with the real configuration, state store and log handler:
 * configurations rejected at start, reports until they are delivered, policies over a restart,
 * tokens of uploads and how long the ResourceManager keeps them, concurrent uploads, deletion of
 * local logs. The helper is a stub that keeps each request. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "executor/exe.h"
#include "logs/upload-request.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/log-handler.h"
#include "nodemanager/store/state-store.h"
#include "wire/token/token.h"

#define AGGREGATION "yarn.log-aggregation."
#define LOGS "yarn.nodemanager.log-aggregation."
#define UPLOADS_MAX 8

static char dir[] = "/tmp/selvedge-aggregation-XXXXXX";
static char remote[128];
static sd_event *event;
static struct nm_conf conf;
static struct nm_context ctx;
static struct nm_log_handler *handler;
static struct nm_log_aggregation *g;
static unsigned deleted; /* applications whose logs have been */

/* ---- stubs ---- */

/* One upload that was started; answered by the test. */
struct exe_localizer {
    struct logs_upload request;
    char tokens[256]; /* "alias=password " of each */
    unsigned visibility;
    int channel;
};
static struct exe_localizer *uploads[UPLOADS_MAX];
static unsigned started;

static size_t size_of(int fd)
{
    struct stat st;

    assert_return_code(fstat(fd, &st), 0);
    return (size_t)st.st_size;
}

/* Reads and closes it. */
static void read_tokens(int fd, struct exe_localizer *l)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    size_t n = size_of(fd), used = 0;
    uint8_t *p = sv_arena_alloc(a, n + 1);
    struct yarn_credentials c;

    assert_true(fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE);
    assert_int_equal(pread(fd, p, n, 0), n);
    assert_int_equal(yarn_credentials_parse(p, n, a, &c, NULL), 0);
    for (size_t i = 0; i < c.n_tokens; i++)
        used += (size_t)snprintf(l->tokens + used, sizeof(l->tokens) - used, "%s=%.*s ",
                                 c.tokens[i].alias, (int)c.tokens[i].token.password_len,
                                 (const char *)c.tokens[i].token.password);
    sv_close(fd);
}

static void read_request(int fd, struct exe_localizer *l)
{
    size_t n = size_of(fd);
    uint8_t *bytes = malloc(n + 1);

    assert_int_equal(pread(fd, bytes, n, 0), n);
    assert_int_equal(logs_upload_parse(bytes, n, &l->request), 0);
    sv_close(fd);
}

int __wrap_exe_localizer_start(struct exe *x, const struct exe_localizer_start *s,
                               const struct exe_localizer_ops *ops, void *userdata,
                               struct exe_localizer **ret, struct sv_error *err);
int __wrap_exe_localizer_start(struct exe *x, const struct exe_localizer_start *s,
                               const struct exe_localizer_ops *ops, void *userdata,
                               struct exe_localizer **ret, struct sv_error *err)
{
    char control[CMSG_SPACE(3 * sizeof(int))], byte;
    struct iovec v = { &byte, 1 };
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
    };
    struct exe_localizer *l = calloc(1, sizeof(*l));
    const struct cmsghdr *c;
    int fds[3];
    size_t n, next = 1;

    (void)x, (void)ops, (void)userdata, (void)err;
    assert_true(l && started < UPLOADS_MAX);
    assert_int_equal(recvmsg(s->channel, &m, MSG_CMSG_CLOEXEC), 1);
    c = CMSG_FIRSTHDR(&m);
    n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds, CMSG_DATA(c), n * sizeof(int));
    read_request(fds[0], l);
    if (l->request.has_credentials)
        read_tokens(fds[next++], l);
    if (!*l->request.text[LOGS_SERVERS])
        sv_close(fds[next++]); /* the remote directory */
    assert_int_equal(n, next);
    l->visibility = s->visibility;
    l->channel = dup(s->channel);
    uploads[started++] = *ret = l;
    return 0;
}

struct exe_localizer *__wrap_exe_localizer_free(struct exe_localizer *l);
struct exe_localizer *__wrap_exe_localizer_free(struct exe_localizer *l)
{
    for (unsigned i = 0; l && i < started; i++)
        if (uploads[i] == l)
            uploads[i] = NULL;
    if (l) {
        sv_close(l->channel);
        logs_upload_clear(&l->request);
    }
    free(l);
    return NULL;
}

uint32_t __wrap_nm_dirs_log_usable(const struct nm_dirs *d);
uint32_t __wrap_nm_dirs_log_usable(const struct nm_dirs *d)
{
    (void)d;
    return 1;
}

void __wrap_nm_deletion_app_logs(struct nm_deletion *d, struct yarn_app_id app, const char *user);
void __wrap_nm_deletion_app_logs(struct nm_deletion *d, struct yarn_app_id app, const char *user)
{
    (void)d, (void)app, (void)user;
    deleted++;
}

/* ---- the node ---- */

static void on_app(const struct sv_event *e, void *userdata)
{
    (void)e, (void)userdata;
}

static int start(char *const *settings, struct sv_error *err)
{
    char path[128];
    int r;

    (void)snprintf(path, sizeof(path), "%s/store.db", dir);
    if (nm_conf_load(&conf, dir, settings, err) < 0)
        fail_msg("%s", err->text);
    assert_return_code(nm_context_open(&ctx, event, &conf, err), 0);
    sv_dispatcher_register(ctx.dispatcher, NM_MACHINE_APP, on_app, NULL);
    assert_return_code(nm_store_open(event, path, &ctx.store, err), 0);
    assert_return_code(nm_credentials_new(&ctx, &ctx.credentials), 0);
    assert_return_code(nm_log_handler_new(&ctx, NULL, &handler, err), 0);
    r = nm_aggregation_new(&ctx, handler, &g, err);
    if (r >= 0) {
        assert_int_equal(nm_log_handler_recover(handler), 0);
        assert_return_code(nm_aggregation_recover(g), 0);
    }
    return r;
}

/* Keeps the applications, which recovery finds. */
static void end(void)
{
    g = nm_aggregation_free(g);
    handler = nm_log_handler_free(handler);
    ctx.credentials = nm_credentials_free(ctx.credentials);
    ctx.store = nm_store_close(ctx.store);
    for (unsigned i = 0; i < started; i++)
        assert_null(uploads[i]); /* processes end with it */
    started = 0;
}

static void close_node(void)
{
    end();
    while (ctx.apps)
        nm_app_remove(ctx.apps);
    nm_context_close(&ctx);
    nm_conf_free(&conf);
    deleted = 0;
}

#define SETTINGS(...)                                                                              \
    ((char *const[]){ (char *)(uintptr_t) "yarn.nodemanager.hostname=127.0.0.1",                   \
                      (char *)(uintptr_t) "yarn.log-aggregation-enable=true", remote, __VA_ARGS__, \
                      NULL })
#define SET(text) ((char *)(uintptr_t)(text))

static int fresh(void **state)
{
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/store.db", dir);
    (void)!nm_store_unlink(path);
    return 0;
}

static void begin(char *const *settings)
{
    struct sv_error err = { 0 };

    if (start(settings, &err) < 0)
        fail_msg("%s", err.text);
}

static void restart(char *const *settings)
{
    struct nm_app *apps = ctx.apps;

    end();
    ctx.apps = NULL;
    nm_context_close(&ctx);
    nm_conf_free(&conf);
    ctx.apps = apps;
    begin(settings);
}

/* Turns of the loop until `started` or `deleted` is `wanted`; a limit for hangs. */
static void turn(const unsigned *number, unsigned wanted)
{
    for (int i = 0; i < 100 && *number < wanted; i++)
        assert_return_code(sd_event_run(event, 1000000), 0);
    assert_int_equal(*number, wanted);
}

static struct fs_credentials none;

static struct nm_app *add_app_with(int n, const char *policy, const char *parameters,
                                   const char *rolled, struct fs_credentials credentials)
{
    struct yarn_container_token t = { 0 };
    struct nm_app *a;

    assert_int_equal(nm_app_new(&ctx, (struct yarn_app_id){ 1, n }, "alice", &a), 0);
    a->log_dirs = 1;
    nm_app_add(a);
    (void)snprintf(t.log_policy, sizeof(t.log_policy), "%s", policy);
    (void)snprintf(t.log_policy_parameters, sizeof(t.log_policy_parameters), "%s", parameters);
    (void)snprintf(t.log_rolled_include, sizeof(t.log_rolled_include), "%s", rolled);
    assert_int_equal(nm_aggregation_app_started(g, a, &t, credentials), 0);
    return a;
}

static struct nm_app *add_app(int n, const char *policy, const char *parameters, const char *rolled)
{
    return add_app_with(n, policy, parameters, rolled, none);
}

static void container_done(struct nm_app *a, int64_t n, int exit_code)
{
    struct nm_container c = { .app = a, .id = { { a->id, 1 }, n }, .exit_code = exit_code };

    c.container_type = n == 1;
    yarn_container_id_text(c.id, c.text);
    nm_aggregation_container_done(g, &c);
}

static void answer(unsigned i, enum logs_outcome outcome)
{
    struct logs_answer a = { .outcome = outcome };

    assert_non_null(uploads[i]);
    assert_int_equal(send(uploads[i]->channel, &a, sizeof(a), 0), sizeof(a));
    for (int k = 0; k < 100 && uploads[i]; k++)
        assert_return_code(sd_event_run(event, 1000000), 0);
    assert_null(uploads[i]);
}

/* The reports of the next message: its statuses, as digits. */
static const char *reports(void)
{
    static char text[16];
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__LogAggregationReportProto **list;
    size_t n;

    list = nm_aggregation_reports(g, a, &n);
    assert_true(list && n < sizeof(text));
    for (size_t i = 0; i < n; i++)
        text[i] = (char)('0' + list[i]->log_aggregation_status);
    text[n] = '\0';
    return text;
}
#define RUNNING "3"
#define ENDED "34"

/* ---- cases ---- */

static void refused(void **state)
{
    static char *const bad[][2] = {
        { SET("yarn.nodemanager.remote-app-log-dir=s3a://bucket/logs"),
          SET("=s3a://bucket/logs: logs are uploaded to hdfs:, webhdfs: and file: alone") },
        { SET("yarn.nodemanager.remote-app-log-dir=https://host/logs"),
          SET("=https://host/logs: logs are uploaded to hdfs:, webhdfs: and file: alone") },
        { SET(LOGS "policy.class=org.example.MostPolicy"),
          SET(LOGS "policy.class: org.example.MostPolicy is not supported") },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        struct sv_error err = { 0 };

        assert_true(start(SETTINGS(bad[i][0]), &err) < 0);
        if (!strstr(err.text, bad[i][1]))
            fail_msg("\"%s\" does not say \"%s\"", err.text, bad[i][1]);
        g = NULL;
        close_node();
    }
}

/* An unanswered message is followed by one with the same reports, at registration as in heartbeats;
 * an answer acknowledges exactly the reports of its message. */
static void reported(void **state)
{
    struct nm_app *a;

    (void)state;
    begin(SETTINGS(NULL));
    a = add_app(1, "", "", "");
    assert_string_equal(reports(), "");
    nm_aggregation_app_finished(g, a);
    for (int lost = 0; lost < 3; lost++)
        assert_string_equal(reports(), RUNNING);
    nm_aggregation_reports_delivered(g);
    assert_string_equal(reports(), "");
    turn(&started, 1);
    nm_aggregation_app_finished(g, a);
    assert_string_equal(reports(), "");
    answer(0, LOGS_DONE);
    for (int lost = 0; lost < 3; lost++)
        assert_string_equal(reports(), ENDED);
    nm_aggregation_reports_delivered(g);
    assert_string_equal(reports(), "");
    a = add_app(2, "", "", "");
    nm_aggregation_app_finished(g, a);
    assert_string_equal(reports(), RUNNING);
    turn(&started, 2);
    answer(1, LOGS_DONE); /* while the message with RUNNING is under way */
    nm_aggregation_reports_delivered(g);
    assert_string_equal(reports(), ENDED);
    nm_aggregation_reports_delivered(g);
    assert_string_equal(reports(), "");
    close_node();
}

/* The ids that the upload leaves out. */
static void expect_skipped(unsigned i, const char *const *wanted)
{
    const struct logs_upload *u = &uploads[i]->request;
    size_t n = 0;

    for (; wanted[n]; n++) {
        assert_true(n < u->skips.n);
        assert_string_equal(u->skips.v[n], wanted[n]);
    }
    assert_int_equal(u->skips.n, n);
}

/* Policies of an application, decided before and after a restart of the daemon. */
static void policies(void **state)
{
    static const struct {
        const char *name, *parameters, *skipped[4];
    } rows[] = {
        { "FailedContainerLogAggregationPolicy",
          "",
          { "container_1_0001_01_000002", "container_1_0001_01_000004",
            "container_1_0001_01_000001" } },
        { "SampleContainerLogAggregationPolicy", "SR:0,MIN:1", { "container_1_0001_01_000004" } },
        { "", "", { NULL } },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct nm_app *a;

        fresh(state);
        begin(SETTINGS(NULL));
        a = add_app(1, rows[i].name, rows[i].parameters, "");
        container_done(a, 2, 0);
        container_done(a, 3, 1);
        restart(SETTINGS(NULL));
        container_done(a, 4, 0);
        container_done(a, 5, 1);
        container_done(a, 1, 0);
        nm_aggregation_app_finished(g, a);
        turn(&started, 1);
        expect_skipped(0, rows[i].skipped);
        restart(SETTINGS(NULL)); /* and in the middle of the upload */
        turn(&started, 1);
        expect_skipped(0, rows[i].skipped);
        close_node();
    }
}

/* The next one starts when one has ended, however it ended. */
static void at_a_time(void **state)
{
    (void)state;
    begin(SETTINGS(SET("yarn.nodemanager.logaggregation.threadpool-size-max=2")));
    for (int n = 1; n <= 5; n++)
        nm_aggregation_app_finished(g, add_app(n, "", "", ""));
    turn(&started, 2); /* one pass over the list starts all that may */
    answer(0, LOGS_DONE);
    turn(&started, 3);
    answer(1, LOGS_REFUSED);
    turn(&started, 4);
    answer(2, LOGS_FAILED);
    turn(&started, 5);
    answer(3, LOGS_NOTHING);
    answer(4, LOGS_DONE);
    close_node();
}

/* Uploaded logs are deleted at once, or at the end of log.retain-seconds. */
static void local_cleanup(void **state)
{
    for (int delete = 0; delete < 2; delete ++) {
        struct nm_app *a;

        fresh(state);
        begin(SETTINGS(SET(delete ? AGGREGATION "enable-local-cleanup=true"
                                  : AGGREGATION "enable-local-cleanup=false")));
        a = add_app(1, "", "", "");
        nm_aggregation_app_finished(g, a);
        turn(&started, 1);
        assert_int_equal(deleted, 0);
        answer(0, LOGS_DONE);
        assert_int_equal(nm_log_handler_until(handler, a->text) == 0, delete);
        if (delete)
            turn(&deleted, 1);
        assert_int_equal(nm_log_handler_keeps(handler, a->text), !delete);
        close_node();
    }
}

/* Rolled logs, which their uploader deletes. */
static void rolled_cleanup(void **state)
{
    static char *const more[][2] = {
        { SET(AGGREGATION "enable-local-cleanup=true"), SET("1") },
        { SET(AGGREGATION "enable-local-cleanup=false"), SET("") },
        { SET("yarn.nodemanager.delete.debug-delay-sec=600"), SET("") },
        { SET("yarn.nodemanager.delete.debug-delay-sec=-1"), SET("") },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(more); i++) {
        struct nm_app *a;

        fresh(state);
        begin(SETTINGS(SET(LOGS "roll-monitoring-interval-seconds=1"),
                       SET(LOGS "debug-enabled=true"), more[i][0]));
        a = add_app(1, "", "", "^log\\.");
        container_done(a, 2, 0);
        turn(&started, 1);
        assert_int_equal(uploads[0]->visibility, EXE_VISIBILITY_ROLLED_LOGS);
        assert_true(uploads[0]->request.app_runs);
        assert_int_equal(uploads[0]->request.delete_uploaded, *more[i][1] != '\0');
        close_node();
    }
}

/* ---- tokens ---- */

#define ON_HDFS                                                                                    \
    SET("yarn.nodemanager.remote-app-log-dir=hdfs://ns/logs"), SET("dfs.nameservices=ns"),         \
        SET("dfs.ha.namenodes.ns=a"), SET("dfs.namenode.rpc-address.ns.a=nn:8020")

/* Credentials with a token of HDFS and the AM's. */
static void put_tokens(struct sv_buf *b, const char *alias, const char *password)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_token t = { .id = (const uint8_t *)"id",
                            .id_len = 2,
                            .password = (const uint8_t *)password,
                            .password_len = strlen(password),
                            .kind = YARN_KIND_HDFS_DELEGATION,
                            .service = alias };
    struct yarn_credentials c = { 0 };

    assert_int_equal(yarn_credentials_add(a, &c, alias, &t), 0);
    t.kind = YARN_KIND_AMRM;
    assert_int_equal(yarn_credentials_add(a, &c, "am", &t), 0);
    b->len = 0;
    assert_int_equal(yarn_credentials_write(&c, b), 0);
}

/* The ResourceManager's new credentials of application 1. */
static void renew(const char *alias, const char *password)
{
    Hadoop__Yarn__ApplicationIdProto id;
    Hadoop__Yarn__SystemCredentialsForAppsProto row, *rows[] = { &row };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 16);

    put_tokens(&b, alias, password);
    hadoop__yarn__application_id_proto__init(&id);
    id.has_id = id.has_cluster_timestamp = true;
    id.id = 1;
    id.cluster_timestamp = 1;
    hadoop__yarn__system_credentials_for_apps_proto__init(&row);
    row.appid = &id;
    row.has_credentialsforapp = true;
    row.credentialsforapp = (ProtobufCBinaryData){ b.len, b.data };
    assert_int_equal(nm_credentials_replace(ctx.credentials, rows, 1), 0);
}

static int count_tokens(const char *key, const void *value, size_t len, void *userdata)
{
    (void)value, (void)len;
    *(unsigned *)userdata +=
        !strncmp(key, NM_UPLOAD_CREDENTIALS_KEY, strlen(NM_UPLOAD_CREDENTIALS_KEY));
    return 0;
}

static unsigned tokens_on_record(void)
{
    unsigned n = 0;

    assert_int_equal(nm_store_each_resource(ctx.store, count_tokens, &n), 0);
    return n;
}

/* The tokens of file systems alone, renewed ones in the place of those of the submission; both are
 * there after a restart, until the upload is over. */
static void tokens(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 16);
    struct nm_app *a;

    (void)state;
    begin(SETTINGS(ON_HDFS));
    put_tokens(&b, "ha-hdfs:ns", "old");
    a = add_app_with(1, "", "", "", (struct fs_credentials){ b.data, b.len });
    restart(SETTINGS(ON_HDFS));
    renew("other:8020", "new");
    nm_aggregation_app_finished(g, a);
    nm_credentials_app_finished(ctx.credentials, a->text);
    turn(&started, 1);
    assert_string_equal(uploads[0]->tokens, "other:8020=new ha-hdfs:ns=old ");
    assert_non_null(strstr(uploads[0]->request.text[LOGS_SERVERS], "ns@nn:8020"));
    restart(SETTINGS(ON_HDFS));
    turn(&started, 1);
    assert_string_equal(uploads[0]->tokens, "other:8020=new ha-hdfs:ns=old ");
    assert_int_equal(tokens_on_record(), 1);
    answer(0, LOGS_DONE);
    assert_int_equal(tokens_on_record(), 0);
    close_node();
}

/* Every upload of rolled logs takes the newest. */
static void rolled_tokens(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 16);
    struct nm_app *a;

    (void)state;
    begin(SETTINGS(SET(LOGS "roll-monitoring-interval-seconds=1"), SET(LOGS "debug-enabled=true"),
                   ON_HDFS));
    put_tokens(&b, "ha-hdfs:ns", "one");
    a = add_app_with(1, "", "", "^log\\.", (struct fs_credentials){ b.data, b.len });
    container_done(a, 2, 0);
    turn(&started, 1);
    assert_string_equal(uploads[0]->tokens, "ha-hdfs:ns=one ");
    answer(0, LOGS_DONE);
    renew("ha-hdfs:ns", "two");
    container_done(a, 3, 0);
    turn(&started, 2);
    assert_string_equal(uploads[1]->tokens, "ha-hdfs:ns=two ");
    close_node();
}

/* Malformed renewed ones are not used; a directory of this machine needs none. */
static void without_tokens(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 16);
    struct nm_app *a;

    put_tokens(&b, "ha-hdfs:ns", "old");
    begin(SETTINGS(NULL));
    a = add_app_with(1, "", "", "", (struct fs_credentials){ b.data, b.len });
    nm_aggregation_app_finished(g, a);
    turn(&started, 1);
    assert_false(uploads[0]->request.has_credentials);
    assert_int_equal(tokens_on_record(), 0);
    close_node();

    fresh(state);
    begin(SETTINGS(ON_HDFS));
    a = add_app_with(1, "", "", "", (struct fs_credentials){ b.data, b.len - 2 });
    nm_aggregation_app_finished(g, a);
    turn(&started, 1);
    assert_false(uploads[0]->request.has_credentials);
    close_node();
}

/* Numbers of the applications of the next status, as text; NULL: 16 or more. */
static const char *kept_alive(void)
{
    static char text[16];
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationIdProto **list;
    size_t n;

    list = nm_aggregation_keep_alive(g, a, &n);
    assert_true(list && n < sizeof(text));
    for (size_t i = 0; i < n; i++)
        text[i] = (char)('0' + list[i]->id);
    text[n] = '\0';
    return text;
}

/* Between 70 and 90 % of the interval after the end, again and again, until the upload is over. */
static void keep_alive(void **state)
{
    static char *const interval = SET("yarn.nm.liveness-monitor.expiry-interval-ms=1000");
    struct nm_app *a;
    int64_t t = 1000000;

    (void)state;
    sv_clock_set_test(t, 1);
    ctx.kerberos = (struct sgss_daemon *)&ctx; /* never used */
    begin(SETTINGS(interval));
    a = add_app(1, "", "", "");
    (void)add_app(2, "", "", "");
    sv_clock_set_test(t += 10000, 1);
    assert_string_equal(kept_alive(), ""); /* it runs */
    nm_aggregation_app_ends(g, a->text);
    sv_clock_set_test(t += 699, 1);
    assert_string_equal(kept_alive(), "");
    nm_aggregation_app_finished(g, a);
    nm_aggregation_reports_delivered(g);
    sv_clock_set_test(t += 202, 1);
    for (int lost = 0; lost < 3; lost++)
        assert_string_equal(kept_alive(), "1");
    nm_aggregation_reports_delivered(g);
    for (int round = 0; round < 3; round++) {
        sv_clock_set_test(t += 699, 1);
        assert_string_equal(kept_alive(), "");
        sv_clock_set_test(t += 202, 1);
        assert_string_equal(kept_alive(), "1");
        nm_aggregation_reports_delivered(g);
    }
    restart(SETTINGS(interval));
    assert_string_equal(kept_alive(), "1"); /* who knows when it was told last */
    nm_aggregation_reports_delivered(g);
    turn(&started, 1);
    sv_clock_set_test(t += 901, 1);
    assert_string_equal(kept_alive(), "1");
    answer(0, LOGS_DONE);
    assert_string_equal(kept_alive(), "");
    sv_clock_set_test(t += 901, 1);
    assert_string_equal(kept_alive(), "");
    close_node();
    ctx.kerberos = NULL;
    sv_clock_reset();
}

/* Without Kerberos there are no tokens to keep. */
static void not_secure(void **state)
{
    struct nm_app *a;

    (void)state;
    sv_clock_set_test(1000, 1000);
    begin(SETTINGS(NULL));
    a = add_app(1, "", "", "");
    nm_aggregation_app_ends(g, a->text);
    nm_aggregation_app_finished(g, a);
    sv_clock_set_test(1000000000, 1000);
    assert_string_equal(kept_alive(), "");
    close_node();
    sv_clock_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(refused, fresh),
        cmocka_unit_test_setup(reported, fresh),
        cmocka_unit_test_setup(policies, fresh),
        cmocka_unit_test_setup(at_a_time, fresh),
        cmocka_unit_test_setup(local_cleanup, fresh),
        cmocka_unit_test_setup(rolled_cleanup, fresh),
        cmocka_unit_test_setup(tokens, fresh),
        cmocka_unit_test_setup(rolled_tokens, fresh),
        cmocka_unit_test_setup(without_tokens, fresh),
        cmocka_unit_test_setup(keep_alive, fresh),
        cmocka_unit_test_setup(not_secure, fresh),
    };
    int r, tmp;

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    if (!mkdtemp(dir) || sd_event_new(&event) < 0)
        return 1;
    (void)snprintf(remote, sizeof(remote), "yarn.nodemanager.remote-app-log-dir=file://%s/remote",
                   dir);
    r = cmocka_run_group_tests(tests, NULL, NULL);
    sd_event_unref(event);
    tmp = open("/tmp", O_PATH | O_CLOEXEC);
    r += sv_remove_tree_at(tmp, strrchr(dir, '/') + 1) < 0;
    sv_close(tmp);
    return r;
}
