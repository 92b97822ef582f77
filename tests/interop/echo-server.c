/* Every method of every protocol of wire/ipc/methods.h on our IPC server, for
 * tests/interop/test-methods.
 *
 * Fields of echo.h in a request hold the intended response, packed, which is unpacked and packed
 * again by our descriptors; so is the request, which is returned inside the response. The caller
 * compares both with the intended messages.
 *
 *   echo-server
 *
 * Prints "ready SIMPLE AM NM SMALL BOTH", five ports: all protocols with SIMPLE,
 * ApplicationMasterProtocol for AMRMTokens, ContainerManagementProtocol for NMTokens, all protocols
 * with ipc.maximum.data.length 65536, all with SIMPLE and NMTokens. Ends at the end of its standard
 * input. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/interop/echo.h"
#include "wire/ids.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

#define SMALL_FRAME 65536
#define BATCH_MAX 256

static const struct yarn_master_key key = { .key_id = 77,
                                            .len = 8,
                                            .bytes = { 1, 2, 3, 4, 5, 6, 7, 0x88 } };
static struct {
    struct ipc_call *call;
    ProtobufCMessage *response;
} held[BATCH_MAX];
static size_t n_held;

/* ---- Unknown fields ---- */

static size_t varint_get(const uint8_t *p, size_t n, uint64_t *ret)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n && i < 10; i++) {
        v |= (uint64_t)(p[i] & 0x7f) << 7 * i;
        if (!(p[i] & 0x80)) {
            *ret = v;
            return i + 1;
        }
    }
    return 0;
}

static size_t varint_put(uint8_t *p, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

static const ProtobufCMessageUnknownField *find(const ProtobufCMessage *m, uint32_t tag)
{
    for (unsigned i = 0; i < m->n_unknown_fields; i++)
        if (m->unknown_fields[i].tag == tag)
            return &m->unknown_fields[i];
    return NULL;
}

/* The payload of a bytes field; NULL if it is not there. */
static const uint8_t *find_bytes(const ProtobufCMessage *m, uint32_t tag, size_t *ret_len)
{
    const ProtobufCMessageUnknownField *f = find(m, tag);
    uint64_t len;
    size_t used = f ? varint_get(f->data, f->len, &len) : 0;
    if (used == 0 || len != f->len - used)
        return NULL;
    *ret_len = (size_t)len;
    return f->data + used;
}

static void add_unknown(ProtobufCMessage *m, struct sv_arena *a, uint32_t tag,
                        ProtobufCWireType type, uint8_t *data, size_t len)
{
    ProtobufCMessageUnknownField *all =
        sv_newn(a, ProtobufCMessageUnknownField, m->n_unknown_fields + 1);
    if (m->n_unknown_fields > 0)
        memcpy(all, m->unknown_fields, m->n_unknown_fields * sizeof(*all));
    all[m->n_unknown_fields] =
        (ProtobufCMessageUnknownField){ .tag = tag, .wire_type = type, .data = data, .len = len };
    m->unknown_fields = all;
    m->n_unknown_fields++;
}

/* ---- Echo ---- */

static struct ipc_server *servers[5];

static uint64_t connections(void)
{
    uint64_t n = 0;
    for (size_t i = 0; i < SV_ARRAY_LEN(servers); i++)
        n += ipc_server_connections(servers[i]);
    return n;
}

static bool fail_wanted(struct ipc_call *call, const ProtobufCMessage *request)
{
    size_t len;
    const char *text = (const char *)find_bytes(request, ECHO_FAIL, &len);
    const char *line = text ? memchr(text, '\n', len) : NULL;
    char class[256];
    if (!line)
        return false;
    snprintf(class, sizeof(class), "%.*s", (int)(line - text), text);
    ipc_call_fail(call, class, "%.*s", (int)(len - (size_t)(line + 1 - text)), line + 1);
    return true;
}

static void reply_or_hold(struct ipc_call *call, const ProtobufCMessage *request,
                          ProtobufCMessage *response)
{
    const ProtobufCMessageUnknownField *f = find(request, ECHO_BATCH);
    uint64_t batch;
    if (!f || varint_get(f->data, f->len, &batch) == 0 || batch > BATCH_MAX) {
        ipc_call_reply(call, response);
        return;
    }
    held[n_held].call = call;
    held[n_held++].response = response;
    if (n_held < batch)
        return;
    while (n_held > 0) {
        n_held--;
        ipc_call_reply(held[n_held].call, held[n_held].response);
    }
}

static void echo(struct ipc_call *call, const ProtobufCMessage *request,
                 const ProtobufCMessageDescriptor *d)
{
    struct sv_arena *a = ipc_call_arena(call);
    size_t len;
    if (fail_wanted(call, request))
        return;
    const uint8_t *wanted = find_bytes(request, ECHO_REPLY, &len);
    ProtobufCMessage *response =
        wanted ? protobuf_c_message_unpack(d, sv_arena_protobuf(a), len, wanted) : NULL;
    size_t n = protobuf_c_message_get_packed_size(request);
    uint8_t *seen = sv_arena_alloc(a, n + 10), *count = sv_arena_alloc(a, 10);
    if (!response || !seen || !count) {
        ipc_call_fail(call, JAVA_ILLEGAL_ARGUMENT, "%s: no response to send", d->name);
        return;
    }
    size_t prefix = varint_put(seen, n);
    protobuf_c_message_pack(request, seen + prefix);
    add_unknown(response, a, ECHO_SEEN, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, seen, prefix + n);
    add_unknown(response, a, ECHO_CONNS, PROTOBUF_C_WIRE_TYPE_VARINT, count,
                varint_put(count, connections()));
    reply_or_hold(call, request, response);
}

/* ---- Tables ---- */

#define HANDLER(name, response)                                                                    \
    static void name(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)       \
    {                                                                                              \
        (void)userdata;                                                                            \
        echo(call, request, &response##__descriptor);                                              \
    }
#define ROW(method, function, request, response)                                                   \
    { #method, &request##__descriptor, &response##__descriptor, function },

#define CLIENT_HANDLER(m, q, r) HANDLER(client_##m, r)
#define CLIENT_ROW(m, q, r) ROW(m, client_##m, q, r)
YARN_APPLICATION_CLIENT_METHODS(CLIENT_HANDLER)
static const struct ipc_method client_methods[] = { YARN_APPLICATION_CLIENT_METHODS(CLIENT_ROW) };

#define MASTER_HANDLER(m, q, r) HANDLER(master_##m, r)
#define MASTER_ROW(m, q, r) ROW(m, master_##m, q, r)
YARN_APPLICATION_MASTER_METHODS(MASTER_HANDLER)
static const struct ipc_method master_methods[] = { YARN_APPLICATION_MASTER_METHODS(MASTER_ROW) };

#define CONTAINER_HANDLER(m, q, r) HANDLER(container_##m, r)
#define CONTAINER_ROW(m, q, r) ROW(m, container_##m, q, r)
YARN_CONTAINER_MANAGEMENT_METHODS(CONTAINER_HANDLER)
static const struct ipc_method container_methods[] = { YARN_CONTAINER_MANAGEMENT_METHODS(
    CONTAINER_ROW) };

#define TRACKER_HANDLER(m, q, r) HANDLER(tracker_##m, r)
#define TRACKER_ROW(m, q, r) ROW(m, tracker_##m, q, r)
YARN_RESOURCE_TRACKER_METHODS(TRACKER_HANDLER)
static const struct ipc_method tracker_methods[] = { YARN_RESOURCE_TRACKER_METHODS(TRACKER_ROW) };

#define ADMIN_HANDLER(m, q, r) HANDLER(admin_##m, r)
#define ADMIN_ROW(m, q, r) ROW(m, admin_##m, q, r)
YARN_ADMIN_METHODS(ADMIN_HANDLER)
static const struct ipc_method admin_methods[] = { YARN_ADMIN_METHODS(ADMIN_ROW) };

#define HA_HANDLER(m, q, r) HANDLER(ha_##m, r)
#define HA_ROW(m, q, r) ROW(m, ha_##m, q, r)
HADOOP_HA_SERVICE_METHODS(HA_HANDLER)
static const struct ipc_method ha_methods[] = { HADOOP_HA_SERVICE_METHODS(HA_ROW) };

#define PROTOCOL(prefix, name)                                                                     \
    static const struct ipc_protocol prefix = { name, 1, prefix##_methods,                         \
                                                SV_ARRAY_LEN(prefix##_methods) }
PROTOCOL(client, YARN_APPLICATION_CLIENT_PROTOCOL);
PROTOCOL(master, YARN_APPLICATION_MASTER_PROTOCOL);
PROTOCOL(container, YARN_CONTAINER_MANAGEMENT_PROTOCOL);
PROTOCOL(tracker, YARN_RESOURCE_TRACKER_PROTOCOL);
PROTOCOL(admin, YARN_ADMIN_PROTOCOL);
PROTOCOL(ha, HADOOP_HA_SERVICE_PROTOCOL);

static const struct ipc_protocol *const all[] = {
    &client, &master, &container, &tracker, &admin, &ha, NULL,
};
static const struct ipc_protocol *const master_only[] = { &master, NULL };
static const struct ipc_protocol *const container_only[] = { &container, NULL };

/* ---- Tokens ---- */

static int password_of(struct yarn_attempt_id attempt, const uint8_t *id, size_t id_len,
                       uint8_t ret_password[64], size_t *ret_len, char ret_user[256])
{
    yarn_attempt_id_text(attempt, ret_user);
    return yarn_token_password(YARN_HMAC_SHA1, &key, id, id_len, ret_password, ret_len);
}

static int verify_am(const uint8_t *id, size_t id_len, uint8_t ret_password[64], size_t *ret_len,
                     char ret_user[256], const char **ret_class, struct sv_error *err,
                     void *userdata)
{
    (void)ret_class, (void)userdata;
    struct yarn_amrm_token t;
    int r = yarn_amrm_token_decode(id, id_len, &t, err);
    return r < 0 ? r : password_of(t.attempt, id, id_len, ret_password, ret_len, ret_user);
}

static int verify_nm(const uint8_t *id, size_t id_len, uint8_t ret_password[64], size_t *ret_len,
                     char ret_user[256], const char **ret_class, struct sv_error *err,
                     void *userdata)
{
    (void)ret_class, (void)userdata;
    struct yarn_nm_token t;
    int r = yarn_nm_token_decode(id, id_len, &t, err);
    return r < 0 ? r : password_of(t.attempt, id, id_len, ret_password, ret_len, ret_user);
}

static int on_stdin(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)fd, (void)revents, (void)userdata;
    return sd_event_exit(sd_event_source_get_event(src), 0);
}

int main(void)
{
    static const struct ipc_server_config configs[] = {
        { .allow_simple = true, .protocols = all },
        { .verify_token = verify_am, .protocols = master_only },
        { .verify_token = verify_nm, .protocols = container_only },
        { .allow_simple = true, .protocols = all, .limits.max_frame = SMALL_FRAME },
        { .allow_simple = true, .verify_token = verify_nm, .protocols = all },
    };
    static_assert(SV_ARRAY_LEN(configs) == SV_ARRAY_LEN(servers), "one server each");
    sd_event *event = NULL;
    struct sv_error err = { 0 };
    int r = sd_event_default(&event);
    for (size_t i = 0; i < SV_ARRAY_LEN(servers) && r >= 0; i++)
        r = ipc_server_new(event, &configs[i], &servers[i], &err);
    if (r >= 0)
        r = sd_event_add_io(event, NULL, 0, EPOLLIN | EPOLLHUP, on_stdin, NULL);
    if (r < 0) {
        fprintf(stderr, "echo-server: %s\n", err.text);
        return 1;
    }
    printf("ready");
    for (size_t i = 0; i < SV_ARRAY_LEN(servers); i++)
        printf(" %u", ipc_server_port(servers[i]));
    printf("\n");
    fflush(stdout);
    r = sd_event_loop(event);
    for (size_t i = 0; i < SV_ARRAY_LEN(servers); i++)
        ipc_server_free(servers[i]);
    sd_event_unref(event);
    return r < 0;
}
