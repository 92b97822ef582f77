/* Our IPC client calls every method of every protocol of wire/ipc/methods.h at Hadoop's own
 * RPC.Server (java/protobuf/Echo.java), for tests/interop/test-methods.
 *
 *   echo-client SIMPLE AM NM SMALL BOTH
 *
 * The ports of that server are in the order of echo-server. Each method is called with every field
 * filled, with empty fields and with required fields alone; the request that Java saw and the
 * response are compared with the intended ones, packed. Prints "ok PROTOCOL METHOD", "absent
 * PROTOCOL METHOD" if this Hadoop lacks the method, "FAIL PROTOCOL METHOD why".
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/interop/echo.h"
#include "wire/ids.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

#define DEPTH 9
#define BULK (8u << 20)
#define TOGETHER 64

static const struct yarn_master_key key = { .key_id = 77,
                                            .len = 8,
                                            .bytes = { 1, 2, 3, 4, 5, 6, 7, 0x88 } };
static const struct yarn_attempt_id attempt = { .app = { .cluster_ts = 1700000000123, .id = 42 },
                                                .attempt = 3 };

struct method {
    const char *name;
    const ProtobufCMessageDescriptor *request, *response;
};

#define ROW(m, q, r) { #m, &q##__descriptor, &r##__descriptor },
static const struct method client[] = { YARN_APPLICATION_CLIENT_METHODS(ROW) };
static const struct method master[] = { YARN_APPLICATION_MASTER_METHODS(ROW) };
static const struct method container[] = { YARN_CONTAINER_MANAGEMENT_METHODS(ROW) };
static const struct method tracker[] = { YARN_RESOURCE_TRACKER_METHODS(ROW) };
static const struct method admin[] = { YARN_ADMIN_METHODS(ROW) };
static const struct method ha[] = { HADOOP_HA_SERVICE_METHODS(ROW) };

enum { SIMPLE, AM, NM, PORTS = 5 };
#define PROTOCOL(name, methods, port)                                                              \
    {                                                                                              \
        name, methods, SV_ARRAY_LEN(methods), port                                                 \
    }
static const struct {
    const char *name;
    const struct method *methods;
    size_t n;
    int port;
} protocols[] = {
    PROTOCOL(YARN_APPLICATION_CLIENT_PROTOCOL, client, SIMPLE),
    PROTOCOL(YARN_APPLICATION_MASTER_PROTOCOL, master, AM),
    PROTOCOL(YARN_CONTAINER_MANAGEMENT_PROTOCOL, container, NM),
    PROTOCOL(YARN_RESOURCE_TRACKER_PROTOCOL, tracker, SIMPLE),
    PROTOCOL(YARN_ADMIN_PROTOCOL, admin, SIMPLE),
    PROTOCOL(HADOOP_HA_SERVICE_PROTOCOL, ha, SIMPLE),
};
enum { CLIENT = 0, CONTAINER = 2 };

/* ---- Filling messages ---- */

enum shape { FULL, EMPTY, MINIMAL, SHAPES };
static const char *const shape_names[] = { "full", "empty", "minimal" };

struct fill {
    struct sv_arena *arena;
    enum shape shape;
    unsigned serial, depth;
    const ProtobufCMessageDescriptor *path[DEPTH + 8];
};

static ProtobufCMessage *fill_message(struct fill *f, const ProtobufCMessageDescriptor *d);

static bool wanted(const struct fill *f, const ProtobufCFieldDescriptor *d)
{
    if (d->label == PROTOBUF_C_LABEL_REQUIRED)
        return true;
    if (f->shape == MINIMAL ||
        (f->shape == EMPTY && (d->label == PROTOBUF_C_LABEL_REPEATED || f->depth > 1)))
        return false;
    if (d->type != PROTOBUF_C_TYPE_MESSAGE)
        return true;
    for (unsigned i = 0; i < f->depth; i++)
        if (f->path[i] == d->descriptor)
            return false;
    return f->depth < DEPTH;
}

static void fill_bytes(struct fill *f, const ProtobufCFieldDescriptor *d, void *at, int n)
{
    bool full = f->shape == FULL;
    if (d->type == PROTOBUF_C_TYPE_STRING) {
        *(char **)at = full ? sv_arena_printf(f->arena, "%s-%d \xc3\xa4", d->name, n)
                            : sv_arena_strdup(f->arena, "");
        return;
    }
    ProtobufCBinaryData *b = at;
    b->data = (uint8_t *)sv_arena_printf(f->arena, "%c%c%d", 1, 0xff, n);
    b->len = full ? strlen((char *)b->data) + 1 : 0;
}

static void fill_value(struct fill *f, const ProtobufCFieldDescriptor *d, void *at)
{
    int n = (int)++f->serial;
    bool full = f->shape == FULL;
    switch (d->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)at = fill_message(f, d->descriptor);
        break;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        fill_bytes(f, d, at, n);
        break;
    case PROTOBUF_C_TYPE_ENUM: {
        const ProtobufCEnumDescriptor *e = d->descriptor;
        *(int *)at = e->values[full ? (unsigned)n % e->n_values : 0].value;
        break;
    }
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)at = full;
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        *(float *)at = full ? (float)n + 0.5f : 0;
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)at = full ? n + 0.125 : 0;
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        *(int64_t *)at = !full ? 0 : n % 3 == 0 ? -n : n * INT64_C(1000000000000037);
        break;
    default:
        *(int32_t *)at = !full ? 0 : n % 3 == 0 ? -n : n * 10007;
        break;
    }
}

static size_t size_of(const ProtobufCFieldDescriptor *d)
{
    switch (d->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return 8;
    default:
        return 4;
    }
}

static void fill_field(struct fill *f, ProtobufCMessage *m, const ProtobufCFieldDescriptor *d)
{
    char *at = (char *)m + d->offset, *quantifier = (char *)m + d->quantifier_offset;
    if (d->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t n = f->depth <= 2 ? 2 : 1, size = size_of(d);
        char *list = sv_arena_calloc(f->arena, n, size);
        for (size_t i = 0; i < n; i++)
            fill_value(f, d, list + i * size);
        *(char **)at = list;
        *(size_t *)quantifier = n;
        return;
    }
    fill_value(f, d, at);
    if (d->label == PROTOBUF_C_LABEL_OPTIONAL && d->quantifier_offset)
        *(protobuf_c_boolean *)quantifier = 1;
}

static ProtobufCMessage *fill_message(struct fill *f, const ProtobufCMessageDescriptor *d)
{
    ProtobufCMessage *m = sv_arena_alloc(f->arena, d->sizeof_message);
    d->message_init(m);
    f->path[f->depth++] = d;
    for (unsigned i = 0; i < d->n_fields; i++)
        if (wanted(f, &d->fields[i]))
            fill_field(f, m, &d->fields[i]);
    f->depth--;
    return m;
}

/* ---- Bytes ---- */

struct bytes {
    uint8_t *data;
    size_t len;
};

static struct bytes pack(struct sv_arena *a, const ProtobufCMessage *m)
{
    struct bytes b = { .len = protobuf_c_message_get_packed_size(m) };
    b.data = sv_arena_alloc(a, b.len + 1);
    protobuf_c_message_pack(m, b.data);
    return b;
}

static bool equal(struct bytes x, struct bytes y)
{
    return x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
}

/* Appends an unknown field: a varint, or with `of` bytes. */
static void add_unknown(struct sv_arena *a, ProtobufCMessage *m, uint32_t tag, uint64_t v,
                        const uint8_t *of)
{
    ProtobufCMessageUnknownField *all =
        sv_newn(a, ProtobufCMessageUnknownField, m->n_unknown_fields + 1);
    if (m->n_unknown_fields > 0)
        memcpy(all, m->unknown_fields, m->n_unknown_fields * sizeof(*all));
    uint8_t *data = sv_arena_alloc(a, 10 + (of ? v : 0));
    size_t n = 0;
    uint64_t left = v;
    for (; left >= 0x80; left >>= 7)
        data[n++] = (uint8_t)(left | 0x80);
    data[n++] = (uint8_t)left;
    if (of) {
        memcpy(data + n, of, v);
        n += v;
    }
    all[m->n_unknown_fields++] = (ProtobufCMessageUnknownField){
        .tag = tag,
        .data = data,
        .len = n,
        .wire_type = of ? PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED : PROTOBUF_C_WIRE_TYPE_VARINT,
    };
    m->unknown_fields = all;
}

/* Takes ECHO_SEEN and ECHO_CONNS out of an answer and returns the first one's payload. */
static struct bytes take_seen(struct sv_arena *a, ProtobufCMessage *m)
{
    struct bytes seen = { NULL, 0 };
    ProtobufCMessageUnknownField *left =
        sv_newn(a, ProtobufCMessageUnknownField, m->n_unknown_fields + 1);
    unsigned n = 0;
    for (unsigned i = 0; i < m->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *f = &m->unknown_fields[i];
        size_t skip = 0;
        if (f->tag == ECHO_SEEN) {
            while (skip < f->len && f->data[skip] & 0x80)
                skip++;
            seen = (struct bytes){ f->data + skip + 1, f->len - skip - 1 };
        } else if (f->tag != ECHO_CONNS) {
            left[n++] = *f;
        }
    }
    m->n_unknown_fields = n;
    m->unknown_fields = left;
    return seen;
}

/* Describes the error in an answer; NULL = none. */
static const char *judge(struct sv_arena *a, const ProtobufCMessage *request,
                         const ProtobufCMessage *wanted_response, const ProtobufCMessage *answer)
{
    ProtobufCMessage *copy = sv_arena_memdup(a, answer, answer->descriptor->sizeof_message);
    struct bytes seen = take_seen(a, copy);
    if (!seen.data)
        return "the answer does not hold what the server saw";
    ProtobufCMessage *q =
        protobuf_c_message_unpack(request->descriptor, sv_arena_protobuf(a), seen.len, seen.data);
    if (!q || !equal(pack(a, q), pack(a, request)))
        return "the request has changed";
    return equal(pack(a, copy), pack(a, wanted_response)) ? NULL : "the response has changed";
}

/* ---- Calling ---- */

static struct ipc_client *connect_to(sd_event *event, struct sv_arena *a, size_t which,
                                     const uint16_t *ports)
{
    struct yarn_token t = { .kind = "", .service = "" };
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    struct ipc_client *c = NULL;
    int port = protocols[which].port, r = 0;
    if (port == AM) {
        t.kind = YARN_KIND_AMRM;
        r = yarn_amrm_token_encode(a, &(struct yarn_amrm_token){ .attempt = attempt, .key_id = 77 },
                                   &t.id, &t.id_len);
    } else if (port == NM) {
        struct yarn_nm_token nm = { .attempt = attempt,
                                    .submitter = "alice",
                                    .key_id = 77,
                                    .node = { .host = "127.0.0.1", .port = ports[NM] } };
        t.kind = YARN_KIND_NM;
        r = yarn_nm_token_encode(a, &nm, &t.id, &t.id_len);
    }
    if (r >= 0 && t.id)
        r = yarn_token_password(YARN_HMAC_SHA1, &key, t.id, t.id_len, password, &t.password_len);
    t.password = password;
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = ports[port],
                                     .version = 1,
                                     .user = "gustav",
                                     .token = t.id ? &t : NULL,
                                     .protocol = protocols[which].name };
    if (r < 0 || ipc_client_new(event, &cfg, &c, NULL) < 0)
        return NULL;
    return c;
}

static const char *call(struct ipc_client *c, const struct method *m, struct sv_arena *a,
                        ProtobufCMessage *request, const ProtobufCMessage *response)
{
    struct bytes reply = pack(a, response);
    add_unknown(a, request, ECHO_REPLY, reply.len, reply.data);
    ProtobufCMessage *answer = NULL;
    const char *java_class = NULL;
    struct sv_error err = { 0 };
    if (ipc_client_call_sync(c, m->name, request, m->response, a, &answer, &java_class, &err) >= 0)
        return judge(a, request, response, answer);
    if (java_class && strcmp(java_class, "org.apache.hadoop.ipc.RpcNoSuchMethodException") == 0)
        return "absent";
    return sv_arena_printf(a, "%s %.200s", java_class ? java_class : "", err.text);
}

static const char *every_shape(struct ipc_client *c, const struct method *m)
{
    static char why[400];
    for (enum shape s = 0; s < SHAPES; s++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        struct fill f = { .arena = a, .shape = s };
        ProtobufCMessage *request = fill_message(&f, m->request);
        const char *r = call(c, m, a, request, fill_message(&f, m->response));
        if (r && strcmp(r, "absent") == 0)
            return "absent";
        if (r) {
            snprintf(why, sizeof(why), "%s: %s", shape_names[s], r);
            return why;
        }
    }
    return NULL;
}

static void say(const char *protocol, const char *what, const char *r)
{
    if (!r)
        printf("ok %s %s\n", protocol, what);
    else if (strcmp(r, "absent") == 0)
        printf("absent %s %s\n", protocol, what);
    else
        printf("FAIL %s %s %s\n", protocol, what, r);
}

/* ---- Large messages, concurrent calls ---- */

static const char *bulk(struct ipc_client *c)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new((size_t)1 << 30);
    Hadoop__Yarn__StartContainersRequestProto q =
        HADOOP__YARN__START_CONTAINERS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__StartContainerRequestProto one =
        HADOOP__YARN__START_CONTAINER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ContainerLaunchContextProto context =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    Hadoop__Yarn__StartContainersResponseProto r =
        HADOOP__YARN__START_CONTAINERS_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__StringBytesMapProto meta = HADOOP__YARN__STRING_BYTES_MAP_PROTO__INIT;
    Hadoop__Yarn__StartContainerRequestProto *all[] = { &one };
    Hadoop__Yarn__StringBytesMapProto *metas[] = { &meta };
    uint8_t *noise = sv_arena_alloc(a, BULK);
    for (uint32_t i = 0, x = 1; i < BULK; i++, x = x * 1664525 + 1013904223)
        noise[i] = (uint8_t)(x >> 24);
    context.has_tokens = meta.has_value = 1;
    context.tokens = meta.value = (ProtobufCBinaryData){ .data = noise, .len = BULK };
    meta.key = (char *)"shuffle";
    one.container_launch_context = &context;
    q.n_start_container_request = r.n_services_meta_data = 1;
    q.start_container_request = all;
    r.services_meta_data = metas;
    return call(c, &container[0], a, &q.base, &r.base);
}

struct together {
    struct sv_arena *arena;
    sd_event *event;
    ProtobufCMessage *request[TOGETHER], *response[TOGETHER];
    size_t n_done;
    const char *why;
};

struct together_call {
    struct together *all;
    size_t i;
};

static void on_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct together_call *one = userdata;
    struct together *t = one->all;
    if (r->status < 0)
        t->why = sv_arena_printf(t->arena, "call %zu: %s", one->i, err->text);
    else if (!t->why)
        t->why = judge(t->arena, t->request[one->i], t->response[one->i], r->response);
    if (++t->n_done == TOGETHER)
        sd_event_exit(t->event, 0);
}

/* The server answers when all calls have arrived. */
static const char *together(sd_event *event, struct ipc_client *c, const struct method *m)
{
    static struct together t;
    struct together_call calls[TOGETHER];
    t = (struct together){ .arena = sv_arena_new(0), .event = event };
    for (size_t i = 0; i < TOGETHER; i++) {
        struct fill f = { .arena = t.arena, .serial = (unsigned)i * 100 };
        t.request[i] = fill_message(&f, m->request);
        t.response[i] = fill_message(&f, m->response);
        struct bytes reply = pack(t.arena, t.response[i]);
        add_unknown(t.arena, t.request[i], ECHO_REPLY, reply.len, reply.data);
        add_unknown(t.arena, t.request[i], ECHO_BATCH, TOGETHER, NULL);
        calls[i] = (struct together_call){ &t, i };
        if (ipc_client_call(c, m->name, t.request[i], m->response, 0, on_done, &calls[i]) < 0)
            return "a call was not taken";
    }
    (void)sd_event_loop(event);
    return t.why;
}

int main(int argc, char **argv)
{
    uint16_t ports[PORTS];
    sd_event *event = NULL;
    if (argc != PORTS + 1 || sd_event_default(&event) < 0) {
        fprintf(stderr, "usage: see the top of echo-client.c\n");
        return 2;
    }
    for (int i = 0; i < PORTS; i++)
        ports[i] = (uint16_t)strtoul(argv[i + 1], NULL, 10);
    for (size_t p = 0; p < SV_ARRAY_LEN(protocols); p++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        struct ipc_client *c = connect_to(event, a, p, ports);
        for (size_t i = 0; c && i < protocols[p].n; i++)
            say(protocols[p].name, protocols[p].methods[i].name,
                every_shape(c, &protocols[p].methods[i]));
        if (c && p == CONTAINER)
            say("-", "8 MiB there and back", bulk(c));
        ipc_client_free(c);
    }
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct ipc_client *c = connect_to(event, a, CLIENT, ports);
    say("-", "64 calls on one connection", c ? together(event, c, &client[5]) : "no client");
    ipc_client_free(c);
    sd_event_unref(event);
    return 0;
}
