/* See node-status-updater.h. One request is open at a time; events meanwhile go into the next one,
 * which then follows immediately. */
#include "nodemanager/rm/node-status-updater.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/recently-stopped.h"
#include "nodemanager/rm/heartbeat.h"
#include "nodemanager/rm/registration.h"
#include "nodemanager/rm/rm-session.h"
#include "nodemanager/services/finished-containers.h"
#include "wire/ipc/methods.h"

#define UNREGISTER_MS 3000
#define DRAIN_POLL_MS 50

void nm_updater_container_done(struct nm_updater *u, struct nm_container *c)
{
    nm_stopped_add(u->ctx->stopped, c->text);
    nm_finished_add(u->config.finished, c);
    u->again = true;
    if (u->registered && !u->call && !u->answer.m && !u->away_since_ms)
        nm_rm_schedule(u, 0);
}

void nm_updater_app_finished(struct nm_updater *u, const struct nm_app *a)
{
    struct nm_container *c, *tmp;

    HASH_ITER (hh, u->ctx->containers, c, tmp)
        if (c->app == a && nm_container_is_done(c) && c->report.delivered_ms &&
            !c->report.in_flight)
            nm_rm_forget_container(c);
}

/* True while the registration waits for the end of containers killed by a RESYNC. */
static bool is_draining(struct nm_updater *u)
{
    unsigned alive = 0;

    if (!u->drain_until_ms)
        return false;
    for (struct nm_container *c = u->ctx->containers; c; c = c->hh.next)
        alive += !nm_container_is_done(c);
    if (alive && sv_now_ms() < u->drain_until_ms)
        return true;
    if (alive)
        sv_log_warning("registering again: %u containers have not ended in time", alive);
    u->drain_until_ms = 0;
    return false;
}

static void send_next(struct nm_updater *u)
{
    if (!u->registered && is_draining(u)) {
        nm_rm_schedule(u, DRAIN_POLL_MS);
        return;
    }
    if (u->registered && !u->changed)
        nm_rm_send_heartbeat(u);
    else
        nm_rm_send_register(u);
}

int nm_updater_new(const struct nm_updater_config *config, struct nm_updater **ret,
                   struct sv_error *err)
{
    struct nm_updater *u = calloc(1, sizeof(*u));
    int r;

    if (!u)
        return sv_error_errno(err, -ENOMEM, "node status updater");
    u->config = *config;
    u->ctx = config->ctx;
    u->send = send_next;
    u->interval_ms = 1000;
    r = nm_rm_session_open(u, err);
    if (r < 0) {
        nm_updater_free(u);
        return r;
    }
    *ret = u;
    return 0;
}

struct nm_updater *nm_updater_free(struct nm_updater *u)
{
    if (!u)
        return NULL;
    u->ended = true;
    nm_rm_session_close(u);
    free(u);
    return NULL;
}

void nm_updater_start(struct nm_updater *u)
{
    if (nm_rm_login_missing(u))
        nm_rm_schedule(u, NM_RM_LOOK_MS);
    else
        nm_rm_send_register(u);
}

/* A request that the proxy goes on repeating is begun anew: the time before the ticket does not
 * count against the ResourceManager. */
void nm_updater_login_changed(struct nm_updater *u)
{
    if (u->ended || !nm_rm_login_came(u))
        return;
    u->refusals = 0;
    if (u->call)
        (void)ipc_proxy_cancel(u->rm, u->call); /* it may just have been answered, ignoring */
    if (!u->call && !u->answer.m)
        nm_rm_schedule(u, 0);
}

static void on_unregistered(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_updater *u = userdata;

    u->call = 0;
    if (r->status < 0)
        sv_log_warning("Unregistration of the Node %s failed: %s", u->ctx->node_id_text, err->text);
    else
        sv_log_info("Successfully Unregistered the Node %s with ResourceManager.",
                    u->ctx->node_id_text);
    if (u->unregistered)
        u->unregistered(u->unregistered_data);
    u->unregistered = NULL;
}

void nm_updater_unregister(struct nm_updater *u, void (*done)(void *userdata), void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UnRegisterNodeManagerRequestProto m;

    hadoop__yarn__un_register_node_manager_request_proto__init(&m);
    u->unregistered = done;
    u->unregistered_data = userdata;
    if (a && u->registered && !u->ended) {
        u->ended = true;
        if (u->call)
            (void)ipc_proxy_cancel(u->rm, u->call); /* it may just have been answered, ignoring */
        m.node_id = yarn_node_id_to(a, &u->ctx->node_id);
        if (m.node_id &&
            ipc_proxy_call(u->rm, "unRegisterNodeManager", &m.base,
                           &hadoop__yarn__un_register_node_manager_response_proto__descriptor,
                           UNREGISTER_MS, on_unregistered, u, &u->call) >= 0) {
            nm_rm_schedule(u, UNREGISTER_MS);
            return;
        }
    }
    u->ended = true;
    u->unregistered = NULL;
    done(userdata);
}

void nm_updater_register_again(struct nm_updater *u)
{
    u->changed = true;
    if (u->registered && !u->call && !u->answer.m && !u->away_since_ms)
        nm_rm_schedule(u, 0);
}

bool nm_updater_registered(const struct nm_updater *u)
{
    return u->registered;
}

bool nm_updater_accepts(const struct nm_updater *u, const struct yarn_container_token *t)
{
    return t->rm_identifier == u->rm_identifier ||
           (u->rm_takes_earlier && t->container_type != NM_APPLICATION_MASTER);
}

const char *nm_updater_rm_address(const struct nm_updater *u, char *buf, size_t size)
{
    return ipc_proxy_server_text(ipc_proxy_current(u->rm), buf, size);
}

int64_t nm_updater_last_heartbeat_ms(const struct nm_updater *u)
{
    return u->heartbeat_wall_ms;
}
