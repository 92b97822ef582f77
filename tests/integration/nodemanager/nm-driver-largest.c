/* nm-driver's largest messages, for test-largest-requests: each list and text of an
 * ApplicationMaster's request, or of the ResourceManager's answer, as long as it may be, alone and
 * beside all other fields. A request that is refused is sent again with half of it, until it is
 * accepted: so the cost of what is accepted is seen, too. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/buf.h"
#include "common/str.h"
#include "tests/integration/nodemanager/nm-driver.h"
#include "tests/lib/largest-request.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-client.h"

#define TEXT_MAX (1 << 20) /* of a long text */
#define REQUEST_ARENA ((size_t)1 << 30)
#define PATIENCE_MS 120000
#define NEW_FIRST 100000 /* number of the first container that a largest request starts */
#define NEW_OF_A_REQUEST 8
#define SERVICE "large" /* the auxiliary service of the test */
#define RESOURCE "/etc/hostname"

static struct {
    int64_t next; /* container to be started; 0: none yet */
    int version;  /* of the last update */
    const struct largest_load *load;
    const struct largest_path *path; /* of the next answer of the ResourceManager */
    bool bare;
    int heartbeats; /* the number that has to be reached */
    struct sv_arena *arena;
    size_t size;
} g;

/* ---- Values ---- */

static ProtobufCBinaryData bytes_of(struct sv_arena *a, const void *p, size_t n)
{
    uint8_t *copy = sv_arena_calloc(a, n + 1, 1);

    if (!copy)
        die("memory of a request", -ENOMEM);
    memcpy(copy, p, n);
    return (ProtobufCBinaryData){ .len = n, .data = copy };
}

static ProtobufCBinaryData credentials(struct sv_arena *a, size_t n)
{
    struct yarn_credentials c = { .n_secrets = n / 16 };
    struct sv_buf out = SV_BUF_INIT((size_t)4 << 20);
    ProtobufCBinaryData ret;
    int r;

    c.secrets = sv_arena_calloc(a, c.n_secrets + 1, sizeof(*c.secrets));
    for (size_t i = 0; c.secrets && i < c.n_secrets; i++) {
        c.secrets[i].alias = sv_arena_printf(a, "s%zu", i);
        c.secrets[i].secret = (const uint8_t *)"word";
        c.secrets[i].len = 4;
    }
    r = c.secrets ? yarn_credentials_write(&c, &out) : -ENOMEM;
    if (r < 0)
        die("credentials", r);
    ret = bytes_of(a, out.data, out.len);
    sv_buf_free(&out);
    return ret;
}

static ProtobufCBinaryData service(struct sv_arena *a, size_t n)
{
    (void)n;
    return bytes_of(a, SERVICE, strlen(SERVICE));
}

static const struct largest_text texts[] = {
    { NULL, "tokens", credentials },
    { NULL, "credentialsForApp", credentials },
    { &hadoop__yarn__string_bytes_map_proto__descriptor, "key", service },
    { 0 },
};

static const ProtobufCMessage *resource(struct sv_arena *a)
{
    Hadoop__Yarn__LocalResourceProto *m = sv_new(a, Hadoop__Yarn__LocalResourceProto);
    Hadoop__Yarn__URLProto *url = sv_new(a, Hadoop__Yarn__URLProto);
    struct stat st = { 0 };

    if (!m || !url || stat(RESOURCE, &st) < 0)
        die(RESOURCE, -ENOENT);
    hadoop__yarn__local_resource_proto__init(m);
    hadoop__yarn__urlproto__init(url);
    url->scheme = (char *)(uintptr_t) "file";
    url->file = (char *)(uintptr_t)RESOURCE;
    m->resource = url;
    m->has_size = m->has_timestamp = m->has_type = m->has_visibility = true;
    m->size = st.st_size;
    m->timestamp = st.st_mtim.tv_sec * 1000LL + st.st_mtim.tv_nsec / 1000000;
    m->type = HADOOP__YARN__LOCAL_RESOURCE_TYPE_PROTO__FILE;
    m->visibility = HADOOP__YARN__LOCAL_RESOURCE_VISIBILITY_PROTO__PUBLIC;
    return &m->base;
}

/* ContainerTokens of new containers, or updates of those that run. */
static const ProtobufCMessage **tokens(struct sv_arena *a, const struct largest_load *l, bool new,
                                       size_t *ret_n)
{
    const struct yarn_resource size = { 64, 1, 0 };
    size_t n = new ? NEW_OF_A_REQUEST : (size_t)l->n;
    const ProtobufCMessage **list = sv_newn(a, const ProtobufCMessage *, n);

    g.next = SV_MAX(g.next, (int64_t)NEW_FIRST);
    g.version += !new;
    for (size_t i = 0; list && i < n; i++)
        list[i] = (const ProtobufCMessage *)am_container_token(
            a, l->app, new ? g.next++ : 1 + (int64_t)i, l->user, size, new ? 0 : g.version, "");
    *ret_n = n;
    return list;
}

static const ProtobufCMessage *id(struct sv_arena *a, bool app, int number, int64_t n)
{
    return app ? (const void *)yarn_app_id_to(a, app_id(number))
               : (const void *)yarn_container_id_to(a, container_id(number, n));
}

/* Containers or applications of the load. An ApplicationMaster names the first container in every
 * second row. The first id of the ResourceManager is of none, so that only a list that is
 * lengthened ends anything. */
static const ProtobufCMessage **ids(struct sv_arena *a, const struct largest_load *l, bool apps,
                                    bool rm_asks, size_t *ret_n)
{
    size_t n = apps ? (size_t)SV_MAX(l->app_last - l->app + 1, 1) : (size_t)l->n;
    const ProtobufCMessage **list = sv_newn(a, const ProtobufCMessage *, 2 * n + 1);

    *ret_n = 0;
    if (!list)
        die("memory of ids", -ENOMEM);
    if (rm_asks)
        list[(*ret_n)++] = id(a, apps, 4000, 1);
    for (size_t i = 0; i < n; i++) {
        if (!apps && !rm_asks)
            list[(*ret_n)++] = id(a, false, l->app, 1);
        list[(*ret_n)++] = id(a, apps, apps ? l->app + (int)i : l->app, 1 + (int64_t)i);
    }
    return list;
}

static void fill(struct sv_arena *a, ProtobufCMessage *m, const struct largest_load *l,
                 const struct largest_path *p, struct largest_size size)
{
    const bool start = m->descriptor == &hadoop__yarn__start_containers_request_proto__descriptor;
    const bool rm_asks = m->descriptor == &hadoop__yarn__node_heartbeat_response_proto__descriptor;
    static Hadoop__Yarn__MasterKeyProto key;
    struct largest_known known[] = {
        { .type = &hadoop__yarn__container_id_proto__descriptor },
        { .type = &hadoop__yarn__application_id_proto__descriptor },
        { .type = &hadoop__common__token_proto__descriptor },
        { .type = &hadoop__yarn__local_resource_proto__descriptor, .value = resource(a) },
        { .type = &hadoop__yarn__resource_proto__descriptor,
          .value = (const void *)yarn_resource_to(a, (struct yarn_resource){ 65536, 64, 0 }) },
        { .type = &hadoop__yarn__master_key_proto__descriptor, .value = &key.base },
        { 0 },
    };
    const struct largest_hints hints = { known, texts };

    hadoop__yarn__master_key_proto__init(&key); /* of both kinds of tokens */
    key.has_key_id = key.has_bytes = true;
    key.key_id = rm.container_key.key_id;
    key.bytes = (ProtobufCBinaryData){ rm.container_key.len, rm.container_key.bytes };
    known[0].values = ids(a, l, false, rm_asks, &known[0].n);
    known[1].values = ids(a, l, true, rm_asks, &known[1].n);
    known[2].values = tokens(a, l, start, &known[2].n);
    largest_fill(a, m, p, &hints, size);
}

static struct largest_size full_size(bool bare)
{
    return (struct largest_size){ IPC_REQUEST_ITEMS_MAX - 64, TEXT_MAX, bare };
}

/* ---- Requests of an ApplicationMaster ---- */

struct method {
    const char *name;
    const ProtobufCMessageDescriptor *request, *response;
};
#define ROW(name, request, response) { #name, &request##__descriptor, &response##__descriptor },
static const struct method methods[] = { YARN_CONTAINER_MANAGEMENT_METHODS(ROW) };

/* Is no row of the answer a failure? */
static bool all_accepted(const ProtobufCMessage *answer)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(answer->descriptor, "failed_requests");

    return !f || *(const size_t *)(const void *)((const char *)answer + f->quantifier_offset) == 0;
}

static bool send_one(const struct largest_load *l, const struct method *method,
                     const struct largest_path *p, struct largest_size size)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(REQUEST_ARENA);
    ProtobufCMessage *m = a ? sv_arena_alloc(a, method->request->sizeof_message) : NULL, *answer;
    const char *class = NULL;
    struct sv_error err = { 0 };

    if (!m)
        die("memory of a request", -ENOMEM);
    protobuf_c_message_init(method->request, m);
    fill(a, m, l, p, size);
    g.size = SV_MAX(g.size, protobuf_c_message_get_packed_size(m));
    return ipc_client_call_sync(am_client(l->app, "?", ""), method->name, m, method->response, a,
                                &answer, &class, &err) >= 0 &&
           all_accepted(answer);
}

static json_t *results(size_t requests, size_t refused)
{
    json_t *j = json_pack("{s:I,s:I,s:I}", "requests", (json_int_t)requests, "refused",
                          (json_int_t)refused, "largest", (json_int_t)g.size);

    g.size = 0;
    return j;
}

json_t *largest_call(const struct largest_load *load, const char *name)
{
    struct largest_path paths[LARGEST_PATHS] = { 0 };
    const struct method *method = methods;
    size_t n, refused = 0;

    while (!sv_streq(method->name, name))
        if (++method == methods + SV_ARRAY_LEN(methods))
            return json_pack("{s:s}", "error", "no such method");
    n = SV_MAX(largest_paths(method->request, paths), (size_t)1);
    if (n == LARGEST_PATHS)
        die("more lists and texts than LARGEST_PATHS", -E2BIG);
    for (size_t i = 0; i < 2 * n; i++) {
        struct largest_size size = full_size(i % 2);
        bool good, smaller = true;

        while (!(good = send_one(load, method, &paths[i / 2], size)) && smaller)
            smaller = largest_halve(&size);
        refused += !good;
    }
    return results(2 * n, refused);
}

/* ---- Answers of the ResourceManager ---- */

static void fill_answer(ProtobufCMessage *m)
{
    sv_arena_free(g.arena);
    g.arena = sv_arena_new(REQUEST_ARENA);
    fill(g.arena, m, g.load, g.path, full_size(g.bare));
    g.size = SV_MAX(g.size, protobuf_c_message_get_packed_size(m));
    g.path = NULL;
}

static void change_heartbeat(Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    if (!g.path)
        return;
    if (g.bare) /* else of the largest one */
        m->n_containers_to_be_removed_from_nm = 0;
    fill_answer(&m->base);
    m->nextheartbeatinterval = rm.heartbeat_ms;
    g.heartbeats = rm.heartbeats + 2;
}

static void change_registration(Hadoop__Yarn__RegisterNodeManagerResponseProto *m)
{
    if (!g.path)
        return;
    fill_answer(&m->base);
    g.heartbeats = rm.heartbeats + 2;
}

static bool has_answered(int64_t arg)
{
    (void)arg;
    return !g.path && rm.heartbeats >= g.heartbeats;
}

/* With each path that begins with the field; -1: with all. */
static json_t *answers(const struct largest_load *load, const ProtobufCMessageDescriptor *d,
                       int field)
{
    struct largest_path paths[LARGEST_PATHS] = { 0 };
    size_t n = largest_paths(d, paths), sent = 0;
    bool good = true;

    rm.nm_key = rm.container_key;
    am_forget_clients();
    for (size_t i = 0; i < 2 * n && good; i++) {
        if (field >= 0 && paths[i / 2].field[0] != (unsigned)field)
            continue;
        g.load = load;
        g.bare = i % 2;
        g.path = &paths[i / 2];
        rm.resync = rm.registration != NULL;
        good = run_until(has_answered, 0, PATIENCE_MS);
        sent++;
    }
    rm.heartbeat = NULL;
    rm.registration = NULL;
    return good ? results(sent, 0)
                : json_pack("{s:s}", "error", "the NodeManager asks for no more answers");
}

json_t *largest_fields(void)
{
    const ProtobufCMessageDescriptor *d = &hadoop__yarn__node_heartbeat_response_proto__descriptor;
    json_t *names = json_array();

    for (unsigned i = 0; i < d->n_fields; i++)
        json_array_append_new(names, json_string(d->fields[i].name));
    return json_pack("{s:o}", "fields", names);
}

json_t *largest_heartbeat(const struct largest_load *load, const char *name)
{
    const ProtobufCMessageDescriptor *d = &hadoop__yarn__node_heartbeat_response_proto__descriptor;
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(d, name);

    if (!f)
        return json_pack("{s:s}", "error", "no such field");
    rm.heartbeat = change_heartbeat;
    return answers(load, d, (int)(f - d->fields));
}

json_t *largest_registration(const struct largest_load *load)
{
    rm.registration = change_registration;
    return answers(load, &hadoop__yarn__register_node_manager_response_proto__descriptor, -1);
}
