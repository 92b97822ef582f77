/* Launching, saving and starting a service: POST of a service, PUT with the state STARTED. The
 * definition is stored before the application is submitted, and a 202 means that it is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/api/call.h"

/* Hadoop's answer is 500 for a name that is taken, whatever took it. */
static int taken(struct svc_call *c)
{
    return svc_fail(c, SVC_FAIL_YARN, "Service name %s is already taken.", c->service);
}

static int check_number(struct svc_call *c)
{
    int most = c->settings->max_services;
    int r = c->b->count(c->b->userdata, most, &c->err);

    if (r < 0)
        return svc_fail_of(c, r);
    return r >= most ? svc_fail(c, SVC_FAIL_YARN,
                                "%s has %d services, as many as a user may have "
                                "(selvedge.services.max-per-user): destroy one first",
                                c->q->user, most)
                     : 0;
}

static int print(struct svc_call *c, const struct svc_definition *d, char **ret)
{
    int r = svc_definition_print(d, ret);

    if (r == 0 && strlen(*ret) > SVC_JSON_MAX)
        r = svc_fail(c, SVC_FAIL_ARGUMENT, "%s: the completed definition is larger than %zu MiB",
                     c->service, SVC_JSON_MAX >> 20);
    else if (r < 0)
        r = svc_fail_of(c, r);
    return r;
}

/* Submits, and notes the application in the stored definition. */
static int submit(struct svc_call *c, struct svc_definition *d, char ret_id[YARN_ID_TEXT_MAX])
{
    _cleanup_free_ char *text = NULL;
    struct yarn_app_id id;
    struct sv_error why = { 0 };
    int r = c->b->submit(c->b->userdata, d, &id, &c->err);

    if (r < 0)
        return svc_fail_of(c, r);
    d->id = yarn_app_id_text(id, ret_id);
    d->saved_state = "";
    r = print(c, d, &text);
    if (r == 0) {
        r = c->b->replace(c->b->userdata, d->name, text, &c->err);
        r = r < 0 ? svc_fail_of(c, r) : 0;
    }
    if (r < 0) /* nobody would know which application runs the service */
        (void)c->b->kill(c->b->userdata, id, "its definition could not be stored", &why);
    return r;
}

static int create(struct svc_call *c, const struct svc_definition *d)
{
    _cleanup_free_ char *text = NULL;
    int r = print(c, d, &text);

    if (r < 0)
        return r;
    r = c->b->create(c->b->userdata, d->name, NULL, text, &c->err);
    if (r == -EEXIST)
        return taken(c);
    return r < 0 ? svc_fail_of(c, r) : 0;
}

static int save(struct svc_call *c, struct svc_definition *d, const char *uri)
{
    char *said;
    int r;

    d->saved_state = "STOPPED";
    r = create(c, d);
    if (r < 0)
        return r;
    said = sv_arena_printf(c->arena, "Service %s version %s saved.", d->name, d->version);
    return svc_say(c, 202, uri, said, "ACCEPTED");
}

static int launch(struct svc_call *c, struct svc_definition *d, const char *uri)
{
    char id[YARN_ID_TEXT_MAX];
    struct sv_error why = { 0 };
    int r = c->b->live(c->b->userdata, d->name, &c->err);

    if (r < 0)
        return svc_fail_of(c, r);
    if (r > 0)
        return taken(c);
    r = create(c, d);
    if (r < 0)
        return r;
    r = submit(c, d, id);
    if (r < 0) { /* as Hadoop: what could not be launched is not there */
        (void)c->b->remove(c->b->userdata, d->name, &why);
        return r;
    }
    return svc_say(c, 202, uri, sv_arena_printf(c->arena, "Application ID: %s", id), "ACCEPTED");
}

int svc_op_create(struct svc_call *c)
{
    struct svc_definition *d;
    const char *state = svc_text(c->body, "state"), *uri;
    int r;

    c->service = svc_text(c->body, "name");
    if (!c->service || !*c->service) {
        c->service = "";
        return svc_fail(c, SVC_FAIL_ARGUMENT, "Service name is either empty or not provided");
    }
    r = svc_check_name(c, c->service);
    if (r == 0)
        r = svc_complete(c, c->body, svc_dialect_of(c), &d);
    if (r == 0)
        r = check_number(c);
    if (r < 0)
        return r;
    d->id = "";
    uri = sv_arena_printf(c->arena, "/v1/services/%s", d->name);
    return state && strcmp(state, "STOPPED") == 0 ? save(c, d, uri) : launch(c, d, uri);
}

/* ---- Start ---- */

/* In a service that is being upgraded a start ends the upgrade. */
static int finalize(struct svc_call *c, json_t *stored, char ret_id[YARN_ID_TEXT_MAX])
{
    struct svc_app app;
    int r = svc_running(c, stored, "finalize", &app);

    if (r < 0)
        return r;
    (void)yarn_app_id_text(app.id, ret_id);
    r = c->b->restart(c->b->userdata, &app, &c->err);
    return r < 0 ? svc_fail_of(c, r) : 0;
}

static int start_again(struct svc_call *c, json_t *stored, char ret_id[YARN_ID_TEXT_MAX])
{
    struct svc_definition *d;
    int r = svc_complete(c, stored, SVC_HADOOP, &d);

    if (r < 0)
        return r;
    r = c->b->live(c->b->userdata, c->service, &c->err);
    if (r < 0)
        return svc_fail_of(c, r);
    if (r > 0)
        return svc_fail(c, SVC_FAIL_YARN, "Failed to start service %s, because it already exists.",
                        c->service);
    d->name = c->service; /* the one that was asked for, whatever the file says */
    return submit(c, d, ret_id);
}

/* A master that is asked to stop says STOPPED a moment before its application ends. */
static int wait_for_end(struct svc_call *c, const json_t *stored)
{
    struct yarn_app_id id;
    int r = svc_id_of(c, stored, &id);

    if (r <= 0)
        return r;
    r = c->b->ended(c->b->userdata, id, SVC_STOP_MS, &c->err);
    return r < 0 && r != -ENOENT ? svc_fail_of(c, r) : 0; /* else it is found to live */
}

int svc_op_start(struct svc_call *c)
{
    char id[YARN_ID_TEXT_MAX];
    json_t *status, *stored;
    const char *state;
    bool upgrading, stopped;
    int r = svc_status(c, c->service, &status);

    if (r < 0)
        return r;
    state = svc_text(status, "state");
    upgrading = state && strcmp(state, "UPGRADING") == 0;
    stopped = state && strcmp(state, "STOPPED") == 0;
    json_decref(status);
    r = svc_load(c, c->service, &stored);
    if (r < 0)
        return r;
    r = stopped ? wait_for_end(c, stored) : 0;
    if (r == 0)
        r = upgrading ? finalize(c, stored, id) : start_again(c, stored, id);
    json_decref(stored);
    if (r < 0)
        return r;
    return svc_say(c, 200, NULL,
                   sv_arena_printf(c->arena,
                                   "Service %s is successfully started with ApplicationId: %s",
                                   c->service, id),
                   "ACCEPTED");
}
