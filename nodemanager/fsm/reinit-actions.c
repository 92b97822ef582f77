/* Actions of a container that runs or is re-initialized: what was localized meanwhile, and the
 * change to another launch context (ContainerImpl: ReInitializeContainerTransition and its
 * neighbours). See container-actions.h. */
#include "nodemanager/fsm/container-actions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container-reinit.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/container-cleanup.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/launch/live-links.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/store/state-store.h"

static void audit(const struct nm_container *c, const char *operation)
{
    nm_audit_success(c->app ? c->app->user : "", NULL, operation, "ContainerImpl", c);
}

void nm_reinit_started(struct nm_container *c)
{
    audit(c, "Container ReInitialization - Started");
}

void nm_reinit_finished(struct nm_container *c)
{
    audit(c, "Container ReInitialization - Finished");
    nm_reinit_end(c);
}

/* ---- the end of the running process -----------------------------------------------------------*/

struct kill_record {
    struct nm_context *ctx;
    char text[YARN_ID_TEXT_MAX];
};

/* Without the record the next daemon would take the end for a failure, which this one knows. */
static void kill_recorded(struct nm_container *c)
{
    c->reinit.kills = true;
    nm_cleanup_container(c);
}

static void on_kill_recorded(void *userdata, int result)
{
    struct kill_record *k = userdata;
    struct nm_container *c = nm_container_find(k->ctx, k->text);

    (void)result; /* the store logs a failure, ignoring */
    if (c && c->state == NM_CONTAINER_REINITIALIZING_AWAITING_KILL)
        kill_recorded(c);
    free(k);
}

/* Everything is there: the process is ended, and another one follows. */
static int end_process(struct nm_container *c)
{
    struct kill_record *k = malloc(sizeof(*k));
    int r = k ? nm_store_container_reinit_kills(c->ctx->store, c->text) : -1;

    if (r >= 0) {
        k->ctx = c->ctx;
        memcpy(k->text, c->text, sizeof(k->text));
        r = nm_store_after_commit(c->ctx->store, on_kill_recorded, k);
    }
    if (r < 0) {
        free(k);
        kill_recorded(c);
    }
    return NM_CONTAINER_REINITIALIZING_AWAITING_KILL;
}

/* ---- begin ------------------------------------------------------------------------------------*/

static int abort_reinit(struct nm_container *c, const struct nm_container_services *services,
                        const char *before, const char *why)
{
    char text[2048];
    int r;

    (void)snprintf(text, sizeof(text), "%s%s", before, why);
    nm_container_add_diagnostics_line(c, text);
    sv_log(SV_LOG_ERR, c->text, "%s: %s", c->text, text);
    nm_localization_forget(services->localization, c, NM_RESOURCES_NEXT);
    nm_reinit_end(c);
    r = nm_store_container_reinit(c->ctx->store, c->text, NM_REINIT_NONE, NULL, 0);
    if (r < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cannot record the end of its re-initialization: %s",
               c->text, strerror(-r));
    return NM_CONTAINER_RUNNING;
}

/* The resources of the next launch context are requested; after a restart they may have been
 * already. */
static int request_next(struct nm_container *c, const struct nm_container_services *services,
                        struct sv_error *err)
{
    int r = nm_reinit_load(c, false);

    if (r < 0)
        return sv_error_errno(err, r, "launch context in the state store");
    if (nm_resources_of(c, NM_RESOURCES_NEXT))
        return 0;
    r = nm_localization_next(services->localization, c, NM_RESOURCES_NEXT, c->reinit.clc, err);
    return r < 0 ? r : 0;
}

int nm_act_reinit(void *o, int event, void *arg)
{
    static const char *const words[] = {
        [NM_REINIT_NONE] = "",
        [NM_REINIT_UPGRADE] = "Container will be Re-initialized.\n",
        [NM_REINIT_COMMITTED] = "Container will be Re-initialized.\n",
        [NM_REINIT_RESTART] = "Container will be Restarted.\n",
        [NM_REINIT_ROLLBACK] = "Container upgrade will be Rolled-back.\n",
    };
    const struct nm_container_step *s = arg;
    const struct nm_localizing *z;
    struct nm_container *c = o;
    struct sv_error err = { 0 };

    (void)event;
    if (c->reinit.kind == NM_REINIT_NONE) /* a lost record */
        return NM_CONTAINER_RUNNING;
    nm_container_add_diagnostics(c, words[c->reinit.kind]);
    nm_reinit_started(c);
    if (c->launch.exit.replaced) /* the last daemon ended the process, whose exit comes next */
        return NM_CONTAINER_REINITIALIZING_AWAITING_KILL;
    if (c->reinit.kind == NM_REINIT_RESTART || c->reinit.kind == NM_REINIT_ROLLBACK)
        return end_process(c);
    if (request_next(c, s->services, &err) < 0)
        return abort_reinit(c, s->services, "Error re-initializing due to ", err.text);
    z = nm_resources_of(c, NM_RESOURCES_NEXT);
    if (z && z->failed)
        return abort_reinit(c, s->services, "Container aborting re-initialization.. ", z->failed);
    return z && !z->ready ? NM_CONTAINER_REINITIALIZING : end_process(c);
}

void nm_reinit_recover(struct nm_container *c, const struct nm_container_services *services)
{
    struct sv_error err = { 0 };
    int r = 0;

    if (c->reinit.can_rollback) {
        r = nm_reinit_load(c, true);
        if (r >= 0)
            r = nm_localization_next(services->localization, c, NM_RESOURCES_PREVIOUS,
                                     c->reinit.clc, &err);
        nm_reinit_drop(c);
    }
    if (r >= 0 && (c->reinit.kind == NM_REINIT_UPGRADE || c->reinit.kind == NM_REINIT_COMMITTED))
        r = request_next(c, services, &err);
    if (r < 0)
        sv_log(SV_LOG_WARNING, c->text, "%s: resources of another launch context: %s", c->text,
               err.code ? err.text : strerror(-r));
}

/* ---- resources localized meanwhile ------------------------------------------------------------*/

/* The request was read again for its credentials. */
static void drop_request(struct nm_container *c)
{
    if (!nm_resources_pending(c))
        nm_container_drop_request(c);
}

int nm_act_localized_live(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;
    const struct nm_localizing *z = nm_resources_find(c, (unsigned)s->code);

    (void)event;
    if (z && z->role == NM_RESOURCES_NEXT && c->state == NM_CONTAINER_REINITIALIZING)
        return end_process(c);
    nm_live_links(c);
    drop_request(c);
    return c->state;
}

int nm_act_failed_live(void *o, int event, void *arg)
{
    const struct nm_container_step *s = arg;
    struct nm_container *c = o;
    const struct nm_localizing *z = nm_resources_find(c, (unsigned)s->code);
    const char *why = s->text ? s->text : "localization failed";

    (void)event;
    if (z && z->role == NM_RESOURCES_NEXT && c->state == NM_CONTAINER_REINITIALIZING)
        return abort_reinit(c, s->services, "Container aborting re-initialization.. ", why);
    nm_container_add_diagnostics_line(c, why);
    drop_request(c);
    return c->state;
}

/* ---- the next process -------------------------------------------------------------------------*/

int nm_reinit_launch(struct nm_container *c, const struct nm_container_services *services)
{
    int kind = c->launch.exit.replaced;

    c->launch.exit.again = false;
    c->launch.exit.replaced = NM_REINIT_NONE;
    c->reinit.kills = false;
    c->reinit.kind = kind; /* until it runs */
    if (kind != NM_REINIT_RESTART)
        nm_localization_replace(services->localization, c,
                                kind == NM_REINIT_ROLLBACK ? NM_RESOURCES_PREVIOUS
                                                           : NM_RESOURCES_NEXT,
                                kind == NM_REINIT_UPGRADE);
    if (nm_reinit_renew(c, kind) < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: its launch context cannot be read", c->text);
    nm_launch_start(services->launcher, c);
    return NM_CONTAINER_SCHEDULED;
}
