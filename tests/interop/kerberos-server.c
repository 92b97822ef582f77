/* Our IPC server with Kerberos, for tests/interop/test-kerberos:
 *
 *   kerberos-server [--connections N] HELPER KRB5-CONF KEYTAB PRINCIPAL RULES PROTECTION...
 *
 * Serves ApplicationClientProtocol on a port for each hadoop.rpc.protection, with TOKEN offered
 * beside, of which none is good. --connections: of one address, for a bench. Prints "ready PORT..."
 * and ends at the end of its standard input.
 *
 *   getApplicationReport  an exception whose words are the caller: method, users, principal
 *   getApplications       an exception with the number of users in the request
 *   getQueueUserAcls      20000 queues
 *   getClusterMetrics     7 nodes */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/identity/auth-to-local.h"
#include "common/str.h"
#include "gss/client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"
#include "wire/sasl/qop.h"

#define QUEUES 20000
#define SERVERS_MAX 8

static struct sgss_client *helper;
static struct sv_auth_to_local *rules;

/* ---- Methods ---- */

static const char *or_none(const char *name)
{
    return name ? name : "-";
}

static void on_report(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    const struct ipc_peer *p = ipc_call_peer(call);

    (void)request, (void)userdata;
    ipc_call_fail(call, JAVA_APP_NOT_FOUND, "%s user %s full %s real %s principal %s",
                  ipc_peer_method(p), p->user, or_none(p->full_user), or_none(p->real_user),
                  or_none(p->principal));
}

static void on_applications(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    const Hadoop__Yarn__GetApplicationsRequestProto *m = (const void *)request;

    (void)userdata;
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%zu users", m->n_users);
}

/* Far more than the arena of such a small request takes. */
static void on_acls(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetQueueUserAclsInfoResponseProto out =
        HADOOP__YARN__GET_QUEUE_USER_ACLS_INFO_RESPONSE_PROTO__INIT;

    (void)request, (void)userdata;
    out.n_queueuseracls = QUEUES;
    out.queueuseracls = sv_newn(a, Hadoop__Yarn__QueueUserACLInfoProto *, QUEUES);
    for (int i = 0; i < QUEUES; i++) {
        out.queueuseracls[i] = sv_new(a, Hadoop__Yarn__QueueUserACLInfoProto);
        hadoop__yarn__queue_user_aclinfo_proto__init(out.queueuseracls[i]);
        out.queueuseracls[i]->queuename = sv_arena_printf(a, "root.queue-%d", i);
    }
    ipc_call_reply(call, &out.base);
    sv_arena_free(a);
}

static void on_metrics(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Yarn__GetClusterMetricsResponseProto out =
        HADOOP__YARN__GET_CLUSTER_METRICS_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__YarnClusterMetricsProto m = HADOOP__YARN__YARN_CLUSTER_METRICS_PROTO__INIT;

    (void)request, (void)userdata;
    m.has_num_node_managers = 1;
    m.num_node_managers = 7;
    out.cluster_metrics = &m;
    ipc_call_reply(call, &out.base);
}

#define METHOD(name, message, handler)                                                             \
    {                                                                                              \
#name, &hadoop__yarn__##message##_request_proto__descriptor,                               \
            &hadoop__yarn__##message##_response_proto__descriptor, handler                         \
    }
static const struct ipc_method methods[] = {
    METHOD(getApplicationReport, get_application_report, on_report),
    METHOD(getApplications, get_applications, on_applications),
    METHOD(getQueueUserAcls, get_queue_user_acls_info, on_acls),
    METHOD(getClusterMetrics, get_cluster_metrics, on_metrics),
};
static const struct ipc_protocol protocol = { YARN_APPLICATION_CLIENT_PROTOCOL, 1, methods,
                                              SV_ARRAY_LEN(methods) };
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

/* ---- Callers ---- */

static int no_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64], size_t *ret_len,
                    char ret_user[SASL_USER_MAX], const char **ret_class, struct sv_error *err,
                    void *userdata)
{
    (void)id, (void)id_len, (void)ret_password, (void)ret_len, (void)ret_user, (void)ret_class;
    (void)userdata;
    return sv_error_set(err, -EACCES, "no token is good here");
}

static int handshake(const struct ipc_acceptor *a, struct gssapi_handshake **ret)
{
    return sgss_client_acceptor(helper, a->principal, ret);
}

static int local_name(const struct ipc_acceptor *a, const char *principal, char ret[SASL_USER_MAX],
                      struct sv_error *err)
{
    (void)a;
    return sv_auth_to_local(rules, principal, strlen(principal), ret, err);
}
static_assert(SASL_USER_MAX == SV_LOCAL_NAME_MAX + 1, "a name of the rules fits");

static void told(const char *text, void *userdata)
{
    (void)userdata;
    fprintf(stderr, "kerberos-server: %s\n", text);
}

static int on_stdin(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)fd, (void)revents, (void)userdata;
    return sd_event_exit(sd_event_source_get_event(src), 0);
}

static int serve(sd_event *event, const struct ipc_acceptor *kerberos, size_t connections,
                 char **protections, int n)
{
    struct ipc_server *servers[SERVERS_MAX] = { NULL };
    struct sv_error err = { 0 };
    int r = 0;

    for (int i = 0; r >= 0 && i < n; i++) {
        struct ipc_server_config cfg = { .allow_simple = true,
                                         .verify_token = no_token,
                                         .kerberos = kerberos,
                                         .limits = { .max_connections = connections,
                                                     .max_per_address = connections },
                                         .protocols = protocols };

        r = ipc_qop_parse(protections[i], &cfg.qop_mask, &err);
        if (r >= 0)
            r = ipc_server_new(event, &cfg, &servers[i], &err);
    }
    if (r < 0 || sd_event_add_io(event, NULL, 0, EPOLLIN | EPOLLHUP, on_stdin, NULL) < 0) {
        fprintf(stderr, "kerberos-server: %s\n", err.text);
        return 1;
    }
    printf("ready");
    for (int i = 0; i < n; i++)
        printf(" %u", ipc_server_port(servers[i]));
    printf("\n");
    fflush(stdout);
    r = sd_event_loop(event);
    for (int i = 0; i < n; i++)
        ipc_server_free(servers[i]);
    return r < 0;
}

int main(int argc, char **argv)
{
    struct sv_error err = { 0 };
    sd_event *event = NULL;
    uint64_t connections = 0;
    int r;

    if (argc > 2 && sv_streq(argv[1], "--connections")) {
        if (sv_parse_u64(argv[2], 1, 100000, &connections) < 0)
            return 2;
        argv += 2;
        argc -= 2;
    }
    if (argc < 7 || argc > 6 + SERVERS_MAX || sd_event_default(&event) < 0)
        return 2;
    char *helper_argv[] = { argv[1], (char *)"--keytab", argv[3], (char *)"--krb5-conf", argv[2],
                            NULL };
    const struct sgss_client_config helper_cfg = { .event = event,
                                                   .argv = helper_argv,
                                                   .told = told };
    const struct ipc_acceptor kerberos = { .principal = argv[4],
                                           .handshake = handshake,
                                           .local_name = local_name };
    if (sv_auth_to_local_new(argv[5], SV_AUTH_HADOOP, NULL, &rules, &err) < 0 ||
        sgss_client_new(&helper_cfg, &helper, &err) < 0) {
        fprintf(stderr, "kerberos-server: %s\n", err.text);
        return 1;
    }
    r = serve(event, &kerberos, (size_t)connections, argv + 6, argc - 6);
    sgss_client_free(helper);
    sv_auth_to_local_free(rules);
    sd_event_unref(event);
    return r;
}
