/* A backend of the services API in memory: one store for all users' services of a name, one
 * application, a master that notes what it is told. */
#ifndef SELVEDGE_TESTS_UNIT_SERVICE_API_FAKE_BACKEND_H
#define SELVEDGE_TESTS_UNIT_SERVICE_API_FAKE_BACKEND_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "service/api/api.h"

#define FAKE_STORED_MAX 8

struct fake {
    struct svc_backend b;
    struct {
        char name[80], version[80]; /* version "" = the current one */
        char *text;
    } stored[FAKE_STORED_MAX];
    bool live;                 /* an application runs the service, or waits to */
    enum cli_app_state app;    /* of its report; 0: the ResourceManager knows none */
    bool ends;                 /* its application, while that is waited for */
    const char *status;        /* of the master; NULL: it does not answer */
    int submit, replace, look; /* errors of these */
    char log[4096];            /* "flex(a=3) stop() …" */
};

static inline void fake_note(struct fake *f, const char *fmt, ...) _printf_(2, 3);
static inline void fake_note(struct fake *f, const char *fmt, ...)
{
    size_t n = strlen(f->log);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(f->log + n, sizeof(f->log) - n, fmt, ap);
    va_end(ap);
}

static inline char **fake_find(struct fake *f, const char *name, const char *version)
{
    for (size_t i = 0; i < FAKE_STORED_MAX; i++)
        if (f->stored[i].text && strcmp(f->stored[i].name, name) == 0 &&
            strcmp(f->stored[i].version, version ? version : "") == 0)
            return &f->stored[i].text;
    return NULL;
}

static inline int fake_read(void *b, const char *name, const char *version, char **ret,
                            struct sv_error *err)
{
    char **at = fake_find(b, name, version);

    assert_true(svc_name_valid(name)); /* the API has checked it */
    if (!at)
        return sv_error_set(err, -ENOENT, "File does not exist: %s.json", name);
    *ret = strdup(*at);
    assert_non_null(*ret);
    return 0;
}

static inline int fake_create(void *b, const char *name, const char *version, const char *json,
                              struct sv_error *err)
{
    struct fake *f = b;

    assert_true(svc_name_valid(name));
    if (!version && fake_find(f, name, version))
        return sv_error_set(err, -EEXIST, "Service Instance dir already exists: %s", name);
    if (fake_find(f, name, version)) {
        fake_note(f, "create(%s/%s) ", name, version);
        return 0;
    }
    for (size_t i = 0; i < FAKE_STORED_MAX; i++)
        if (!f->stored[i].text) {
            (void)snprintf(f->stored[i].name, sizeof(f->stored[i].name), "%s", name);
            (void)snprintf(f->stored[i].version, sizeof(f->stored[i].version), "%s",
                           version ? version : "");
            f->stored[i].text = strdup(json);
            fake_note(f, "create(%s%s%s) ", name, version ? "/" : "", version ? version : "");
            return 0;
        }
    fail();
    return -ENOSPC;
}

static inline int fake_replace(void *b, const char *name, const char *json, struct sv_error *err)
{
    struct fake *f = b;
    char **at = fake_find(f, name, NULL);

    if (f->replace)
        return sv_error_errno(err, f->replace, "%s", name);
    assert_non_null(at);
    free(*at);
    *at = strdup(json);
    fake_note(f, "replace(%s) ", name);
    return 0;
}

static inline int fake_remove(void *b, const char *name, struct sv_error *err)
{
    struct fake *f = b;
    int n = 0;

    (void)err;
    for (size_t i = 0; i < FAKE_STORED_MAX; i++)
        if (f->stored[i].text && strcmp(f->stored[i].name, name) == 0) {
            free(SV_TAKE(f->stored[i].text));
            n = 1;
        }
    fake_note(f, "remove(%s) ", name);
    return n;
}

static inline int fake_count(void *b, int most, struct sv_error *err)
{
    struct fake *f = b;
    int n = 0;

    (void)err;
    for (size_t i = 0; i < FAKE_STORED_MAX; i++)
        n += f->stored[i].text && !*f->stored[i].version;
    return SV_MIN(n, most);
}

static inline int fake_look(void *b, const char *name, struct sv_error *err)
{
    struct fake *f = b;

    if (f->look)
        return sv_error_errno(err, f->look, "%s", name);
    return strstr(name, "absent") ? -ENOENT : strstr(name, "directory") != NULL;
}

static inline int fake_live(void *b, const char *name, struct sv_error *err)
{
    (void)name;
    (void)err;
    return ((struct fake *)b)->live;
}

static inline int fake_submit(void *b, const struct svc_definition *d, struct yarn_app_id *ret,
                              struct sv_error *err)
{
    struct fake *f = b;

    if (f->submit)
        return sv_error_set(err, f->submit, "queue root.x is not there");
    fake_note(f, "submit(%s) ", d->name);
    *ret = (struct yarn_app_id){ .cluster_ts = 1700000000000, .id = 7 };
    f->live = true;
    f->app = CLI_APP_ACCEPTED;
    return 0;
}

static inline int fake_report(void *b, struct yarn_app_id id, struct svc_app *ret,
                              struct sv_error *err)
{
    struct fake *f = b;

    assert_int_equal(id.id, 7);
    if (!f->app)
        return sv_error_set(err, -ENOENT, "no such application");
    *ret = (struct svc_app){ .id = id, .state = f->app, .port = 1, .lifetime_left_s = -1 };
    if (f->app == CLI_APP_RUNNING)
        (void)snprintf(ret->host, sizeof(ret->host), "node1");
    return 0;
}

static inline int fake_kill(void *b, struct yarn_app_id id, const char *why, struct sv_error *err)
{
    struct fake *f = b;

    (void)id;
    (void)err;
    fake_note(f, "kill(%s) ", why);
    f->live = false;
    f->app = CLI_APP_KILLED;
    return 0;
}

static inline int fake_ended(void *b, struct yarn_app_id id, int64_t ms, struct sv_error *err)
{
    struct fake *f = b;

    (void)id;
    (void)ms;
    (void)err;
    if (f->ends) {
        f->app = CLI_APP_FINISHED;
        f->live = false;
    }
    return f->app != CLI_APP_RUNNING;
}

static inline int fake_set_lifetime(void *b, struct yarn_app_id id, int64_t s, struct sv_error *err)
{
    (void)id;
    (void)err;
    fake_note(b, "lifetime(%lld) ", (long long)s);
    return 0;
}

static inline int fake_status(void *b, const struct svc_app *app, char **ret, struct sv_error *err)
{
    struct fake *f = b;

    (void)app;
    if (!f->status)
        return sv_error_set(err, -ECONNREFUSED, "master at node1:1");
    *ret = strdup(f->status);
    return 0;
}

static inline int fake_stop(void *b, const struct svc_app *app, struct sv_error *err)
{
    struct fake *f = b;

    (void)app;
    if (!f->status)
        return sv_error_set(err, -ECONNREFUSED, "master at node1:1");
    fake_note(f, "stop() ");
    f->live = false;
    f->app = CLI_APP_FINISHED;
    return 0;
}

static inline int fake_restart(void *b, const struct svc_app *app, struct sv_error *err)
{
    (void)app;
    (void)err;
    fake_note(b, "restart() ");
    return 0;
}

static inline int fake_flex(void *b, const struct svc_app *app, const struct svc_count *counts,
                            size_t n, struct sv_error *err)
{
    (void)app;
    (void)err;
    fake_note(b, "flex(");
    for (size_t i = 0; i < n; i++)
        fake_note(b, "%s%s=%lld", i ? "," : "", counts[i].component, (long long)counts[i].count);
    fake_note(b, ") ");
    return 0;
}

static inline void fake_names(struct fake *f, const char *what, struct svc_names names)
{
    fake_note(f, "%s(", what);
    for (size_t i = 0; i < names.n; i++)
        fake_note(f, "%s%s", i ? "," : "", names.v[i]);
    fake_note(f, ") ");
}

static inline int fake_decommission(void *b, const struct svc_app *app, struct svc_names names,
                                    struct sv_error *err)
{
    (void)app;
    (void)err;
    fake_names(b, "decommission", names);
    return 0;
}

static inline int fake_upgrade(void *b, const struct svc_app *app, const char *version,
                               bool finalize, bool express, struct sv_error *err)
{
    (void)app;
    (void)err;
    fake_note(b, "upgrade(%s%s%s) ", version, finalize ? " auto" : "", express ? " express" : "");
    return 0;
}

static inline int fake_cancel(void *b, const struct svc_app *app, struct sv_error *err)
{
    (void)app;
    (void)err;
    fake_note(b, "cancel() ");
    return 0;
}

static inline int fake_containers(void *b, const struct svc_app *app, struct svc_names ids,
                                  struct sv_error *err)
{
    (void)app;
    (void)err;
    fake_names(b, "containers", ids);
    return 0;
}

static inline int fake_instances(void *b, const struct svc_app *app, struct svc_names components,
                                 const char *version, struct svc_names states, char **ret,
                                 struct sv_error *err)
{
    (void)app;
    (void)err;
    fake_names(b, version ? version : "any", components);
    fake_names(b, "in", states);
    *ret = strdup("[{\"component_name\":\"web\",\"containers\":[]}]");
    return 0;
}

static inline void fake_begin(struct fake *f)
{
    *f = (struct fake){ .b = { .userdata = f,
                               .read = fake_read,
                               .create = fake_create,
                               .replace = fake_replace,
                               .remove = fake_remove,
                               .count = fake_count,
                               .look = fake_look,
                               .live = fake_live,
                               .submit = fake_submit,
                               .report = fake_report,
                               .kill = fake_kill,
                               .ended = fake_ended,
                               .set_lifetime = fake_set_lifetime,
                               .status = fake_status,
                               .stop = fake_stop,
                               .restart = fake_restart,
                               .flex = fake_flex,
                               .decommission = fake_decommission,
                               .upgrade = fake_upgrade,
                               .cancel_upgrade = fake_cancel,
                               .upgrade_containers = fake_containers,
                               .instances = fake_instances } };
}

static inline void fake_end(struct fake *f)
{
    for (size_t i = 0; i < FAKE_STORED_MAX; i++)
        free(f->stored[i].text);
}

#endif
