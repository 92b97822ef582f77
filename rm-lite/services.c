/* Starts the servers on their ports. See services.h. */
#include "rm-lite/services.h"

#include "common/web/http-events.h"
#include "rm-lite/admin/admin-service.h"
#include "rm-lite/am/am-session.h"
#include "rm-lite/am/application-master-service.h"
#include "rm-lite/client/client-rm-service.h"
#include "rm-lite/nodes/node-address.h"
#include "rm-lite/nodes/node-auth.h"
#include "rm-lite/nodes/resource-tracker-service.h"
#include "rm-lite/nodes/topology.h"
#include "rm-lite/secure.h"
#include "rm-lite/security/delegation.h"
#include "rm-lite/security/proxy-users.h"
#include "rm-lite/security/service-access.h"
#include "rm-lite/web/pages/live.h"
#include "rm-lite/web/proxy/proxy.h"
#include "rm-lite/web/proxy/services-relay.h"
#include "rm-lite/web/rest/web-rest.h"
#include "rm-lite/web/web-server.h"
#include "wire/ipc/ipc-server.h"

/* Nodes and operators before ApplicationMasters before clients: heartbeats must not starve behind a
 * flood of client requests. */
#define PRIORITY_NODES SD_EVENT_PRIORITY_NORMAL
#define PRIORITY_MASTERS (SD_EVENT_PRIORITY_NORMAL + 10)
#define PRIORITY_CLIENTS (SD_EVENT_PRIORITY_NORMAL + 20)
/* Batches wakeups: none of the heartbeats of thousands of nodes, each once a second, is urgent. */
#define GATHER_US 500

struct service {
    const char *name;
    const struct rm_address *address;
    bool simple;                         /* without Kerberos */
    const struct ipc_acceptor *kerberos; /* NULL: takes no tickets */
    ipc_token_verifier verify;
    const struct ipc_protocol *const *protocols;
    struct ipc_server **server;
    uint16_t *port;
    int64_t priority, gather_us;
};

int rm_services_start(struct rm *rm, struct sv_error *err)
{
    const char *bind = rm->conf.bind_host && *rm->conf.bind_host ? rm->conf.bind_host : NULL;
    const struct ipc_acceptor *kerberos = rm_secure_acceptor(rm);
    const bool simple = !kerberos;
    const struct service all[] = {
        { "ResourceTracker", &rm->conf.tracker, simple && rm_node_auth_simple(rm), kerberos,
          rm_node_auth_verifier(rm), rm_tracker_protocols, &rm->tracker_server, &rm->tracker_port,
          PRIORITY_NODES, GATHER_US },
        { "ApplicationMasterProtocol", &rm->conf.scheduler, false, NULL, rm_am_verify_token,
          rm_am_protocols, &rm->am_server, &rm->am_port, PRIORITY_MASTERS, 0 },
        { "ApplicationClientProtocol", &rm->conf.client, simple, kerberos, rm_delegation_verify,
          rm_client_protocols, &rm->client_server, &rm->client_port, PRIORITY_CLIENTS, 0 },
        { "ResourceManagerAdministrationProtocol", &rm->conf.admin, simple, kerberos, NULL,
          rm_admin_protocols, &rm->admin_server, &rm->admin_port, PRIORITY_NODES, 0 },
    };
    int r;

    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++) {
        struct ipc_server_config cfg = {
            .host = bind ? bind : all[i].address->host,
            .port = all[i].address->port,
            .allow_simple = all[i].simple,
            .verify_token = all[i].verify,
            .kerberos = all[i].kerberos,
            /* A node acts for itself alone. */
            .impersonation =
                kerberos && all[i].server == &rm->tracker_server ? NULL : rm_proxy_users_check,
            .authorization = rm_service_access(rm),
            .protocols = all[i].protocols,
            .userdata = rm,
            .qop_mask = rm->conf.ipc.qop_mask,
            .limits = rm->conf.ipc.limits,
            .priority = all[i].priority,
            .gather_us = all[i].gather_us,
        };

        r = ipc_server_new(rm->event, &cfg, all[i].server, err);
        if (r < 0)
            return sv_error_wrap(err, "%s", all[i].name);
        *all[i].port = ipc_server_port(*all[i].server);
        sv_log_info("%s on %s:%u", all[i].name, cfg.host, *all[i].port);
    }
    r = rm_proxy_new(rm->event, rm->conf.proxy_timeout ? rm->conf.proxy_timeout_ms : 0, &rm->proxy);
    if (r < 0)
        return sv_error_errno(err, r, "web proxy");
    if (rm->conf.services)
        r = rm_relay_new(rm->event, rm->conf.services_socket, &rm->relay);
    if (r < 0)
        return sv_error_errno(err, r, "services API");
    r = rm_web_server_open(rm, rm_secure_client(rm), &rm->web_server, err);
    if (r < 0)
        return sv_error_wrap(err, "web");
    r = rm_live_new(rm, &rm->live);
    return r < 0 ? sv_error_errno(err, r, "events of pages") : 0;
}

void rm_services_stop(struct rm *rm)
{
    rm->live = sv_http_events_free(rm->live);
    rm->web_server = rm_web_server_close(rm->web_server);
    rm->proxy = rm_proxy_free(rm->proxy);
    rm->relay = rm_relay_free(rm->relay);
    rm_node_address_stop(rm);
    rm_topology_free(rm);
    rm->client_server = ipc_server_free(rm->client_server);
    rm->am_server = ipc_server_free(rm->am_server);
    rm->tracker_server = ipc_server_free(rm->tracker_server);
    rm->admin_server = ipc_server_free(rm->admin_server);
    rm_proxy_users_stop(rm);
}

void rm_services_print(FILE *out)
{
    const struct ipc_protocol *const *const all[] = { rm_tracker_protocols, rm_am_protocols,
                                                      rm_client_protocols, rm_admin_protocols };

    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        for (const struct ipc_protocol *const *p = all[i]; *p; p++)
            ipc_print_methods(out, *p);
    rm_rest_print(out);
}
