/* See namenode.h. Hostile: the answers, validated by answers.c, and the texts of exceptions. */
#include "hdfs/namenode.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "hdfs/namenode-call.h"
#include "wire/ipc/methods-hdfs.h"
#include "wire/ipc/proxy.h"
#include "wire/sasl/qop.h"

/* Hadoop's defaults of ipc.client.connect.*. */
#define CALL_MS 60000
#define CONNECT_RETRIES 10
#define CONNECT_INTERVAL_MS 1000
#define SINGLE_WAIT_MS 20000 /* wait for a single NameNode to come back */

struct hdfs_namenode {
    sd_event *event;
    struct ipc_proxy *proxy;
    const struct hdfs_tickets *tickets;
    struct ipc_kerberos *kerberos; /* of the tickets; NULL: none are used */
    struct hdfs_encryption encryption;
};

struct hdfs_encryption *hdfs_namenode_encryption(struct hdfs_namenode *n)
{
    return &n->encryption;
}

struct pending {
    struct sv_arena *a;
    struct sv_error *err;
    ProtobufCMessage *answer;
    int status;
    bool over;
};

static void policy(const struct hdfs_failover *f, struct ipc_proxy_config *c)
{
    bool several = c->n_servers > 1;

    c->retry = (struct ipc_retry_policy){
        .kind = several ? IPC_RETRY_FAILOVER : IPC_RETRY_RM,
        .connect_retries = several ? 0 : CONNECT_RETRIES,
        .connect_interval_ms = CONNECT_INTERVAL_MS,
        .max_wait_ms = SINGLE_WAIT_MS,
        .interval_ms = CONNECT_INTERVAL_MS,
        .max_failovers = (int)f->attempts,
        .base_ms = f->base_ms,
        .max_ms = f->max_ms,
    };
}

/* Simple authentication would be what an impostor of the NameNode waits for. */
static int no_token(const struct hdfs_site *site, struct sv_error *err)
{
    bool logical = site->nameservice[0];

    return sv_error_set(err, -EKEYREJECTED,
                        "no delegation token (HDFS_DELEGATION_TOKEN) for %s%s: the cluster is "
                        "secure (hadoop.security.authentication), and knows no other caller",
                        logical ? "ha-hdfs:" : "",
                        logical ? site->nameservice : site->servers[0].host);
}

int hdfs_namenode_new_as(const struct hdfs_site *site, const char *user,
                         const struct yarn_token *token, const struct hdfs_tickets *tickets,
                         struct hdfs_namenode **ret, struct sv_error *err)
{
    _cleanup_(hdfs_namenode_freep) struct hdfs_namenode *n = NULL;
    struct ipc_proxy_config c = {
        .client = { .protocol = HDFS_CLIENT_PROTOCOL,
                    .version = 1,
                    .user = user,
                    .token = token,
                    .qop_mask = site->rpc_qop ? site->rpc_qop : IPC_QOP_ALL,
                    .call_ms = CALL_MS,
                    .idle_ms = -1,
                    .max_frame = HDFS_RPC_MAX },
    };
    int r;

    if (site->secure && !token && !tickets)
        return no_token(site, err);
    n = calloc(1, sizeof(*n));
    r = n ? sd_event_new(&n->event) : -ENOMEM;
    if (r >= 0 && site->secure && !token) {
        n->tickets = tickets;
        r = tickets->open(tickets, n->event, &n->kerberos);
        c.client.kerberos = r < 0 ? NULL : n->kerberos;
        c.client.for_user = tickets->for_user;
    }
    if (r < 0)
        return sv_error_errno(err, r, "client of the NameNode");
    for (unsigned i = 0; i < site->n_servers; i++) {
        c.servers[i].host = site->servers[i].host;
        c.servers[i].port = site->servers[i].port;
    }
    c.n_servers = site->n_servers;
    policy(&site->failover, &c);
    r = ipc_proxy_new(n->event, &c, &n->proxy, err);
    if (r < 0)
        return r;
    *ret = SV_TAKE(n);
    return 0;
}

int hdfs_namenode_new(const struct hdfs_site *site, const char *user, struct hdfs_namenode **ret,
                      struct sv_error *err)
{
    return hdfs_namenode_new_as(site, user, NULL, NULL, ret, err);
}

struct hdfs_namenode *hdfs_namenode_free(struct hdfs_namenode *n)
{
    if (!n)
        return NULL;
    n->proxy = ipc_proxy_free(n->proxy);
    if (n->kerberos)
        n->tickets->close(n->kerberos);
    sd_event_unref(n->event);
    explicit_bzero(&n->encryption, sizeof(n->encryption));
    free(n);
    return NULL;
}

/* Cuts the text to its first line: the rest is a stack trace. */
static void first_line(struct sv_error *err)
{
    if (err)
        err->text[strcspn(err->text, "\r\n")] = 0;
}

static void on_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct pending *p = userdata;
    _cleanup_free_ uint8_t *packed = NULL;
    size_t n;

    p->over = true;
    p->status = r->status == -EREMOTEIO ? hdfs_answer_exception(r->java_class) : r->status;
    if (r->status < 0) {
        if (p->err && err) {
            *p->err = *err;
            p->err->code = p->status;
            first_line(p->err);
        }
        return;
    }
    /* Copied into the arena by packing and unpacking: protobuf-c has no deep copy. */
    n = protobuf_c_message_get_packed_size(r->response);
    packed = malloc(n + 1);
    if (packed) {
        protobuf_c_message_pack(r->response, packed);
        p->answer =
            protobuf_c_message_unpack(r->response->descriptor, sv_arena_protobuf(p->a), n, packed);
    }
    if (!p->answer)
        p->status = sv_error_set(p->err, -ENOMEM, "the NameNode's answer is too large");
}

int hdfs_namenode_call(struct hdfs_namenode *n, const char *method, const ProtobufCMessage *request,
                       const ProtobufCMessageDescriptor *response, struct sv_arena *a,
                       ProtobufCMessage **ret, struct sv_error *err)
{
    struct pending p = { .a = a, .err = err };
    int r = -ENOTCONN;

    if (n->proxy)
        r = ipc_proxy_call(n->proxy, method, request, response, 0, on_done, &p, NULL);
    if (r < 0)
        return sv_error_errno(err, r, "NameNode: %s", method);
    while (!p.over) {
        r = sd_event_run(n->event, UINT64_MAX);
        if (r < 0 && r != -EINTR)
            n->proxy = ipc_proxy_free(n->proxy); /* aborts the call: `p` is on this stack */
    }
    if (p.status < 0)
        return p.status;
    *ret = p.answer;
    return 0;
}

int hdfs_get_owned_info(struct hdfs_namenode *n, const char *path, struct hdfs_status *ret,
                        struct hdfs_owner *ret_owner, struct sv_error *err)
{
    Hadoop__Hdfs__GetFileInfoRequestProto q = HADOOP__HDFS__GET_FILE_INFO_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    ProtobufCMessage *m = NULL;
    const Hadoop__Hdfs__HdfsFileStatusProto *fs;
    int r;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "NameNode");
    q.src = (char *)(uintptr_t)path;
    r = hdfs_namenode_call(n, "getFileInfo", &q.base,
                           &hadoop__hdfs__get_file_info_response_proto__descriptor, a, &m, err);
    if (r < 0)
        return r;
    fs = ((const Hadoop__Hdfs__GetFileInfoResponseProto *)m)->fs;
    if (!fs)
        return sv_error_set(err, -ENOENT, "%s does not exist", path);
    r = hdfs_answer_status(fs, ret, err);
    return r == 0 && ret_owner ? hdfs_answer_owner(fs, ret_owner, err) : r;
}

int hdfs_get_file_info(struct hdfs_namenode *n, const char *path, struct hdfs_status *ret,
                       struct sv_error *err)
{
    return hdfs_get_owned_info(n, path, ret, NULL, err);
}

int hdfs_get_listing(struct hdfs_namenode *n, const char *path, const char *after,
                     struct sv_arena *a, struct hdfs_listing *ret, struct sv_error *err)
{
    Hadoop__Hdfs__GetListingRequestProto q = HADOOP__HDFS__GET_LISTING_REQUEST_PROTO__INIT;
    const Hadoop__Hdfs__DirectoryListingProto *list;
    ProtobufCMessage *m = NULL;
    int r;

    q.src = (char *)(uintptr_t)path;
    q.startafter.data = (uint8_t *)(uintptr_t)after;
    q.startafter.len = strlen(after);
    r = hdfs_namenode_call(n, "getListing", &q.base,
                           &hadoop__hdfs__get_listing_response_proto__descriptor, a, &m, err);
    if (r < 0)
        return r;
    list = ((const Hadoop__Hdfs__GetListingResponseProto *)m)->dirlist;
    return list ? hdfs_answer_listing(list, a, ret, err)
                : sv_error_set(err, -ENOENT, "%s does not exist", path);
}

int hdfs_namenode_defaults(struct hdfs_namenode *n, struct sv_arena *a,
                           const Hadoop__Hdfs__FsServerDefaultsProto **ret, struct sv_error *err)
{
    Hadoop__Hdfs__GetServerDefaultsRequestProto q =
        HADOOP__HDFS__GET_SERVER_DEFAULTS_REQUEST_PROTO__INIT;
    ProtobufCMessage *m = NULL;
    int r = hdfs_namenode_call(n, "getServerDefaults", &q.base,
                               &hadoop__hdfs__get_server_defaults_response_proto__descriptor, a, &m,
                               err);
    const Hadoop__Hdfs__FsServerDefaultsProto *d;

    if (r < 0)
        return r;
    d = ((const Hadoop__Hdfs__GetServerDefaultsResponseProto *)m)->serverdefaults;
    n->encryption.known = true;
    n->encryption.on = d->has_encryptdatatransfer && d->encryptdatatransfer;
    *ret = d;
    return 0;
}

int hdfs_get_server_defaults(struct hdfs_namenode *n, bool *ret_encrypted, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Hdfs__FsServerDefaultsProto *d = NULL;
    int r = a ? hdfs_namenode_defaults(n, a, &d, err) : sv_error_errno(err, -ENOMEM, "NameNode");

    if (r == 0)
        *ret_encrypted = d->has_encryptdatatransfer && d->encryptdatatransfer;
    return r;
}

int hdfs_get_block_locations(struct hdfs_namenode *n, const char *path, uint64_t from,
                             uint64_t size, uint64_t length, struct sv_arena *a,
                             const Hadoop__Hdfs__LocatedBlocksProto **ret, struct sv_error *err)
{
    Hadoop__Hdfs__GetBlockLocationsRequestProto q =
        HADOOP__HDFS__GET_BLOCK_LOCATIONS_REQUEST_PROTO__INIT;
    const Hadoop__Hdfs__LocatedBlocksProto *blocks;
    ProtobufCMessage *m = NULL;
    int r;

    q.src = (char *)(uintptr_t)path;
    q.offset = from;
    q.length = size;
    r = hdfs_namenode_call(n, "getBlockLocations", &q.base,
                           &hadoop__hdfs__get_block_locations_response_proto__descriptor, a, &m,
                           err);
    if (r < 0)
        return r;
    blocks = ((const Hadoop__Hdfs__GetBlockLocationsResponseProto *)m)->locations;
    if (!blocks)
        return sv_error_set(err, -ENOENT, "%s does not exist", path);
    r = hdfs_answer_blocks(blocks, from, length, err);
    if (r < 0)
        return r;
    *ret = blocks;
    return 0;
}

int hdfs_report_bad_block(struct hdfs_namenode *n, const Hadoop__Hdfs__LocatedBlockProto *b,
                          size_t index, struct sv_error *err)
{
    Hadoop__Hdfs__ReportBadBlocksRequestProto q =
        HADOOP__HDFS__REPORT_BAD_BLOCKS_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Hdfs__LocatedBlockProto one = *b, *list = &one;
    ProtobufCMessage *m = NULL;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "NameNode");
    one.n_locs = 1;
    one.locs = b->locs + index;
    one.n_storageids = index < b->n_storageids ? 1 : 0;
    one.storageids = one.n_storageids ? b->storageids + index : NULL;
    one.n_storagetypes = index < b->n_storagetypes ? 1 : 0;
    one.storagetypes = one.n_storagetypes ? b->storagetypes + index : NULL;
    one.n_iscached = 0;
    q.n_blocks = 1;
    q.blocks = &list;
    return hdfs_namenode_call(n, "reportBadBlocks", &q.base,
                              &hadoop__hdfs__report_bad_blocks_response_proto__descriptor, a, &m,
                              err);
}
