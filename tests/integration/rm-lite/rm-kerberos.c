/* A client of selvedge-rm with Kerberos, for tests/integration/rm-lite/test-kerberos-rm:
 *
 *   rm-kerberos HELPER KRB5-CONF KEYTAB PRINCIPAL SERVER-PRINCIPAL PORT COMMAND [NAME …]
 *
 *   metrics          getClusterMetrics; NAME: for that user
 *   register NAME    registerNodeManager of a node on the host NAME
 *   refresh          refreshServiceAcls
 *   token NAME       a delegation token with that renewer: its names, a call with it, and another
 *                    token for it
 *   renew NAME       the same, renewed with the ticket
 *   simple           getClusterMetrics without a ticket, as root
 *   master APP PORT URL  the master of an unmanaged application registers on that port, with that
 *                    tracking URL
 *
 * Each step prints a line: "ok …", or the exception's class, or "failed", with its text. */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"
#include "gss/client.h"
#include "tests/lib/rm-peer.h"
#include "wire/ipc/ipc-client.h"
#include "wire/token/token.h"

#define PATIENCE_MS 60000

static struct {
    sd_event *event;
    struct sgss_client *helper;
    struct sv_arena *arena;
    const char *server, *name;
    struct ipc_kerberos kerberos;
    struct ipc_client_config client;
} g;

static int handshake(const struct ipc_kerberos *k, const char *host,
                     char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret)
{
    (void)host;
    snprintf(ret_server, IPC_PRINCIPAL_MAX, "%s", g.server);
    return sgss_client_initiator(g.helper, k->principal, g.server, ret);
}

/* NULL: refused, and the line is printed. */
static const void *call(const struct ipc_client_config *cfg, const char *method,
                        const void *request, const ProtobufCMessageDescriptor *response)
{
    ProtobufCMessage *answer = NULL;
    struct sv_error err = { 0 };
    struct ipc_client *c;
    const char *class = NULL;

    if (ipc_client_new(g.event, cfg, &c, &err) < 0 ||
        ipc_client_call_sync(c, method, request, response, g.arena, &answer, &class, &err) < 0)
        printf("%s: %s\n", class ?: "failed", err.text);
    ipc_client_free(c);
    return answer;
}

static void metrics(const struct ipc_client_config *cfg)
{
    Hadoop__Yarn__GetClusterMetricsRequestProto q =
        HADOOP__YARN__GET_CLUSTER_METRICS_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__GetClusterMetricsResponseProto *m =
        call(cfg, "getClusterMetrics", &q,
             &hadoop__yarn__get_cluster_metrics_response_proto__descriptor);

    if (m)
        printf("ok %d nodes\n", m->cluster_metrics->num_node_managers);
}

static void registers(struct ipc_client_config cfg)
{
    struct peer_node node = { .id = { .port = 4444 } };
    RegisterRequest *q;
    const RegisterResponse *m;

    snprintf(node.id.host, sizeof(node.id.host), "%s", g.name);
    q = peer_registration(g.arena, &node);
    q->resource = yarn_resource_to(g.arena, (struct yarn_resource){ 4096, 4, 0 });
    cfg.protocol = YARN_RESOURCE_TRACKER_PROTOCOL;
    m = call(&cfg, "registerNodeManager", q,
             &hadoop__yarn__register_node_manager_response_proto__descriptor);
    if (m)
        printf("ok %s keys\n", m->container_token_master_key ? "with" : "without");
}

static void refresh(struct ipc_client_config cfg)
{
    Hadoop__Yarn__RefreshServiceAclsRequestProto q =
        HADOOP__YARN__REFRESH_SERVICE_ACLS_REQUEST_PROTO__INIT;

    cfg.protocol = YARN_ADMIN_PROTOCOL;
    if (call(&cfg, "refreshServiceAcls", &q,
             &hadoop__yarn__refresh_service_acls_response_proto__descriptor))
        printf("ok\n");
}

/* ---- Tokens ---- */

static const Hadoop__Common__TokenProto *token(const struct ipc_client_config *cfg)
{
    Hadoop__Common__GetDelegationTokenRequestProto q =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    const Hadoop__Common__GetDelegationTokenResponseProto *m;

    q.renewer = (char *)(uintptr_t)g.name;
    m = call(cfg, "getDelegationToken", &q,
             &hadoop__common__get_delegation_token_response_proto__descriptor);
    return m ? m->token : NULL;
}

static void with_token(const struct ipc_client_config *cfg, const Hadoop__Common__TokenProto *m)
{
    struct ipc_client_config by_token = *cfg;
    struct yarn_delegation_token what;
    struct yarn_token t;

    if (yarn_token_from(m, g.arena, &t) < 0 ||
        yarn_delegation_token_decode(t.id, t.id_len, &what, NULL) < 0)
        return;
    printf("ok owner %s renewer %s real %s\n", what.owner, what.renewer, what.real_user);
    by_token.token = &t;
    by_token.kerberos = NULL;
    by_token.for_user = NULL;
    metrics(&by_token);
    if (token(&by_token))
        printf("ok a token for a token\n");
}

static void renew(const struct ipc_client_config *cfg, const Hadoop__Common__TokenProto *m)
{
    Hadoop__Common__RenewDelegationTokenRequestProto q =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_REQUEST_PROTO__INIT;

    q.token = (Hadoop__Common__TokenProto *)(uintptr_t)m;
    if (call(cfg, "renewDelegationToken", &q,
             &hadoop__common__renew_delegation_token_response_proto__descriptor))
        printf("ok renewed\n");
}

/* ---- A master ---- */

static const Hadoop__Common__TokenProto *token_of_master(struct yarn_app_id app)
{
    Hadoop__Yarn__GetApplicationReportRequestProto q =
        HADOOP__YARN__GET_APPLICATION_REPORT_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__GetApplicationReportResponseProto *m;

    q.application_id = yarn_app_id_to(g.arena, app);
    m = call(&g.client, "getApplicationReport", &q,
             &hadoop__yarn__get_application_report_response_proto__descriptor);
    return m ? m->application_report->am_rm_token : NULL;
}

static void master(char **argv)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    struct ipc_client_config cfg = g.client;
    const Hadoop__Common__TokenProto *m = NULL;
    struct yarn_app_id app;
    struct yarn_token t;
    uint64_t port = 0;

    if (yarn_app_id_parse(argv[0], &app) < 0 || sv_parse_u64(argv[1], 1, 65535, &port) < 0)
        return;
    for (int64_t until = sv_now_ms() + PATIENCE_MS; !m && sv_now_ms() < until;) {
        m = token_of_master(app);
        (void)sd_event_run(g.event, 20000);
    }
    if (!m || yarn_token_from(m, g.arena, &t) < 0)
        return;
    cfg.protocol = YARN_APPLICATION_MASTER_PROTOCOL;
    cfg.port = (uint16_t)port;
    cfg.token = &t;
    cfg.kerberos = NULL;
    q.host = peer_text("localhost");
    q.tracking_url = argv[2];
    if (call(&cfg, "registerApplicationMaster", &q,
             &hadoop__yarn__register_application_master_response_proto__descriptor))
        printf("ok registered\n");
}

/* ---- A token of somebody else's, by its text in g.name ---- */

static void cancel(const struct ipc_client_config *cfg, const Hadoop__Common__TokenProto *m)
{
    Hadoop__Common__CancelDelegationTokenRequestProto q =
        HADOOP__COMMON__CANCEL_DELEGATION_TOKEN_REQUEST_PROTO__INIT;

    q.token = (Hadoop__Common__TokenProto *)(uintptr_t)m;
    if (call(cfg, "cancelDelegationToken", &q,
             &hadoop__common__cancel_delegation_token_response_proto__descriptor))
        printf("ok cancelled\n");
}

static void show(const Hadoop__Common__TokenProto *m)
{
    const char *text;
    struct yarn_token t;

    if (yarn_token_from(m, g.arena, &t) >= 0 && yarn_token_text(g.arena, &t, &text) >= 0)
        printf("ok %s\n", text);
}

/* With a password that is not its own. */
static void forged(struct yarn_token *t)
{
    struct ipc_client_config by_token = g.client;
    uint8_t *password = sv_arena_memdup(g.arena, t->password, t->password_len);

    if (!password || t->password_len == 0)
        return;
    password[0] ^= 1;
    t->password = password;
    by_token.token = t;
    by_token.kerberos = NULL;
    metrics(&by_token);
}

static bool run_with_text(const char *command)
{
    struct yarn_token t;

    if (!sv_streq(command, "cancel-it") && !sv_streq(command, "renew-it") &&
        !sv_streq(command, "forge-it"))
        return false;
    if (yarn_token_parse(g.arena, g.name, &t) < 0)
        return true;
    if (sv_streq(command, "cancel-it"))
        cancel(&g.client, yarn_token_to(g.arena, &t));
    else if (sv_streq(command, "renew-it"))
        renew(&g.client, yarn_token_to(g.arena, &t));
    else
        forged(&t);
    return true;
}

static void run(const char *command, char **more)
{
    const Hadoop__Common__TokenProto *t;

    if (run_with_text(command))
        return;
    if (sv_streq(command, "metrics")) {
        g.client.for_user = g.name;
        metrics(&g.client);
    } else if (sv_streq(command, "register")) {
        registers(g.client);
    } else if (sv_streq(command, "refresh")) {
        refresh(g.client);
    } else if (sv_streq(command, "simple")) {
        g.client.kerberos = NULL;
        g.client.user = "root";
        metrics(&g.client);
    } else if (sv_streq(command, "master")) {
        master(more);
    } else if ((t = token(&g.client))) {
        if (sv_streq(command, "renew"))
            renew(&g.client, t);
        else if (sv_streq(command, "show"))
            show(t);
        else
            with_token(&g.client, t);
    }
}

int main(int argc, char **argv)
{
    struct sv_error err = { 0 };
    uint64_t port;

    if (argc < 8 || argc > 11 || (sv_streq(argv[7], "master") && argc != 11) ||
        sv_parse_u64(argv[6], 1, 65535, &port) < 0 || sd_event_new(&g.event) < 0 ||
        !(g.arena = sv_arena_new(0)))
        return 2;
    char *helper_argv[] = { argv[1], (char *)"--keytab", argv[3], (char *)"--krb5-conf", argv[2],
                            NULL };
    const struct sgss_client_config helper = { .event = g.event, .argv = helper_argv };

    g.server = argv[5];
    g.name = argv[8];
    g.kerberos = (struct ipc_kerberos){ .principal = argv[4], .handshake = handshake };
    g.client = (struct ipc_client_config){ .host = "127.0.0.1",
                                           .port = (uint16_t)port,
                                           .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                                           .version = 1,
                                           .kerberos = &g.kerberos };
    if (sgss_client_new(&helper, &g.helper, &err) < 0) {
        fprintf(stderr, "rm-kerberos: %s\n", err.text);
        return 3;
    }
    run(argv[7], argv + 8);
    sgss_client_free(g.helper);
    sv_arena_free(g.arena);
    sd_event_unref(g.event);
    return 0;
}
