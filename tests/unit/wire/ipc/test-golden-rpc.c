/* Tests wire/frame.c and the messages against recorded traffic between Apache's programs
 * (tests/golden/rpc, written by tests/interop/capture): every frame is decoded and encoded again to
 * the same bytes. Run in the top directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdlib.h>

#include "common/str.h"
#include "wire/frame.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

#define FILE_MAX (64 << 10)

#define ROW(name, request, response) { #name, &request##__descriptor, &response##__descriptor },
static const struct {
    const char *name;
    const ProtobufCMessageDescriptor *request, *response;
} methods[] = { YARN_RESOURCE_TRACKER_METHODS(ROW) YARN_CONTAINER_MANAGEMENT_METHODS(ROW)
                    YARN_APPLICATION_MASTER_METHODS(ROW) YARN_APPLICATION_CLIENT_METHODS(ROW) };

static struct sv_arena *a;
static uint8_t bytes[FILE_MAX];
static size_t n_bytes;

static void load(const char *path)
{
    unsigned byte;
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    for (n_bytes = 0; n_bytes < sizeof(bytes) && fscanf(f, "%2x", &byte) == 1;)
        bytes[n_bytes++] = (uint8_t)byte;
    fclose(f);
    assert_true(n_bytes > 0 && n_bytes < sizeof(bytes));
}

/* The next delimited message; encoding it again gives the same bytes. */
static void *next(struct sv_buf *b, const ProtobufCMessageDescriptor *d)
{
    const uint8_t *p;
    ProtobufCMessage *m;
    size_t n;
    assert_int_equal(ipc_delimited_get(b, &p, &n), 0);
    assert_int_equal(ipc_unpack(a, d, p, n, &m), 0);
    assert_int_equal(protobuf_c_message_get_packed_size(m), n);
    uint8_t *again = sv_arena_alloc(a, n + 1);
    assert_int_equal(protobuf_c_message_pack(m, again), n);
    assert_memory_equal(again, p, n);
    return m;
}

static struct sv_buf inside(const uint8_t *p, size_t n, size_t *ret_used)
{
    const uint8_t *frame;
    size_t len;
    assert_int_equal(ipc_frame_next(p, n, FILE_MAX, &frame, &len, ret_used), 1);
    return SV_BUF_VIEW(frame, len);
}

static const ProtobufCMessageDescriptor *of(const char *name, bool answer)
{
    size_t len = strcspn(name, ".");
    for (size_t i = 0; i < SV_ARRAY_LEN(methods); i++)
        if (strncmp(methods[i].name, name, len) == 0 && methods[i].name[len] == 0)
            return answer ? methods[i].response : methods[i].request;
    fail_msg("%s: not a method", name);
    return NULL;
}

/* Tokens inside are of known kinds with readable identifiers. */
static void check_token(const Hadoop__Common__TokenProto *m)
{
    struct yarn_container_token c;
    struct yarn_nm_token nm;
    if (strcmp(m->kind, YARN_KIND_CONTAINER) == 0)
        assert_int_equal(
            yarn_container_token_decode(m->identifier.data, m->identifier.len, &c, NULL), 0);
    else if (strcmp(m->kind, YARN_KIND_NM) == 0)
        assert_int_equal(yarn_nm_token_decode(m->identifier.data, m->identifier.len, &nm, NULL), 0);
    else
        fail_msg("a token of kind %s", m->kind);
}

static void check_inside(const ProtobufCMessage *m)
{
    if (m->descriptor == &hadoop__yarn__start_containers_request_proto__descriptor) {
        const Hadoop__Yarn__StartContainersRequestProto *s = (const void *)m;
        struct yarn_credentials c;
        assert_true(s->n_start_container_request > 0);
        check_token(s->start_container_request[0]->container_token);
        const ProtobufCBinaryData *t =
            &s->start_container_request[0]->container_launch_context->tokens;
        assert_int_equal(yarn_credentials_parse(t->data, t->len, a, &c, NULL), 0);
        assert_true(c.n_tokens > 0);
    } else if (m->descriptor == &hadoop__yarn__allocate_response_proto__descriptor) {
        const Hadoop__Yarn__AllocateResponseProto *r = (const void *)m;
        assert_true(r->n_allocated_containers > 0 && r->n_nm_tokens > 0);
        check_token(r->allocated_containers[0]->container_token);
        check_token(r->nm_tokens[0]->token);
    }
}

static void check_call(const char *name, bool answer)
{
    size_t used;
    struct sv_buf b = inside(bytes, n_bytes, &used);
    assert_int_equal(used, n_bytes);
    if (answer) {
        (void)next(&b, &hadoop__common__rpc_response_header_proto__descriptor);
    } else {
        (void)next(&b, &hadoop__common__rpc_request_header_proto__descriptor);
        Hadoop__Common__RequestHeaderProto *h =
            next(&b, &hadoop__common__request_header_proto__descriptor);
        assert_int_equal(strlen(h->methodname), strcspn(name, "."));
        assert_memory_equal(h->methodname, name, strlen(h->methodname));
    }
    check_inside(next(&b, of(name, answer)));
    assert_int_equal(sv_buf_left(&b), 0);
}

static void check_exception(const char *name)
{
    size_t used;
    struct sv_buf b = inside(bytes, n_bytes, &used);
    Hadoop__Common__RpcResponseHeaderProto *h =
        next(&b, &hadoop__common__rpc_response_header_proto__descriptor);
    assert_int_equal(h->status, HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__RPC_STATUS_PROTO__ERROR);
    const char *simple = strrchr(h->exceptionclassname, '.');
    assert_non_null(simple);
    assert_int_equal(strncmp(simple, name + strlen("exception"), strlen(simple)), 0);
    assert_true(strlen(h->errormsg) > 0);
}

/* All frames of one side before the first call. */
static void check_connection(bool client)
{
    size_t at = client ? 7 : 0, used;
    bool sasl = client && bytes[6] == IPC_AUTH_SASL;
    if (client)
        assert_memory_equal(bytes, "hrpc\x09\0", 6);
    for (; at < n_bytes; at += used) {
        struct sv_buf b = inside(bytes + at, n_bytes - at, &used);
        if (!client) {
            (void)next(&b, &hadoop__common__rpc_response_header_proto__descriptor);
            (void)next(&b, &hadoop__common__rpc_sasl_proto__descriptor);
            continue;
        }
        Hadoop__Common__RpcRequestHeaderProto *h =
            next(&b, &hadoop__common__rpc_request_header_proto__descriptor);
        if (h->callid == IPC_CALL_SASL)
            (void)next(&b, &hadoop__common__rpc_sasl_proto__descriptor);
        else if (h->callid == IPC_CALL_CONTEXT)
            (void)next(&b, &hadoop__common__ipc_connection_context_proto__descriptor);
        else
            (void)next(&b, &hadoop__common__request_header_proto__descriptor);
        assert_true(sasl || h->callid != IPC_CALL_SASL);
    }
}

static int check_file(const char *dir, const char *name)
{
    char path[512];
    if (name[0] == '.')
        return 0;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    load(path);
    a = sv_arena_new(0);
    if (strncmp(name, "connection.", 11) == 0)
        check_connection(strstr(name, ".client.") != NULL);
    else if (strncmp(name, "exception.", 10) == 0)
        check_exception(name);
    else
        check_call(name, strstr(name, ".answer.") != NULL);
    a = sv_arena_free(a);
    return 1;
}

static void check_version(void **state)
{
    char dir[256];
    snprintf(dir, sizeof(dir), "tests/golden/rpc/%s", (const char *)*state);
    DIR *d = opendir(dir);
    int n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += check_file(dir, e->d_name);
    closedir(d);
    assert_true(n >= 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "what 2.10.2 said", check_version, NULL, NULL, (void *)(uintptr_t) "2.10.2" },
        { "what 3.4.2 said", check_version, NULL, NULL, (void *)(uintptr_t) "3.4.2" },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
