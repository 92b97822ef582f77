/* See transfer-sasl.h. The order of messages is that of Hadoop's SaslDataTransferClient: an empty
 * one, the challenge, the response with the offered cipher, the proof with the chosen one. */
#include "hdfs/transfer-sasl.h"

#include <errno.h>
#include <openssl/crypto.h>

#include "hdfs/aes-bytes.h"
#include "hdfs/transfer-message.h"
#include "hdfs/wrapped-bytes.h"
#include "wire/sasl/digest-exchange.h"

/* SaslParticipant's service "hdfs" at the server "0", in place of a host. */
#define REALM "0"
#define URI "hdfs/0"
#define ARENA_MAX (1u << 20) /* for two messages of HDFS_ANSWER_MAX bytes */

static int send_message(struct hdfs_connection *c, bool first, struct sasl_bytes payload, bool aes,
                        struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(2 * HDFS_ANSWER_MAX);
    int r = first ? sv_buf_put_u32(&b, HDFS_TRANSFER_MAGIC) : 0;

    if (r == 0)
        r = hdfs_transfer_message_put(&b, payload.p, payload.n, aes);
    return r < 0 ? sv_error_errno(err, r, "SASL handshake") : hdfs_send(c, b.data, b.len, err);
}

/* The DataNode's next message, and what the mechanism answers. */
static int receive_message(struct hdfs_connection *c, struct sasl_client *sasl, bool aes,
                           struct sv_arena *a, struct hdfs_transfer_message *m,
                           struct sasl_bytes *ret, struct sv_error *err)
{
    uint8_t *received = NULL;
    size_t n = 0;
    int r = hdfs_receive_delimited(c, &received, &n, err);

    if (r == 0)
        r = hdfs_transfer_message_take(received, n, aes, a, m, err);
    if (r == 0)
        r = ipc_sasl_client_step(sasl, m->payload, m->n, ret, err);
    free(received);
    return r;
}

static int unwrap_key(struct sasl_layer *layer, const struct hdfs_wrapped_key *k,
                      struct hdfs_aes_key *ret)
{
    uint8_t *key = NULL;
    int r = ipc_sasl_layer_unwrap(layer, k->key, k->n, &key, &ret->n);

    ret->key = key;
    ret->iv = k->iv;
    return r;
}

/* The keys are the next two messages of the layer, which ends with them. */
static int begin_aes(struct sasl_layer *layer, const struct hdfs_transfer_message *m,
                     struct hdfs_protected **ret, struct sv_error *err)
{
    struct hdfs_aes_key send = { 0 }, receive = { 0 };
    int r = unwrap_key(layer, &m->to_datanode, &send);

    if (r == 0)
        r = unwrap_key(layer, &m->from_datanode, &receive);
    if (r == 0)
        r = hdfs_aes_bytes_new(&send, &receive, ret);
    OPENSSL_cleanse(m->to_datanode.key, m->to_datanode.n);
    OPENSSL_cleanse(m->from_datanode.key, m->from_datanode.n);
    if (r == -EBADMSG)
        return sv_error_set(err, r, "the DataNode's keys for AES are malformed or forged");
    if (r == -EINVAL)
        return sv_error_set(err, -EBADMSG,
                            "the DataNode's keys for AES have %zu and %zu bytes, not 16, 24 or 32",
                            send.n, receive.n);
    return r < 0 ? sv_error_errno(err, r, "AES") : 0;
}

static int begin_protection(struct hdfs_connection *c, struct sasl_client *sasl,
                            const struct hdfs_transfer_message *m, struct sv_error *err)
{
    _cleanup_(sasl_layer_freep) struct sasl_layer *layer = ipc_sasl_client_take_layer(sasl);
    struct hdfs_protected *p = NULL;
    int r;

    if (m->aes && ipc_digest_client_qop(sasl) != IPC_QOP_PRIVACY)
        return sv_error_set(err, -EBADMSG,
                            "the DataNode sent keys for AES without a layer that hides them");
    if (!layer)
        return 0;
    if (m->aes) {
        r = begin_aes(layer, m, &p, err);
    } else {
        r = hdfs_wrapped_bytes_new(SV_TAKE(layer), hdfs_connection_timeout_ms(c), &p);
        if (r < 0)
            (void)sv_error_errno(err, r, "SASL protection");
    }
    if (r == 0)
        hdfs_connection_protect(c, p);
    return r;
}

int hdfs_transfer_handshake(struct hdfs_connection *c, const struct hdfs_transfer_login *login,
                            struct sv_error *err)
{
    const struct digest_login digest = { login->user, login->password, REALM, URI, login->key };
    _cleanup_(sasl_client_freep) struct sasl_client *sasl = NULL;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ARENA_MAX);
    bool aes = login->aes && login->qop_mask & IPC_QOP_PRIVACY;
    struct sasl_bytes answer = { (const uint8_t *)"", 0 };
    struct hdfs_transfer_message m;
    int r = a ? ipc_digest_client_login(&digest, login->qop_mask, &sasl) : -ENOMEM;

    if (r < 0)
        return sv_error_errno(err, r, "SASL handshake");
    r = send_message(c, true, answer, false, err);
    if (r == 0)
        r = receive_message(c, sasl, false, a, &m, &answer, err);
    if (r == 0)
        r = send_message(c, false, answer, aes, err);
    if (r == 0)
        r = receive_message(c, sasl, aes, a, &m, &answer, err);
    if (r < 0)
        return r;
    if (!ipc_sasl_client_done(sasl))
        return sv_error_set(err, -EACCES, "the DataNode did not finish the SASL handshake");
    return begin_protection(c, sasl, &m, err);
}
