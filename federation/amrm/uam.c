/* The life of an unmanaged master; see uam.h. Hostile: states and texts of the ResourceManager. */
#include "federation/amrm/uam.h"

#include "common/str.h"
#include "proto/yarn_service.pb-c.h"

#define APP(x) HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__##x
#define ATTEMPT(x) HADOOP__YARN__YARN_APPLICATION_ATTEMPT_STATE_PROTO__APP_ATTEMPT_##x

static const char *const state_names[FED_UAM_STATES] = { "",          "NEW",         "SUBMITTING",
                                                         "ACCEPTING", "LAUNCHING",   "FETCHING",
                                                         "SAVING",    "REGISTERING", "PAUSED",
                                                         "RUNNING",   "FINISHING",   "KILLING",
                                                         "FINISHED",  "FAILED" };
static const char *const event_names[FED_UAM_EVENTS] = {
    "",      "START",      "ATTACH",       "SUBMITTED",    "REPORT", "ATTEMPT",
    "SAVED", "REGISTERED", "CALL_FAILED",  "CALL_REFUSED", "TIMER",  "RESYNC",
    "LOST",  "FINISH",     "UNREGISTERED", "KILL",         "KILLED"
};

/* ------------------------------------------------------------------ steps */

static int enter(struct fed_uam *u, int state, enum fed_uam_do todo)
{
    u->todo = todo;
    return state;
}

static int wait_in(struct fed_uam *u, int state, int64_t ms)
{
    u->wait_ms = ms;
    return enter(u, state, FED_UAM_DO_WAIT);
}

static int fail(struct fed_uam *u, const char *why)
{
    sv_escape(u->why, sizeof(u->why), why ? why : "");
    return enter(u, FED_UAM_FAILED, FED_UAM_DO_END);
}

static int submit(struct fed_uam *u, int64_t now_ms)
{
    u->submitted = true;
    u->deadline_ms = now_ms + u->settings.launch_ms;
    return enter(u, FED_UAM_SUBMITTING, FED_UAM_DO_SUBMIT);
}

static int finished(struct fed_uam *u)
{
    u->submitted = u->has_token = false;
    return enter(u, FED_UAM_FINISHED, FED_UAM_DO_END);
}

static int kill_it(struct fed_uam *u)
{
    if (!u->submitted)
        return finished(u);
    u->tries_left = u->settings.tries;
    return enter(u, FED_UAM_KILLING, FED_UAM_DO_KILL);
}

/* ------------------------------------------------------------------ launch */

static int on_start(void *object, int event, void *arg)
{
    struct fed_uam *u = object;
    const struct fed_uam_arg *a = arg;

    (void)event;
    u->tries_left = u->settings.tries;
    u->has_token = u->finish_next = false;
    return submit(u, a->now_ms);
}

static int on_attach(void *object, int event, void *arg)
{
    struct fed_uam *u = object;

    (void)event;
    (void)arg;
    u->tries_left = u->settings.tries;
    u->submitted = u->has_token = true;
    u->finish_next = false;
    return enter(u, FED_UAM_REGISTERING, FED_UAM_DO_REGISTER);
}

static int on_submitted(void *object, int event, void *arg)
{
    (void)event;
    (void)arg;
    return enter(object, FED_UAM_ACCEPTING, FED_UAM_DO_REPORT);
}

/* Another try, or the end of trying. */
static int retry(struct fed_uam *u, const char *why)
{
    if (--u->tries_left <= 0)
        return fail(u, why);
    sv_escape(u->why, sizeof(u->why), why ? why : "");
    return wait_in(u, FED_UAM_PAUSED, u->settings.retry_ms);
}

/* The state is not reached yet: polls again, at most until the deadline. */
static int poll_again(struct fed_uam *u, const struct fed_uam_arg *a, const char *late)
{
    if (a->now_ms >= u->deadline_ms)
        return retry(u, late);
    return wait_in(u, u->state, u->settings.poll_ms);
}

static int on_accepting(void *object, int event, void *arg)
{
    struct fed_uam *u = object;
    const struct fed_uam_arg *a = arg;

    (void)event;
    switch (a->app) {
    case APP(ACCEPTED):
        if (a->attempt_known)
            return enter(u, FED_UAM_LAUNCHING, FED_UAM_DO_REPORT_ATTEMPT);
        break;
    case APP(RUNNING):
        return fail(u, "the sub-cluster already runs a master of this application, whose token is "
                       "not stored here: an earlier attempt ran on another node, without "
                       "yarn.nodemanager.amrmproxy.ha.enable");
    case APP(FINISHED):
    case APP(FAILED):
    case APP(KILLED):
        u->submitted = false;
        return fail(u, "the application has already ended in the sub-cluster");
    default:
        break;
    }
    return poll_again(u, a, "the sub-cluster did not accept the application in time");
}

static int on_launching(void *object, int event, void *arg)
{
    struct fed_uam *u = object;
    const struct fed_uam_arg *a = arg;

    (void)event;
    switch (a->attempt) {
    case ATTEMPT(LAUNCHED):
        return enter(u, FED_UAM_FETCHING, FED_UAM_DO_REPORT);
    case ATTEMPT(FAILED):
    case ATTEMPT(FINISHED):
    case ATTEMPT(KILLED):
        u->submitted = false;
        return fail(u, "the attempt has ended in the sub-cluster before it was launched");
    default:
        return poll_again(u, a, "the sub-cluster did not launch the attempt in time");
    }
}

static int on_fetching(void *object, int event, void *arg)
{
    struct fed_uam *u = object;
    const struct fed_uam_arg *a = arg;

    (void)event;
    if (a->token)
        return enter(u, FED_UAM_SAVING, FED_UAM_DO_SAVE);
    return poll_again(u, a,
                      "the application's report has no AMRMToken: the ResourceManager gives "
                      "it to the application's owner alone");
}

static int on_timer(void *object, int event, void *arg)
{
    struct fed_uam *u = object;

    (void)event;
    (void)arg;
    return enter(u, u->state,
                 u->state == FED_UAM_LAUNCHING ? FED_UAM_DO_REPORT_ATTEMPT : FED_UAM_DO_REPORT);
}

/* A token that is stored outlives the try. */
static int on_pause_over(void *object, int event, void *arg)
{
    struct fed_uam *u = object;
    const struct fed_uam_arg *a = arg;

    (void)event;
    if (u->has_token)
        return enter(u, FED_UAM_REGISTERING, FED_UAM_DO_REGISTER);
    return submit(u, a->now_ms);
}

static int on_saved(void *object, int event, void *arg)
{
    struct fed_uam *u = object;

    (void)event;
    (void)arg;
    u->has_token = true;
    u->tries_left = u->settings.tries;
    return enter(u, FED_UAM_REGISTERING, FED_UAM_DO_REGISTER);
}

static int on_registered(void *object, int event, void *arg)
{
    struct fed_uam *u = object;

    (void)event;
    (void)arg;
    u->tries_left = u->settings.tries;
    *u->why = '\0';
    if (u->finish_next)
        return enter(u, FED_UAM_FINISHING, FED_UAM_DO_FINISH);
    return enter(u, FED_UAM_RUNNING, FED_UAM_DO_HEARTBEAT);
}

static int on_failed(void *object, int event, void *arg)
{
    const struct fed_uam_arg *a = arg;

    (void)event;
    return retry(object, a->why);
}

static int on_refused(void *object, int event, void *arg)
{
    const struct fed_uam_arg *a = arg;

    (void)event;
    return fail(object, a->why);
}

/* ------------------------------------------------------------------ life and end */

static int on_resync(void *object, int event, void *arg)
{
    struct fed_uam *u = object;

    (void)event;
    (void)arg;
    u->finish_next = u->state == FED_UAM_FINISHING;
    u->tries_left = u->settings.tries;
    return enter(u, FED_UAM_REGISTERING, FED_UAM_DO_REGISTER);
}

static int on_lost(void *object, int event, void *arg)
{
    struct fed_uam *u = object;

    (void)event;
    (void)arg;
    u->submitted = u->has_token = false;
    return fail(u, "the sub-cluster does not know the attempt any more");
}

/* Unknown to the sub-cluster when it is to end: it has ended. */
static int on_gone(void *object, int event, void *arg)
{
    (void)event;
    (void)arg;
    return finished(object);
}

static int on_finish(void *object, int event, void *arg)
{
    struct fed_uam *u = object;

    (void)event;
    (void)arg;
    u->tries_left = u->settings.tries;
    return enter(u, FED_UAM_FINISHING, FED_UAM_DO_FINISH);
}

static int on_kill(void *object, int event, void *arg)
{
    (void)event;
    (void)arg;
    return kill_it(object);
}

static int on_unregistered(void *object, int event, void *arg)
{
    struct fed_uam *u = object;
    const struct fed_uam_arg *a = arg;

    (void)event;
    return a->done ? finished(u) : wait_in(u, FED_UAM_FINISHING, u->settings.poll_ms);
}

static int on_finish_again(void *object, int event, void *arg)
{
    (void)event;
    (void)arg;
    return enter(object, FED_UAM_FINISHING, FED_UAM_DO_FINISH);
}

/* A master that cannot finish is killed: it must not stay registered. */
static int on_finish_failed(void *object, int event, void *arg)
{
    struct fed_uam *u = object;
    const struct fed_uam_arg *a = arg;

    sv_escape(u->why, sizeof(u->why), a->why ? a->why : "");
    if (event == FED_UAM_CALL_REFUSED || --u->tries_left <= 0)
        return kill_it(u);
    return wait_in(u, FED_UAM_FINISHING, u->settings.retry_ms);
}

static int on_kill_again(void *object, int event, void *arg)
{
    (void)event;
    (void)arg;
    return enter(object, FED_UAM_KILLING, FED_UAM_DO_KILL);
}

static int on_kill_failed(void *object, int event, void *arg)
{
    struct fed_uam *u = object;
    const struct fed_uam_arg *a = arg;

    if (event == FED_UAM_CALL_REFUSED || --u->tries_left <= 0)
        return fail(u, a->why);
    return wait_in(u, FED_UAM_KILLING, u->settings.retry_ms);
}

/* ------------------------------------------------------------------ table */

#define S(x) FED_UAM_##x
/* Calls of the launch: failures are retried, an end of the application ends them. */
#define LAUNCH                                                                                     \
    [S(CALL_FAILED)] = { on_failed, S(PAUSED), { S(FAILED) } },                                    \
    [S(CALL_REFUSED)] = { on_refused, S(FAILED) }, [S(FINISH)] = { on_kill, S(KILLING) },          \
    [S(KILL)] = { on_kill, S(KILLING) }

static const struct sv_fsm_cell cells[FED_UAM_STATES][FED_UAM_EVENTS] = {
    [S(NEW)] = { [S(START)] = { on_start, S(SUBMITTING) },
                 [S(ATTACH)] = { on_attach, S(REGISTERING) },
                 [S(FINISH)] = { on_kill, S(FINISHED) },
                 [S(KILL)] = { on_kill, S(FINISHED) } },
    [S(SUBMITTING)] = { LAUNCH, [S(SUBMITTED)] = { on_submitted, S(ACCEPTING) } },
    [S(ACCEPTING)] = { LAUNCH,
                       [S(REPORT)] = { on_accepting,
                                       S(LAUNCHING),
                                       { S(ACCEPTING), S(PAUSED), S(FAILED) } },
                       [S(TIMER)] = { on_timer, S(ACCEPTING) } },
    [S(LAUNCHING)] = { LAUNCH,
                       [S(ATTEMPT)] = { on_launching,
                                        S(FETCHING),
                                        { S(LAUNCHING), S(PAUSED), S(FAILED) } },
                       [S(TIMER)] = { on_timer, S(LAUNCHING) } },
    [S(FETCHING)] = { LAUNCH,
                      [S(REPORT)] = { on_fetching,
                                      S(SAVING),
                                      { S(FETCHING), S(PAUSED), S(FAILED) } },
                      [S(TIMER)] = { on_timer, S(FETCHING) } },
    [S(SAVING)] = { LAUNCH, [S(SAVED)] = { on_saved, S(REGISTERING) } },
    [S(REGISTERING)] = { LAUNCH, [S(REGISTERED)] = { on_registered, S(RUNNING), { S(FINISHING) } },
                         [S(LOST)] = { on_lost, S(FAILED) } },
    [S(PAUSED)] = { [S(TIMER)] = { on_pause_over, S(SUBMITTING), { S(REGISTERING) } },
                    [S(FINISH)] = { on_kill, S(KILLING) },
                    [S(KILL)] = { on_kill, S(KILLING) } },
    [S(RUNNING)] = { [S(RESYNC)] = { on_resync, S(REGISTERING) },
                     [S(LOST)] = { on_lost, S(FAILED) },
                     [S(FINISH)] = { on_finish, S(FINISHING) },
                     [S(KILL)] = { on_kill, S(KILLING) } },
    [S(FINISHING)] = { [S(UNREGISTERED)] = { on_unregistered, S(FINISHED), { S(FINISHING) } },
                       [S(TIMER)] = { on_finish_again, S(FINISHING) },
                       [S(RESYNC)] = { on_resync, S(REGISTERING) },
                       [S(LOST)] = { on_gone, S(FINISHED) },
                       [S(CALL_FAILED)] = { on_finish_failed, S(FINISHING), { S(KILLING) } },
                       [S(CALL_REFUSED)] = { on_finish_failed, S(KILLING) },
                       [S(KILL)] = { on_kill, S(KILLING) } },
    [S(KILLING)] = { [S(KILLED)] = { on_gone, S(FINISHED) },
                     [S(LOST)] = { on_gone, S(FINISHED) },
                     [S(TIMER)] = { on_kill_again, S(KILLING) },
                     [S(CALL_FAILED)] = { on_kill_failed, S(KILLING), { S(FAILED) } },
                     [S(CALL_REFUSED)] = { on_kill_failed, S(FAILED) },
                     [S(KILL)] = { NULL, S(KILLING) },
                     [S(FINISH)] = { NULL, S(KILLING) } },
    [S(FINISHED)] = { [S(START)] = { on_start, S(SUBMITTING) },
                      [S(KILL)] = { NULL, S(FINISHED) },
                      [S(FINISH)] = { NULL, S(FINISHED) } },
    [S(FAILED)] = { [S(START)] = { on_start, S(SUBMITTING) },
                    [S(ATTACH)] = { on_attach, S(REGISTERING) },
                    [S(FINISH)] = { on_kill, S(KILLING), { S(FINISHED) } },
                    [S(KILL)] = { on_kill, S(KILLING), { S(FINISHED) } } },
};

const struct sv_fsm fed_uam_fsm = { "unmanaged_master", FED_UAM_STATES, FED_UAM_EVENTS,
                                    state_names,        event_names,    cells[0] };

void fed_uam_init(struct fed_uam *u, const struct fed_uam_settings *s)
{
    *u = (struct fed_uam){ .settings = *s, .state = FED_UAM_NEW };
}

int fed_uam_handle(struct fed_uam *u, enum fed_uam_event event, const struct fed_uam_arg *arg)
{
    enum fed_uam_do before = u->todo;
    int r;

    u->todo = FED_UAM_DO_NOTHING;
    r = sv_fsm_run(&fed_uam_fsm, &u->state, (int)event, u, (void *)(uintptr_t)arg);
    if (r == 0)
        return (int)u->todo;
    u->todo = before;
    return r;
}
