/* Stopping and destroying a service: PUT with the state STOPPED, DELETE. */
#include <errno.h>
#include <string.h>

#include "service/api/call.h"

static int kill_app(struct svc_call *c, struct yarn_app_id id, const char *why)
{
    int r = c->b->kill(c->b->userdata, id, why, &c->err);

    return r < 0 ? svc_fail_of(c, r) : 0;
}

/* By its master; `wait`: until it has ended. */
static int stop_running(struct svc_call *c, const struct svc_app *app, bool wait)
{
    struct sv_error why = { 0 };
    int r = c->b->stop(c->b->userdata, app, &why);

    if (r < 0)
        return kill_app(c, app->id, "Forcefully kill the app");
    if (!wait)
        return 0;
    r = c->b->ended(c->b->userdata, app->id, SVC_STOP_MS, &c->err);
    if (r < 0)
        return svc_fail_of(c, r);
    return r > 0 ? 0 : kill_app(c, app->id, "Forcefully kill the app by user");
}

/* 1: stopped; 0: nothing ran. */
static int stop(struct svc_call *c, bool wait)
{
    struct yarn_app_id id;
    struct svc_app app;
    json_t *stored;
    int r = svc_load(c, c->service, &stored);

    if (r < 0)
        return r;
    r = svc_id_of(c, stored, &id);
    json_decref(stored);
    if (r <= 0)
        return r;
    r = c->b->report(c->b->userdata, id, &app, &c->err);
    if (r == -ENOENT || (r == 0 && cli_app_ended(app.state)))
        return 0;
    if (r < 0)
        return svc_fail_of(c, r);
    if (app.state != CLI_APP_RUNNING)
        r = kill_app(c, id,
                     sv_arena_printf(c->arena, "%s is at %s, forcefully killed by user!",
                                     c->service, cli_app_state_name(app.state)));
    else if (!*app.host)
        r = svc_fail(c, SVC_FAIL_YARN, "%s AM hostname is empty", c->service);
    else
        r = stop_running(c, &app, wait);
    return r < 0 ? r : 1;
}

int svc_op_stop(struct svc_call *c)
{
    int r = svc_check_name(c, c->service);

    if (r == 0)
        r = stop(c, false);
    if (r < 0)
        return r;
    return svc_say(
        c, r ? 200 : 400, NULL,
        sv_arena_printf(c->arena,
                        r ? "Successfully stopped service %s" : "Service %s is already stopped",
                        c->service),
        NULL);
}

int svc_op_destroy(struct svc_call *c)
{
    int r = svc_check_name(c, c->service);

    if (r < 0)
        return r;
    (void)stop(c, true); /* whether it still runs is asked below, ignoring */
    c->failure = SVC_FAIL_NONE;
    c->err = (struct sv_error){ 0 };
    r = c->b->live(c->b->userdata, c->service, &c->err);
    if (r < 0)
        return svc_fail_of(c, r);
    if (r > 0)
        return svc_fail(c, SVC_FAIL_YARN,
                        "Failed to destroy service %s, because it is still running.", c->service);
    r = c->b->remove(c->b->userdata, c->service, &c->err);
    if (r < 0)
        return svc_fail_of(c, r);
    return svc_say(
        c, r ? 200 : 400, NULL,
        sv_arena_printf(c->arena,
                        r ? "Successfully destroyed service %s" : "Service %s doesn't exist",
                        c->service),
        NULL);
}
