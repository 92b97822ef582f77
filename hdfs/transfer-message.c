/* See transfer-message.h. */
#include "hdfs/transfer-message.h"

#include <errno.h>

#include "common/str.h"
#include "hdfs/delimited.h"
#include "proto/hdfs_datanode.pb-c.h"
#include "wire/frame.h"

typedef Hadoop__Hdfs__DataTransferEncryptorMessageProto message;

#define STATUS(name)                                                                               \
    HADOOP__HDFS__DATA_TRANSFER_ENCRYPTOR_MESSAGE_PROTO__DATA_TRANSFER_ENCRYPTOR_STATUS__##name

int hdfs_transfer_message_put(struct sv_buf *b, const void *payload, size_t n, bool aes)
{
    message m = HADOOP__HDFS__DATA_TRANSFER_ENCRYPTOR_MESSAGE_PROTO__INIT;
    Hadoop__Hdfs__CipherOptionProto option = HADOOP__HDFS__CIPHER_OPTION_PROTO__INIT;
    Hadoop__Hdfs__CipherOptionProto *options = &option;

    m.status = STATUS(SUCCESS);
    m.has_payload = true; /* also where it is empty */
    m.payload.data = (uint8_t *)(uintptr_t)payload;
    m.payload.len = n;
    option.suite = HADOOP__HDFS__CIPHER_SUITE_PROTO__AES_CTR_NOPADDING;
    m.n_cipheroption = aes ? 1 : 0;
    m.cipheroption = &options;
    return hdfs_put_delimited(b, &m.base);
}

static int refused(const message *m, struct sv_error *err)
{
    bool unknown = m->status == STATUS(ERROR_UNKNOWN_KEY);
    bool expired = m->has_accesstokenerror && m->accesstokenerror;
    char text[300] = "no reason given";

    if (m->message)
        sv_escape(text, sizeof(text), m->message);
    return sv_error_set(err,
                        unknown   ? -EKEYREVOKED
                        : expired ? -EKEYEXPIRED
                                  : -EACCES,
                        "the DataNode refused %s: %s",
                        unknown   ? "the encryption key"
                        : expired ? "the block token"
                                  : "the SASL handshake",
                        text);
}

static bool take_key(const ProtobufCBinaryData *key, const ProtobufCBinaryData *iv,
                     struct hdfs_wrapped_key *ret)
{
    if (key->len == 0 || key->len > HDFS_WRAPPED_KEY_MAX || iv->len != HDFS_IV)
        return false;
    *ret = (struct hdfs_wrapped_key){ key->data, key->len, iv->data };
    return true;
}

/* The DataNode's choice of a cipher. */
static const char *take_option(const message *m, bool aes, struct hdfs_transfer_message *ret)
{
    const Hadoop__Hdfs__CipherOptionProto *o = m->n_cipheroption > 0 ? m->cipheroption[0] : NULL;

    if (!o)
        return NULL;
    if (!aes)
        return "has a cipher that was not offered";
    if (m->n_cipheroption > 1)
        return "has more than one cipher";
    if (o->suite != HADOOP__HDFS__CIPHER_SUITE_PROTO__AES_CTR_NOPADDING)
        return "has another cipher than AES/CTR/NoPadding, which was offered";
    if (!o->has_inkey || !o->has_iniv || !o->has_outkey || !o->has_outiv ||
        !take_key(&o->inkey, &o->iniv, &ret->to_datanode) ||
        !take_key(&o->outkey, &o->outiv, &ret->from_datanode))
        return "has a key or a counter block of a wrong length";
    ret->aes = true;
    return NULL;
}

int hdfs_transfer_message_take(const uint8_t *p, size_t n, bool aes, struct sv_arena *a,
                               struct hdfs_transfer_message *ret, struct sv_error *err)
{
    struct hdfs_transfer_message t = { .payload = (const uint8_t *)"" };
    ProtobufCMessage *unpacked = NULL;
    const message *m;
    const char *why;

    if (ipc_unpack(a, &hadoop__hdfs__data_transfer_encryptor_message_proto__descriptor, p, n,
                   &unpacked) < 0)
        return sv_error_set(err, -EBADMSG,
                            "the DataNode's message of the SASL handshake is malformed");
    m = (const message *)unpacked;
    if (m->status != STATUS(SUCCESS))
        return refused(m, err);
    why = m->has_payload && m->payload.len > HDFS_PAYLOAD_MAX ? "is too long"
                                                              : take_option(m, aes, &t);
    if (why)
        return sv_error_set(err, -EBADMSG, "the DataNode's message of the SASL handshake %s", why);
    if (m->has_payload && m->payload.len > 0) {
        t.payload = m->payload.data;
        t.n = m->payload.len;
    }
    *ret = t;
    return 0;
}
