/* libFuzzer target: one connection of the IPC server from its first byte to its last.
 *
 * The first byte of the input selects the server's configuration, the second how the bytes are cut
 * into segments; the rest is the client's input before it closes its side. For any input, the
 * server must release the connection at the end without waiting for a deadline. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/fd.h"
#include "wire/ipc/ipc-conn.h"
#include "wire/ipc/methods.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX (48u << 10) /* fits a socket buffer */

static int verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64], size_t *ret_len,
                  char ret_user[256], const char **ret_class, struct sv_error *err, void *userdata)
{
    (void)id, (void)ret_class, (void)userdata;
    if (id_len > 64)
        return sv_error_set(err, -ENOENT, "unknown");
    memcpy(ret_password, "password", 8);
    *ret_len = 8;
    snprintf(ret_user, 256, "user");
    return 0;
}

/* Reads every field: answers with the request itself. */
static void on_any(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    ipc_call_reply(call, request);
}

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_any },
static const struct ipc_method methods[] = { YARN_CONTAINER_MANAGEMENT_METHODS(ROW) };
static const struct ipc_protocol protocol = { YARN_CONTAINER_MANAGEMENT_PROTOCOL, 1, methods,
                                              SV_ARRAY_LEN(methods) };
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

static sd_event *event;
static struct ipc_server *servers[4];

static void start(void)
{
    const struct ipc_server_config configs[] = {
        { .allow_simple = true, .protocols = protocols },
        { .verify_token = verify, .protocols = protocols },
        { .allow_simple = true, .verify_token = verify, .protocols = protocols },
        { .verify_token = verify, .protocols = protocols, .qop_mask = IPC_QOP_ALL },
    };
    if (event)
        return;
    if (sd_event_new(&event) < 0)
        abort();
    for (size_t i = 0; i < SV_ARRAY_LEN(configs); i++)
        if (ipc_server_new(event, &configs[i], &servers[i], NULL) < 0)
            abort();
}

static void turn(void)
{
    if (sd_event_run(event, 0) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sockaddr_storage local = { .ss_family = AF_INET6 };
    int fd[2];
    char sink[4096];
    start();
    if (size < 2 || size > INPUT_MAX ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd) < 0)
        return 0;
    struct ipc_server *s = servers[data[0] % SV_ARRAY_LEN(servers)];
    size_t cut = data[1] ? data[1] * 16u : size;
    struct ipc_address *from = calloc(1, sizeof(*from)); /* freed with its last connection */
    if (!from)
        abort();
    HASH_ADD(hh, s->addresses, ip, sizeof(from->ip), from);
    if (ipc_conn_new(s, fd[0], &local, "fuzz:1", from) < 0)
        abort();
    for (size_t at = 2; at < size; at += cut) {
        if (send(fd[1], data + at, SV_MIN(cut, size - at), MSG_NOSIGNAL) < 0)
            break;
        turn();
    }
    (void)shutdown(fd[1], SHUT_WR);
    for (int i = 0; s->n_conns > 0; i++) {
        turn();
        while (recv(fd[1], sink, sizeof(sink), 0) > 0)
            continue;
        if (i > 10000)
            abort();
    }
    sv_close(fd[1]);
    return 0;
}
