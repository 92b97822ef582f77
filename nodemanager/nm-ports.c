/* See nm-ports.h. */
#include "nodemanager/nm-ports.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/listen-fds.h"
#include "common/log.h"
#include "common/str.h"
#include "common/web/http.h"
#include "gss/daemon.h"
#include "nodemanager/am/call-turns.h"
#include "nodemanager/amrmproxy/server.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/dbus/bus.h"
#include "nodemanager/exec/sessions.h"
#include "nodemanager/nm-parts.h"
#include "nodemanager/web/live.h"
#include "wire/ipc/ipc-conf.h"
#include "wire/ipc/ipc-server.h"

#define PORT_WAIT_MS 5000 /* for a port still held by children of the last run */

/* FileDescriptorName= of the socket units. */
static const char *const held_names[] = { "containermanager", NM_WEB_SOCKET, NULL };

/* Ports of the daemon, and of its auxiliary services, which have their names. */
int nm_ports_check(const struct nm *nm, struct sv_error *err)
{
    size_t n = 0, n_aux = sv_strv_len(nm->conf.aux_services);
    _cleanup_free_ const char **names = calloc(n_aux + SV_ARRAY_LEN(held_names), sizeof(*names));

    if (!names)
        return sv_error_errno(err, -ENOMEM, "sockets of systemd");
    for (size_t i = 0; held_names[i]; i++)
        names[n++] = held_names[i];
    for (size_t i = 0; i < n_aux; i++)
        names[n++] = nm->conf.aux_services[i];
    return sv_listen_fds_check_names(nm->held_ports, names, err);
}

static int verify_nm_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                           size_t *ret_len, char ret_user[256], const char **ret_class,
                           struct sv_error *err, void *userdata)
{
    return nm_secrets_verify_nm_token(id, id_len, ret_password, ret_len, ret_user, ret_class, err,
                                      ((const struct nm_am *)userdata)->ctx->secrets);
}

static int open_rpc(struct nm *nm, struct sv_error *err)
{
    static const struct ipc_protocol *const protocols[] = { &nm_container_management, NULL };
    _cleanup_close_ int held = -1;
    struct ipc_server_settings settings;
    int r = ipc_settings_read(nm->conf.conf, &settings, err);

    if (r >= 0)
        r = sv_listen_fds_take(nm->held_ports, held_names[0], nm->conf.bind_host, nm->conf.port,
                               "yarn.nodemanager.address and bind-host are", &held, err);
    if (r < 0)
        return r;
    r = nm_call_turns_new(nm->event, &nm->am.turns);
    if (r < 0)
        return sv_error_errno(err, r, "turns of calls");
    r = ipc_server_new(nm->event,
                       &(struct ipc_server_config){
                           .host = nm->conf.bind_host,
                           .port = nm->conf.port,
                           .listen_fd = &held,
                           .verify_token = verify_nm_token,
                           .authorization = nm->conf.policy ? nm_cm_authorize_peer : NULL,
                           .protocols = protocols,
                           .userdata = &nm->am,
                           .qop_mask = settings.qop_mask,
                           .limits = settings.limits,
                       },
                       &nm->rpc, err);
    if (r < 0)
        return sv_error_wrap(err, "yarn.nodemanager.address");
    nm->ctx.node_id.port = ipc_server_port(nm->rpc);
    yarn_node_id_text(&nm->ctx.node_id, nm->ctx.node_id_text);
    nm_secrets_set_node(nm->ctx.secrets, &nm->ctx.node_id);
    sv_log_info("ContainerManager started at %s", nm->ctx.node_id_text);
    return 0;
}

static int open_web(struct nm *nm, struct sv_error *err)
{
    struct sgss_client *kerberos = nm->ctx.kerberos ? sgss_daemon_client(nm->ctx.kerberos) : NULL;
    int r = nm_web_server_open(nm->event, &nm->conf, nm->held_ports, kerberos, &nm->web,
                               &nm->server, err);

    if (r < 0)
        return sv_error_wrap(err, "yarn.nodemanager.webapp.%s",
                             nm->conf.web.https ? "https.address" : "address");
    nm->web.rpc = nm->rpc;
    nm->web.amrm = nm->amrm;
    nm->web.amrm_rpc = nm->amrm_server ? nm_amrm_server_rpc(nm->amrm_server) : NULL;
    nm->ctx.http_port = sv_http_port(nm->server.port.http);
    r = nm_live_new(nm->event, &nm->web, &nm->web.live);
    if (r >= 0)
        r = nm_sessions_new(nm->event, &nm->ctx, &nm->web.sessions);
    return r < 0 ? sv_error_errno(err, r, "web: live figures, sessions") : 0;
}

static int open_amrmproxy(struct nm *nm, struct sv_error *err)
{
    if (!nm->amrm)
        return 0;
    return nm_amrm_server_new(nm->event, &nm->conf, nm->amrm, NULL, &nm->amrm_server, err);
}

/* A daemon that was killed while it started a helper leaves a child that has not completed its exec
 * and holds the listening sockets until then. Retries: the loop does not run yet, so no answer is
 * delayed. */
static int open_port(struct nm *nm, int (*open)(struct nm *nm, struct sv_error *err),
                     struct sv_error *err)
{
    struct sv_error own = { 0 };
    int64_t end = sv_now_ms() + PORT_WAIT_MS;
    bool logged = false;
    int r;

    while ((r = open(nm, &own)) == -EADDRINUSE && sv_now_ms() < end) {
        if (!logged)
            sv_log_warning("%s; waiting for it to become free", own.text);
        logged = true;
        (void)poll(NULL, 0, 20);
    }
    if (r < 0 && err)
        *err = own;
    return r;
}

int nm_ports_open(struct nm *nm, struct sv_error *err)
{
    int r = open_port(nm, open_rpc, err);

    if (r >= 0)
        r = open_port(nm, open_amrmproxy, err);
    return r < 0 ? r : open_port(nm, open_web, err);
}

static void on_changed(void *userdata)
{
    nm_bus_changed(((struct nm *)userdata)->bus);
}

static void on_ended(const struct nm_container *c, void *userdata)
{
    nm_bus_ended(((struct nm *)userdata)->bus, c);
}

int nm_ports_open_bus(struct nm *nm, struct sv_error *err)
{
    const struct nm_bus_view view = { &nm->ctx, nm->updater, nm->web.sessions };
    int r = nm_bus_new(&view, nm->conf.dbus, nm->groups, &nm->bus, err);

    nm->ctx.changed = on_changed;
    nm->ctx.ended = on_ended;
    nm->ctx.changed_userdata = nm;
    return r;
}
