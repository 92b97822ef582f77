/* libFuzzer target: input of the IPC client from a server, from its first byte to its last.
 *
 * The first byte of the input chooses the client: SIMPLE, with a token, or behind a layer of
 * integrity or privacy (then the bytes are wrapped here, so that the content reaches the parser).
 * The second selects how the bytes are cut into segments, the third which open calls are cancelled
 * meanwhile. For any input, every callback must run exactly once. */
#include <string.h>
#include <sys/socket.h>

#include "common/fd.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-client-conn.h"
#include "wire/ipc/methods.h"
#include "wire/sasl/digest-layer.h"
#include "wire/token/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX (48u << 10)
#define CALLS 4

static const struct yarn_token token = {
    .id = (const uint8_t *)"identifier",
    .id_len = 10,
    .password = (const uint8_t *)"password",
    .password_len = 8,
    .kind = "NMToken",
    .service = "",
};

static void on_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    int *count = userdata;
    if ((r->status == 0) != (r->response != NULL) || (r->status < 0 && (!err || !*err->text)))
        abort();
    ++*count;
}

static void turn(sd_event *event)
{
    for (int i = 0; i < 3; i++)
        if (sd_event_run(event, 0) < 0)
            abort();
}

static void drain(int fd)
{
    char sink[4096];
    while (recv(fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
        continue;
}

static void start_calls(struct ipc_client *c, int *counts)
{
    static const struct {
        const char *method;
        const ProtobufCMessageDescriptor *response;
    } calls[CALLS] = {
        { "registerNodeManager", &hadoop__yarn__register_node_manager_response_proto__descriptor },
        { "nodeHeartbeat", &hadoop__yarn__node_heartbeat_response_proto__descriptor },
        { "getContainerStatuses",
          &hadoop__yarn__get_container_statuses_response_proto__descriptor },
        { "allocate", &hadoop__yarn__allocate_response_proto__descriptor },
    };
    for (int i = 0; i < CALLS; i++)
        if (ipc_client_start(c,
                             &(struct ipc_request){ .method = calls[i].method,
                                                    .response = calls[i].response,
                                                    .id = i + 1 },
                             on_done, &counts[i], NULL) < 0)
            abort();
}

/* The server's end of the layer. */
static int send_wrapped(int fd, struct sasl_layer *layer, const uint8_t *p, size_t n)
{
    Hadoop__Common__RpcResponseHeaderProto h = HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__INIT;
    struct sv_buf b = SV_BUF_INIT(1 << 20);
    uint8_t *at;
    h.callid = (uint32_t)IPC_CALL_SASL;
    h.status = IPC_STATUS(SUCCESS);
    int r = ipc_frame_put_wrap(&b, &h.base, ipc_sasl_layer_size(layer, n), &at);
    if (r >= 0)
        r = ipc_sasl_layer_wrap(layer, p, n, at);
    if (r >= 0 && send(fd, b.data, b.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        r = -1;
    sv_buf_free(&b);
    return r;
}

static struct sasl_layer *layer_new(uint8_t kind, bool server)
{
    static const uint8_t ha1[16] = "0123456789abcde";
    struct sasl_layer *l;
    if (ipc_digest_layer_new(kind == 2 ? IPC_QOP_INTEGRITY : IPC_QOP_PRIVACY, ha1, server,
                             SASL_LAYER_MAXBUF, &l) < 0)
        abort();
    return l;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sd_event *event;
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .protocol = "P",
                                     .version = 1,
                                     .user = "u",
                                     .call_ms = 100000,
                                     .max_frame = 1 << 20 };
    struct sasl_layer *layer = NULL;
    struct ipc_client *c;
    int fd[2], counts[CALLS] = { 0 };
    if (!event && sd_event_new(&event) < 0)
        abort();
    if (size < 3 || size > INPUT_MAX ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd) < 0)
        return 0;
    uint8_t kind = data[0] % 4;
    size_t cut = data[1] ? data[1] * 16u : size;
    cfg.token = kind == 1 ? &token : NULL;
    cfg.qop_mask = data[0] / 4 % 8;
    if (ipc_client_new(event, &cfg, &c, NULL) < 0 || ipc_client_attach(c, fd[0]) < 0)
        abort();
    if (kind >= 2) {
        layer = layer_new(kind, true);
        c->layer = layer_new(kind, false);
    }
    start_calls(c, counts);
    turn(event);
    drain(fd[1]);
    for (size_t at = 3; at < size && c->fd == fd[0]; at += cut) {
        size_t n = SV_MIN(cut, size - at);
        if (layer ? send_wrapped(fd[1], layer, data + at,
                                 SV_MIN(n, ipc_sasl_layer_max_input(layer))) < 0
                  : send(fd[1], data + at, n, MSG_NOSIGNAL) < 0)
            break;
        turn(event);
        drain(fd[1]);
        for (int i = 0; i < CALLS; i++)
            if (data[2] & 1u << i)
                (void)ipc_client_cancel(c, i + 1); /* once is enough, ignoring */
    }
    (void)shutdown(fd[1], SHUT_WR);
    turn(event);
    ipc_client_free(c);
    for (int i = 0; i < CALLS; i++)
        if (counts[i] != 1)
            abort();
    ipc_sasl_layer_free(layer);
    sv_close(fd[1]);
    return 0;
}
