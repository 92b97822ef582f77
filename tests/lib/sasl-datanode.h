/* A DataNode's side of the SASL handshake, on a thread, for unit tests: each of its messages may be
 * spoilt. Afterwards it sends back what it is sent. */
#ifndef SELVEDGE_TESTS_LIB_SASL_DATANODE_H
#define SELVEDGE_TESTS_LIB_SASL_DATANODE_H

#include <endian.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "common/buf.h"
#include "hdfs/aes-bytes.h"
#include "hdfs/connection.h"
#include "hdfs/delimited.h"
#include "hdfs/wrapped-bytes.h"
#include "proto/hdfs_datanode.pb-c.h"
#include "wire/sasl/digest-layer.h"
#include "wire/sasl/digest.h"
#include "wire/sasl/qop.h"

#define SASL_DATANODE_USER "7 BP-1 bm9uY2U="
#define SASL_DATANODE_PASSWORD "c2VjcmV0"

struct sasl_datanode {
    /* Its behaviour. */
    const char *qops;   /* "auth,auth-int,auth-conf" */
    const char *cipher; /* directives of the challenge, ending with ',' */
    const char *realm;  /* NULL: "0" */
    size_t aes;         /* bytes of the keys that it chooses for AES; 0: it does not */
    size_t aes_iv;      /* bytes of their counter blocks; 0: as many as there must be */
    int aes_suite;      /* 0: AES/CTR */
    size_t n_options;   /* 0: one with AES */
    bool aes_early;     /* in its first message */
    bool aes_forged;    /* the keys are not in its layer */
    bool impostor;      /* it does not know the password */
    int status[2];      /* of its two messages */
    bool token_error;
    size_t padding;       /* bytes behind the challenge */
    const uint8_t *raw;   /* sent in place of its first message */
    size_t n_raw;         /* 0 with raw: it closes the connection */
    const uint8_t *frame; /* sent as it is, after the handshake */
    size_t n_frame;
    size_t echo; /* bytes that it sends back */

    /* Its findings. */
    uint32_t magic;
    bool first_empty; /* the first message has an empty payload, and no more */
    bool offered_aes;
    bool proven; /* user, password and service are those that it expects */
    char qop[16];

    /* Private. */
    struct hdfs_connection *connection;
    pthread_t thread;
};

#define NONCE "bm9uY2U="

typedef Hadoop__Hdfs__DataTransferEncryptorMessageProto sasl_message;

struct keys {
    uint8_t in[64], out[64], wrapped_in[128], wrapped_out[128], iv[2][32];
    Hadoop__Hdfs__CipherOptionProto option, *list[2];
};

static sasl_message *hear(struct sasl_datanode *d)
{
    uint8_t *p = NULL;
    size_t n = 0;
    sasl_message *m;

    if (hdfs_receive_delimited(d->connection, &p, &n, NULL) < 0)
        return NULL;
    m = hadoop__hdfs__data_transfer_encryptor_message_proto__unpack(NULL, n, p);
    free(p);
    return m;
}

static void forget(sasl_message *m)
{
    hadoop__hdfs__data_transfer_encryptor_message_proto__free_unpacked(m, NULL);
}

static int say(struct sasl_datanode *d, int number, const char *text, size_t padding,
               struct keys *keys)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    sasl_message m = HADOOP__HDFS__DATA_TRANSFER_ENCRYPTOR_MESSAGE_PROTO__INIT;
    uint8_t payload[8192] = { 0 };

    m.status = (__typeof__(m.status))d->status[number];
    m.message = (char *)(uintptr_t) "the DataNode says so";
    m.has_accesstokenerror = m.accesstokenerror = d->token_error;
    m.has_payload = true;
    m.payload = (ProtobufCBinaryData){ strlen(text) + padding, payload };
    memcpy(payload, text, strlen(text));
    if (keys) {
        m.n_cipheroption = d->n_options ? d->n_options : 1;
        m.cipheroption = keys->list;
    }
    return hdfs_put_delimited(&b, &m.base) == 0 ? hdfs_send(d->connection, b.data, b.len, NULL)
                                                : -1;
}

/* Keys that the client must find, in the layer. */
static void make_keys(struct sasl_datanode *d, struct sasl_layer *layer, struct keys *k)
{
    size_t n = d->aes, size = layer ? ipc_sasl_layer_size(layer, n) : n;
    size_t iv = d->aes_iv ? d->aes_iv : HDFS_IV;

    for (size_t i = 0; i < sizeof(k->in); i++) {
        k->in[i] = (uint8_t)(i * 7);
        k->out[i] = (uint8_t)(i * 11 + 1);
    }
    memset(k->iv[0], 0x11, sizeof(k->iv[0]));
    memset(k->iv[1], 0xff, sizeof(k->iv[1])); /* the counter wraps at once */
    memcpy(k->wrapped_in, k->in, n);
    memcpy(k->wrapped_out, k->out, n);
    if (layer && (ipc_sasl_layer_wrap(layer, k->in, n, k->wrapped_in) < 0 ||
                  ipc_sasl_layer_wrap(layer, k->out, n, k->wrapped_out) < 0))
        return;
    k->wrapped_in[0] ^= d->aes_forged;
    hadoop__hdfs__cipher_option_proto__init(&k->option);
    k->option.suite =
        (__typeof__(k->option.suite))(d->aes_suite
                                          ? d->aes_suite
                                          : HADOOP__HDFS__CIPHER_SUITE_PROTO__AES_CTR_NOPADDING);
    k->option.has_inkey = k->option.has_iniv = k->option.has_outkey = k->option.has_outiv = true;
    k->option.inkey = (ProtobufCBinaryData){ size, k->wrapped_in };
    k->option.outkey = (ProtobufCBinaryData){ size, k->wrapped_out };
    k->option.iniv = (ProtobufCBinaryData){ iv, k->iv[0] };
    k->option.outiv = (ProtobufCBinaryData){ iv, k->iv[1] };
    k->list[0] = k->list[1] = &k->option;
}

/* Checks the client's response. *ret: the proof; the layer, if there is one. */
static bool check(struct sasl_datanode *d, const ProtobufCBinaryData *response, char ret[64],
                  struct sasl_layer **ret_layer)
{
    struct digest_directives ds;
    struct digest_output out;
    struct digest_input in = { .user = SASL_DATANODE_USER,
                               .realm = "0",
                               .password = d->impostor ? "another" : SASL_DATANODE_PASSWORD,
                               .nonce = NONCE,
                               .uri = "hdfs/0" };

    if (ipc_digest_parse(&ds, response->data, response->len, IPC_SASL_RESPONSE_MAX) < 0)
        return false;
    in.cnonce = ipc_digest_get(&ds, "cnonce");
    in.qop = ipc_digest_get(&ds, "qop");
    if (!in.cnonce || !in.qop || ipc_digest_compute(&in, &out) < 0)
        return false;
    d->proven = strcmp(ipc_digest_get(&ds, "username"), in.user) == 0 &&
                strcmp(ipc_digest_get(&ds, "digest-uri"), in.uri) == 0 &&
                strcmp(ipc_digest_get(&ds, "realm"), in.realm) == 0 &&
                strcmp(ipc_digest_get(&ds, "response"), out.response) == 0;
    (void)snprintf(d->qop, sizeof(d->qop), "%s", in.qop);
    (void)snprintf(ret, 64, "rspauth=%s", out.rspauth);
    if (strcmp(in.qop, "auth") == 0)
        return true;
    return ipc_digest_layer_new((enum ipc_qop)ipc_qop_from_name(in.qop), out.ha1, true,
                                SASL_LAYER_MAXBUF, ret_layer) == 0;
}

static bool first_turn(struct sasl_datanode *d)
{
    struct keys keys = { 0 };
    char challenge[512];
    sasl_message *m;

    if (hdfs_receive(d->connection, &d->magic, sizeof(d->magic), NULL) < 0)
        return false;
    d->magic = be32toh(d->magic);
    m = hear(d);
    if (!m)
        return false;
    d->first_empty = m->status == 0 && m->has_payload && m->payload.len == 0 &&
                     m->n_cipheroption == 0 && !m->message;
    forget(m);
    if (d->raw) {
        (void)hdfs_send(d->connection, d->raw, d->n_raw,
                        NULL); /* the client may be gone, ignoring */
        return false;
    }
    (void)snprintf(challenge, sizeof(challenge),
                   "realm=\"%s\",nonce=\"" NONCE "\",qop=\"%s\",charset=utf-8,%salgorithm=md5-sess",
                   d->realm ? d->realm : "0", d->qops, d->cipher ? d->cipher : "");
    if (d->aes_early)
        make_keys(d, NULL, &keys);
    return say(d, 0, challenge, d->padding, d->aes_early ? &keys : NULL) == 0;
}

static bool second_turn(struct sasl_datanode *d)
{
    _cleanup_(sasl_layer_freep) struct sasl_layer *layer = NULL;
    struct hdfs_aes_key to = { 0 }, from = { 0 };
    struct hdfs_protected *p = NULL;
    struct keys keys = { 0 };
    char proof[64] = "";
    sasl_message *m = hear(d);
    bool ok = m && check(d, &m->payload, proof, &layer);

    if (m) {
        d->offered_aes =
            m->n_cipheroption == 1 &&
            m->cipheroption[0]->suite == HADOOP__HDFS__CIPHER_SUITE_PROTO__AES_CTR_NOPADDING;
        forget(m);
    }
    if (!ok)
        return false;
    if (d->aes)
        make_keys(d, layer, &keys);
    if (say(d, 1, proof, 0, d->aes ? &keys : NULL) < 0)
        return false;
    if (d->aes) {
        to = (struct hdfs_aes_key){ keys.in, d->aes, keys.iv[0] };
        from = (struct hdfs_aes_key){ keys.out, d->aes, keys.iv[1] };
        if (hdfs_aes_bytes_new(&from, &to, &p) < 0)
            return false;
    } else if (layer && hdfs_wrapped_bytes_new(SV_TAKE(layer), 10000, &p) < 0) {
        return false;
    }
    if (!d->frame)
        hdfs_connection_protect(d->connection, p);
    else
        hdfs_protected_free(p);
    return true;
}

static void *serve(void *arg)
{
    struct sasl_datanode *d = arg;
    uint8_t *bytes = malloc(d->echo + 1);

    if (bytes && first_turn(d) && second_turn(d)) {
        if (d->frame)
            (void)hdfs_send(d->connection, d->frame, d->n_frame, NULL); /* spoilt, ignoring */
        else if (hdfs_receive(d->connection, bytes, d->echo, NULL) == 0)
            (void)hdfs_send(d->connection, bytes, d->echo, NULL); /* the client tells, ignoring */
    }
    free(bytes);
    d->connection = hdfs_connection_free(d->connection);
    return NULL;
}

/* Starts it; the client's end of the connection, with time limits of `timeout_ms`. */
static struct hdfs_connection *sasl_datanode_start(struct sasl_datanode *d, uint32_t timeout_ms)
{
    struct timeval own = { .tv_sec = 10 };
    struct timeval tv = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };
    struct hdfs_connection *c = NULL;
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
        setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0 ||
        setsockopt(fds[1], SOL_SOCKET, SO_RCVTIMEO, &own, sizeof(own)) < 0 ||
        hdfs_connection_new(fds[0], timeout_ms, &c) < 0 ||
        hdfs_connection_new(fds[1], 10000, &d->connection) < 0 ||
        pthread_create(&d->thread, NULL, serve, d) != 0)
        abort();
    return c;
}

/* After the client's end was freed. */
static void sasl_datanode_end(struct sasl_datanode *d)
{
    if (pthread_join(d->thread, NULL) != 0)
        abort();
}

#endif
