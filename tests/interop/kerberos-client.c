/* Our IPC client with Kerberos, at a real ResourceManager, for tests/interop/test-kerberos:
 *
 *   kerberos-client HELPER KRB5-CONF KEYTAB PRINCIPAL SERVER-PRINCIPAL PORT PROTECTION COMMAND
 *
 *   metrics    getClusterMetrics: "metrics N nodes"
 *   large      the same with half a MiB of a field that the server does not know: many wrapped
 * messages register   registerNodeManager: "registered, with keys"
 *
 * A failure is "failed CLASS: text", or "failed errno: text" of the client's own. */
#include <errno.h>
#include <stdio.h>

#include "common/str.h"
#include "gss/client.h"
#include "tests/lib/rm-peer.h"
#include "wire/ipc/ipc-client.h"
#include "wire/sasl/qop.h"

#define LARGE (512u << 10)

static const char *server;
static struct sgss_client *helper;
static int ended;

static int handshake(const struct ipc_kerberos *k, const char *host,
                     char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret)
{
    (void)host;
    snprintf(ret_server, IPC_PRINCIPAL_MAX, "%s", server);
    return sgss_client_initiator(helper, k->principal, server, ret);
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    const char *command = userdata;

    ended = r->status < 0 ? 1 : 2;
    if (r->status == -EREMOTEIO)
        printf("failed %s: %s\n", r->java_class, err->text);
    else if (r->status < 0)
        printf("failed %d: %s\n", -r->status, err->text);
    else if (sv_streq(command, "register"))
        printf("registered, %s keys\n",
               ((const RegisterResponse *)r->response)->container_token_master_key ? "with"
                                                                                   : "without");
    else
        printf("metrics %d nodes\n",
               ((const Hadoop__Yarn__GetClusterMetricsResponseProto *)r->response)
                   ->cluster_metrics->num_node_managers);
}

/* Field 100, bytes. */
static int put_unknown(struct sv_buf *b, uint32_t n)
{
    int r = sv_buf_put(b, "\xa2\x06", 2);

    for (uint32_t left = n; r >= 0 && (left > 0 || b->len == 2); left >>= 7)
        r = sv_buf_put_u8(b, (uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0)));
    for (uint32_t i = 0; r >= 0 && i < n; i++)
        r = sv_buf_put_u8(b, (uint8_t)i);
    return r;
}

static int call(struct ipc_client *c, const char *command)
{
    bool registers = sv_streq(command, "register");
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    struct peer_node node = { .id = { .host = "localhost", .port = 4444 } };
    struct ipc_request q = {
        .method = registers ? "registerNodeManager" : "getClusterMetrics",
        .response = registers ? &hadoop__yarn__register_node_manager_response_proto__descriptor
                              : &hadoop__yarn__get_cluster_metrics_response_proto__descriptor
    };

    if (registers) {
        RegisterRequest *m = peer_registration(a, &node);

        m->resource = yarn_resource_to(a, (struct yarn_resource){ 4096, 4, 0 });
        if (sv_buf_reserve(&b, protobuf_c_message_get_packed_size(&m->base)) < 0)
            return -ENOMEM;
        b.len = protobuf_c_message_pack(&m->base, b.data);
    } else if (sv_streq(command, "large") && put_unknown(&b, LARGE) < 0) {
        return -ENOMEM;
    }
    q.body = b.data;
    q.body_len = b.len;
    return ipc_client_start(c, &q, on_answer, (void *)(uintptr_t)command, NULL);
}

int main(int argc, char **argv)
{
    struct sv_error err = { 0 };
    struct ipc_client *c = NULL;
    sd_event *event = NULL;
    uint64_t port;
    uint32_t mask;

    if (argc != 9 || sv_parse_u64(argv[6], 1, 65535, &port) < 0 ||
        ipc_qop_parse(argv[7], &mask, &err) < 0 || sd_event_new(&event) < 0)
        return 2;
    char *helper_argv[] = { argv[1], (char *)"--keytab", argv[3], (char *)"--krb5-conf", argv[2],
                            NULL };
    const struct ipc_kerberos k = { .principal = argv[4], .handshake = handshake };
    const struct sgss_client_config helper_cfg = { .event = event, .argv = helper_argv };
    const struct ipc_client_config cfg = {
        .host = "127.0.0.1",
        .port = (uint16_t)port,
        .protocol = sv_streq(argv[8], "register")
                        ? "org.apache.hadoop.yarn.server.api.ResourceTrackerPB"
                        : "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB",
        .version = 1,
        .kerberos = &k,
        .qop_mask = mask,
    };
    server = argv[5];
    if (sgss_client_new(&helper_cfg, &helper, &err) < 0 ||
        ipc_client_new(event, &cfg, &c, &err) < 0 || call(c, argv[8]) < 0) {
        printf("failed: %s\n", err.text);
        return 3;
    }
    while (!ended)
        if (sd_event_run(event, UINT64_MAX) < 0)
            return 3;
    ipc_client_free(c);
    sgss_client_free(helper);
    sd_event_unref(event);
    return ended == 2 ? 0 : 1;
}
