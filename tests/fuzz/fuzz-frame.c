/* libFuzzer target: one connection of the IPC server from its first byte to its last.
 *
 * The first byte of the input selects the server's configuration, the second how the bytes are cut
 * into segments; the rest is the client's input before it closes its side. For any input, the
 * server must release the connection at the end without waiting for a deadline.
 *
 * With Kerberos a token's first byte says what the helper makes of it: R refuses it, C is a
 * finished handshake with a context that is none, another one goes on. One configuration begins
 * behind the exchange, since only a KDC's ticket leads there. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/fd.h"
#include "wire/ipc/ipc-conn.h"
#include "wire/ipc/methods.h"
#include "wire/sasl/gssapi.h"

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

/* ---- Kerberos ---- */

struct handshake {
    struct gssapi_handshake base;
    sd_event_source *later;
    gssapi_told told;
    void *userdata;
    char first;
};

static int on_later(sd_event_source *src, void *userdata)
{
    struct handshake *h = userdata;
    struct gssapi_outcome o = { .token = (const uint8_t *)"AP-REP", .token_len = 6 };

    (void)src;
    h->later = sd_event_source_disable_unref(h->later);
    if (h->first == 'R') {
        o = (struct gssapi_outcome){ .status = -EACCES, .text = "refused" };
    } else if (h->first == 'C') {
        o.context = (const uint8_t *)"no context";
        o.context_len = 10;
        o.name = "alice@R";
    }
    h->told(&o, h->userdata); /* may free it */
    return 0;
}

static int step(struct gssapi_handshake *base, const uint8_t *p, size_t n, gssapi_told told,
                void *userdata, struct sv_error *err)
{
    struct handshake *h = (struct handshake *)base;

    (void)err;
    h->first = n > 0 ? (char)p[0] : 0;
    h->told = told;
    h->userdata = userdata;
    if (sd_event_add_defer(event, &h->later, on_later, h) < 0)
        abort();
    return 0;
}

static void handshake_free(struct gssapi_handshake *base)
{
    struct handshake *h = (struct handshake *)base;

    sd_event_source_disable_unref(h->later);
    free(h);
}

static int handshake(const struct ipc_acceptor *a, struct gssapi_handshake **ret)
{
    static const struct gssapi_handshake_functions functions = { .step = step,
                                                                 .free = handshake_free };
    struct handshake *h = calloc(1, sizeof(*h));

    (void)a;
    if (!h)
        abort();
    h->base.f = &functions;
    *ret = &h->base;
    return 0;
}

static int local_name(const struct ipc_acceptor *a, const char *principal, char ret[SASL_USER_MAX],
                      struct sv_error *err)
{
    size_t n = strcspn(principal, "@");

    (void)a;
    if (n == 0 || n >= SASL_USER_MAX)
        return sv_error_set(err, -EACCES, "no rule");
    snprintf(ret, SASL_USER_MAX, "%.*s", (int)n, principal);
    return 0;
}

static int impersonation(void *userdata, const struct ipc_peer *peer, struct sv_error *err)
{
    (void)userdata;
    if (!peer->real_user || !peer->full_user || strcmp(peer->principal, "alice@R") != 0)
        abort();
    return strcmp(peer->user, "bob") == 0 ? 0 : sv_error_set(err, -EACCES, "not for others");
}

/* As ipc-auth.c leaves a connection whose ticket was good. */
static void authenticate(struct ipc_conn *c)
{
    c->principal = strdup("alice@R");
    c->user = strdup("alice");
    if (!c->principal || !c->user)
        abort();
    c->peer.principal = c->peer.full_user = c->principal;
    c->peer.user = c->user;
    ipc_conn_set_state(c, CONN_CONTEXT);
}

/* ---- Servers ---- */

#define AUTHENTICATED 6 /* of them, where the exchange is over */
static struct ipc_server *servers[AUTHENTICATED + 1];

static void start(void)
{
    static const struct ipc_acceptor kerberos = { .principal = "nm/here@R",
                                                  .handshake = handshake,
                                                  .local_name = local_name };
    const struct ipc_server_config configs[] = {
        { .allow_simple = true, .protocols = protocols },
        { .verify_token = verify, .protocols = protocols },
        { .allow_simple = true, .verify_token = verify, .protocols = protocols },
        { .verify_token = verify, .protocols = protocols, .qop_mask = IPC_QOP_ALL },
        { .kerberos = &kerberos, .protocols = protocols, .qop_mask = IPC_QOP_ALL },
        { .kerberos = &kerberos,
          .verify_token = verify,
          .allow_simple = true,
          .protocols = protocols },
        { .kerberos = &kerberos, .impersonation = impersonation, .protocols = protocols },
    };
    _Static_assert(SV_ARRAY_LEN(configs) == SV_ARRAY_LEN(servers), "a server each");
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
    if (s == servers[AUTHENTICATED])
        authenticate(s->conns);
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
