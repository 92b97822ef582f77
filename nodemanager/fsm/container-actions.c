/* See container-actions.h. */
#include "nodemanager/fsm/container-actions.h"

#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container-reinit.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/container-cleanup.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/launch/live-links.h"
#include "nodemanager/launch/relaunch.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/container-scheduler.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/store/state-store.h"

/* Releases the cache references and requests deletion of the work directory; the event follows when
 * both have begun. */
static void clean_up(struct nm_container *c, const struct nm_container_services *services)
{
    nm_launch_release(c);
    nm_localization_release(services->localization, c);
    nm_deletion_container(services->deletion, c);
    nm_scheduler_leave(services->scheduler, c);
    nm_container_post(c, NM_CONTAINER_EV_RESOURCES_CLEANEDUP, NULL);
}

/* It is launched now or later; one that may have been launched by the last daemon is adopted. */
static void schedule(struct nm_container *c, const struct nm_container_services *services)
{
    if (c->recovering)
        nm_launch_start(services->launcher, c);
    else
        nm_scheduler_add(services->scheduler, c, false);
}

/* The first kill determines the exit code. */
static int kill_code(struct nm_container *c, const struct nm_container_step *s)
{
    if (c->kill_code == YARN_EXIT_INVALID)
        c->kill_code = s->code;
    return c->kill_code;
}

int nm_act_diagnostics(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    nm_container_add_diagnostics_line(c, ((const struct nm_container_step *)arg)->text);
    return c->state;
}

int nm_act_ignore(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    return ((struct nm_container *)o)->state;
}

static void audit_end(const struct nm_container *c)
{
    const char *user = c->app ? c->app->user : "";
    struct nm_counters *sums = &c->ctx->counters;
    bool good = c->exit_code == YARN_EXIT_SUCCESS;

    sums->completed += good;
    sums->killed += !good && c->kill_requested;
    sums->failed += !good && !c->kill_requested;
    sums->ended[sv_exit_end(c->exit_code, NULL)]++;
    if (good)
        nm_audit_success(user, NULL, "Container Finished - Succeeded", "ContainerImpl", c);
    else if (c->kill_requested)
        nm_audit_success(user, NULL, "Container Finished - Killed", "ContainerImpl", c);
    else
        nm_audit_failure(user, NULL, "Container Finished - Failed", "ContainerImpl",
                         "Container failed with state: EXITED_WITH_FAILURE", c);
}

/* The end of every container: committed, then reported to the application and, by an immediate
 * heartbeat, to the ResourceManager. */
int nm_act_done(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;
    int r;

    (void)event;
    if (!c->finish_ms)
        c->finish_ms = sv_wall_ms();
    /* Also of a container whose exit the last daemon has recorded: it died before this. */
    r = nm_store_container_done(c->ctx->store, c->text, c->exit_code, c->finish_ms, c->diagnostics);
    if (r < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cannot record end in state store: %s", c->text,
               strerror(-r));
    if (c->ctx->ended)
        c->ctx->ended(c, c->ctx->changed_userdata);
    nm_assign_release(s->services->assignments,
                      c); /* a container that was never launched still has it */
    nm_scheduler_leave(s->services->scheduler, c);
    nm_container_drop_request(c);
    nm_reinit_drop(c);
    nm_aux_container_stop(s->services->aux, c);
    nm_aggregation_container_done(s->services->aggregation, c);
    audit_end(c);
    if (c->app)
        nm_app_post(c->app, NM_APP_EV_CONTAINER_FINISHED, c->text);
    if (s->services->updater)
        nm_updater_container_done(s->services->updater, c);
    return NM_CONTAINER_DONE;
}

static int fail_localization(struct nm_container *c, const struct nm_container_step *s,
                             const char *why)
{
    nm_container_add_diagnostics_line(c, why);
    sv_log(SV_LOG_WARNING, c->text, "%s: localization failed: %s", c->text, why);
    clean_up(c, s->services);
    return NM_CONTAINER_LOCALIZATION_FAILED;
}

int nm_act_init(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;
    struct sv_error err = { 0 };
    int r;

    if (c->recovered == NM_RECOVERED_COMPLETED) { /* the last daemon may not have cleaned up */
        nm_deletion_container(s->services->deletion, c);
        return nm_act_done(c, event, arg);
    }
    if (c->recovered == NM_RECOVERED_REQUESTED && c->kill_requested && !c->recovering) {
        c->exit_code = c->kill_code;
        nm_container_add_diagnostics_line(c, "Container is killed before being launched.");
        return nm_act_done(c, event, arg);
    }
    if (c->app->init_error && !c->recovering)
        return fail_localization(c, s, c->app->init_error);
    nm_aux_container_init(s->services->aux, c);
    r = nm_localization_request(s->services->localization, c, &err);
    if (c->recovering)
        nm_reinit_recover(c, s->services);
    if (r < 0 && c->recovering) {
        nm_container_post(c, NM_CONTAINER_EV_RESOURCE_FAILED, err.text);
        return NM_CONTAINER_LOCALIZING;
    }
    if (r < 0)
        return fail_localization(c, s, err.text);
    if (r == 0)
        return NM_CONTAINER_LOCALIZING;
    schedule(c, s->services);
    return NM_CONTAINER_SCHEDULED;
}

int nm_act_localized(void *o, int event, void *arg)
{
    (void)event;
    schedule(o, ((const struct nm_container_step *)arg)->services);
    return NM_CONTAINER_SCHEDULED;
}

/* Adopts a container of the last daemon without localization: its files are there, though the cache
 * may have lost them since. Without a record of its start, its processes, if any, are ended. */
static int adopt_unlocalized(struct nm_container *c, const struct nm_container_step *s,
                             const char *why)
{
    sv_log(SV_LOG_WARNING, c->text, "%s: from before the restart, is adopted without: %s", c->text,
           why);
    nm_launch_start(s->services->launcher, c);
    if (c->recovered == NM_RECOVERED_LAUNCHED)
        return NM_CONTAINER_SCHEDULED;
    nm_container_add_diagnostics_line(c, why);
    nm_cleanup_container(c);
    return NM_CONTAINER_KILLING;
}

int nm_act_localization_failed(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    const char *why = s->text ? s->text : "localization failed";
    struct nm_container *c = o;

    (void)event;
    return c->recovering ? adopt_unlocalized(c, s, why) : fail_localization(c, s, why);
}

int nm_act_launched(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;

    if (!nm_resources_pending(c))
        nm_container_drop_request(c);                       /* the process has it */
    if (c->reinit.kind && c->recovered != NM_RECOVERED_NOT) /* where the last daemon left off */
        nm_container_post(c,
                          c->reinit.kind == NM_REINIT_ROLLBACK ? NM_CONTAINER_EV_ROLLBACK_REINIT
                                                               : NM_CONTAINER_EV_REINITIALIZE,
                          NULL);
    else if (c->reinit.kind)
        nm_reinit_finished(c);
    nm_live_links(c);
    nm_scheduler_launched(s->services->scheduler, c, event == NM_CONTAINER_EV_RECOVER_PAUSED);
    return event == NM_CONTAINER_EV_RECOVER_PAUSED ? NM_CONTAINER_PAUSED : NM_CONTAINER_RUNNING;
}

int nm_act_success(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    c->exit_code = YARN_EXIT_SUCCESS;
    clean_up(c, ((const struct nm_container_step *)arg)->services);
    return NM_CONTAINER_EXITED_WITH_SUCCESS;
}

int nm_act_failure(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;

    (void)event;
    c->exit_code = s->code;
    nm_container_add_diagnostics_line(c, s->text);
    clean_up(c, s->services);
    return NM_CONTAINER_EXITED_WITH_FAILURE;
}

/* A failure of the running process: another launch follows, or the end. */
int nm_act_exit_failure(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;

    (void)event;
    c->exit_code = s->code;
    if (c->retry.policy)
        nm_container_add_diagnostics(c, "Diagnostic message from attempt : \n");
    nm_container_add_diagnostics_line(c, s->text);
    if (c->launch.exit.replaced) {
        nm_container_add_diagnostics(c, "Container Re-init Auto Rolled-Back.\n");
        c->ctx->counters.rolled_back++;
        nm_reinit_started(c);
        return nm_reinit_launch(c, s->services);
    }
    if (!c->launch.exit.again) {
        clean_up(c, s->services);
        return NM_CONTAINER_EXITED_WITH_FAILURE;
    }
    c->launch.exit.again = false;
    sv_log(SV_LOG_INFO, c->text, "%s: failed with %d, is launched again in %d ms; retries left: %d",
           c->text, c->exit_code, (int)c->retry.interval_ms,
           c->retry.max == NM_RETRY_FOREVER ? NM_RETRY_FOREVER : (int)c->retry.remaining);
    nm_relaunch_after(c, c->retry.interval_ms);
    return NM_CONTAINER_RELAUNCHING;
}

int nm_act_reinit_killed(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    if (!c->launch.exit.again) /* no process of ours, or the record is lost */
        return nm_act_failure(o, event, arg);
    sv_log(SV_LOG_INFO, c->text, "%s: ended for its re-initialization, is launched again", c->text);
    return nm_reinit_launch(c, ((const struct nm_container_step *)arg)->services);
}

/* The signal did not come from this daemon. */
int nm_act_killed_externally(void *o, int event, void *arg)
{
    int next = nm_act_failure(o, event, arg);

    nm_container_add_diagnostics(o, "Killed by external signal\n");
    return next;
}

int nm_act_killed(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;

    (void)event;
    if (c->exit_code == YARN_EXIT_INVALID)
        c->exit_code = s->code;
    nm_container_add_diagnostics_line(c, s->text);
    clean_up(c, s->services);
    return NM_CONTAINER_CLEANEDUP_AFTER_KILL;
}

int nm_act_kill_new(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;
    int code = kill_code(c, s);

    nm_container_add_diagnostics_line(c, s->text);
    if (c->recovering) /* it may run already: the adoption, which INIT begins, ends it */
        return NM_CONTAINER_NEW;
    c->exit_code = code;
    nm_container_add_diagnostics(c, "Container is killed before being launched.\n");
    return nm_act_done(c, event, arg);
}

int nm_act_kill_before_running(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;

    (void)event;
    c->exit_code = kill_code(c, s);
    nm_container_add_diagnostics_line(c, s->text);
    if (c->recovering && !c->launch.exe && !c->launch.exit.event)
        nm_launch_start(s->services->launcher, c); /* it may already run: adopted, then ended */
    if (c->launch.exe || c->launch.exit.event) {
        /* The helper has not answered yet: the launch completes and is then ended; or the launch
         * has failed, and the event of the failure follows. */
        nm_scheduler_ending(s->services->scheduler, c);
        nm_cleanup_container(c);
    } else {
        nm_container_add_diagnostics(c, "Container is killed before being launched.\n");
        clean_up(c, s->services);
    }
    return NM_CONTAINER_KILLING;
}

int nm_act_kill(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;

    (void)event;
    c->exit_code = kill_code(c, s);
    nm_container_add_diagnostics_line(c, s->text);
    nm_scheduler_ending(s->services->scheduler, c);
    nm_cleanup_container(c);
    return NM_CONTAINER_KILLING;
}

static bool freeze(struct nm_container *c, bool frozen, const char *why)
{
    int r = nm_cleanup_freeze(c, frozen);

    if (r < 0) {
        sv_log(SV_LOG_ERR, c->text, "%s: cgroup.freeze: %s", c->text, strerror(-r));
        return false;
    }
    nm_container_add_diagnostics_line(c, why);
    nm_container_post(c, frozen ? NM_CONTAINER_EV_PAUSED : NM_CONTAINER_EV_RESUMED, NULL);
    return true;
}

int nm_act_pause(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    if (freeze(c, true, ((const struct nm_container_step *)arg)->text))
        return NM_CONTAINER_PAUSING;
    if (c->schedule.pausing) /* another one waits for its room */
        nm_container_kill(c, YARN_EXIT_PREEMPTED,
                          "Container preempted, as it could not be paused.");
    return NM_CONTAINER_RUNNING;
}

int nm_act_paused(void *o, int event, void *arg)
{
    (void)event;
    nm_scheduler_paused(((const struct nm_container_step *)arg)->services->scheduler, o);
    return NM_CONTAINER_PAUSED;
}

int nm_act_resume(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    if (freeze(c, false, ((const struct nm_container_step *)arg)->text))
        return NM_CONTAINER_RESUMING;
    if (c->schedule.resuming) /* nobody else would try again */
        nm_container_kill(c, YARN_EXIT_PREEMPTED,
                          "Container preempted, as it could not be resumed.");
    return NM_CONTAINER_PAUSED;
}

int nm_act_resumed(void *o, int event, void *arg)
{
    (void)event;
    nm_scheduler_resumed(((const struct nm_container_step *)arg)->services->scheduler, o);
    return NM_CONTAINER_RUNNING;
}
