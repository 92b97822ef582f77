/* Log aggregation with the real configuration, state store and log handler; the helper is a stub
 * that keeps each request. Include it after cmocka.h. */
#ifndef SELVEDGE_TESTS_UNIT_NODEMANAGER_LOGS_AGGREGATION_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_NODEMANAGER_LOGS_AGGREGATION_FIXTURE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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

static inline size_t size_of(int fd)
{
    struct stat st;

    assert_return_code(fstat(fd, &st), 0);
    return (size_t)st.st_size;
}

/* Reads and closes it. */
static inline void read_tokens(int fd, struct exe_localizer *l)
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

static inline void read_request(int fd, struct exe_localizer *l)
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

static inline void on_app(const struct sv_event *e, void *userdata)
{
    (void)e, (void)userdata;
}

static inline int start(char *const *settings, struct sv_error *err)
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
static inline void end(void)
{
    g = nm_aggregation_free(g);
    handler = nm_log_handler_free(handler);
    ctx.credentials = nm_credentials_free(ctx.credentials);
    ctx.store = nm_store_close(ctx.store);
    for (unsigned i = 0; i < started; i++)
        assert_null(uploads[i]); /* processes end with it */
    started = 0;
}

static inline void close_node(void)
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

static inline int fresh(void **state)
{
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/store.db", dir);
    (void)!nm_store_unlink(path);
    return 0;
}

static inline void begin(char *const *settings)
{
    struct sv_error err = { 0 };

    if (start(settings, &err) < 0)
        fail_msg("%s", err.text);
}

static inline void restart(char *const *settings)
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
static inline void turn(const unsigned *number, unsigned wanted)
{
    for (int i = 0; i < 100 && *number < wanted; i++)
        assert_return_code(sd_event_run(event, 1000000), 0);
    assert_int_equal(*number, wanted);
}

static struct fs_credentials none;

static inline struct nm_app *add_app_with(int n, const char *policy, const char *parameters,
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

static inline struct nm_app *add_app(int n, const char *policy, const char *parameters,
                                     const char *rolled)
{
    return add_app_with(n, policy, parameters, rolled, none);
}

static inline void container_done(struct nm_app *a, int64_t n, int exit_code)
{
    struct nm_container c = { .app = a, .id = { { a->id, 1 }, n }, .exit_code = exit_code };

    c.container_type = n == 1;
    yarn_container_id_text(c.id, c.text);
    nm_aggregation_container_done(g, &c);
}

static inline void answer(unsigned i, enum logs_outcome outcome)
{
    struct logs_answer a = { .outcome = outcome };

    assert_non_null(uploads[i]);
    assert_int_equal(send(uploads[i]->channel, &a, sizeof(a), 0), sizeof(a));
    for (int k = 0; k < 100 && uploads[i]; k++)
        assert_return_code(sd_event_run(event, 1000000), 0);
    assert_null(uploads[i]);
}

/* The reports of the next message: its statuses, as digits. */
static inline const char *reports(void)
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

/* ---- the group of tests ---- */

static inline int set_up_group(void **state)
{
    (void)state;
    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    if (!mkdtemp(dir) || sd_event_new(&event) < 0)
        return -1;
    (void)snprintf(remote, sizeof(remote), "yarn.nodemanager.remote-app-log-dir=file://%s/remote",
                   dir);
    return 0;
}

static inline int tear_down_group(void **state)
{
    int tmp = open("/tmp", O_PATH | O_CLOEXEC), r;

    (void)state;
    sd_event_unref(event);
    r = sv_remove_tree_at(tmp, strrchr(dir, '/') + 1);
    sv_close(tmp);
    return r;
}

#endif
