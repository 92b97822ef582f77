/* Fuzzes a DataNode's messages of the SASL handshake: what is accepted is within its limits, and a
 * refusal has a text. The first byte says whether a cipher may be chosen. */
#include "common/arena.h"
#include "hdfs/transfer-message.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static uint8_t sum; /* of bytes that must be readable */

static void read_all(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum ^= p[i];
}

static void key(const struct hdfs_wrapped_key *k)
{
    MUST(k->n > 0 && k->n <= HDFS_WRAPPED_KEY_MAX);
    read_all(k->key, k->n);
    read_all(k->iv, HDFS_IV);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(1u << 20);
    struct hdfs_transfer_message m;
    struct sv_error err = { 0 };
    bool aes;

    if (!a || size == 0)
        return 0;
    aes = data[0] & 1;
    if (hdfs_transfer_message_take(data + 1, size - 1, aes, a, &m, &err) < 0) {
        MUST(err.code < 0 && err.text[0]);
        return 0;
    }
    MUST(m.payload && m.n <= HDFS_PAYLOAD_MAX && (aes || !m.aes));
    read_all(m.payload, m.n);
    if (m.aes) {
        key(&m.to_datanode);
        key(&m.from_datanode);
    }
    return 0;
}
