/* See aes-bytes.h. */
#include "hdfs/aes-bytes.h"

#include <errno.h>
#include <stdlib.h>

#include "hdfs/connection.h"
#include "hdfs/crypto.h"

#define PIECE (80u << 10) /* encrypted at once: room for a packet of Hadoop's size */

struct aes_bytes {
    struct hdfs_protected base;
    struct hdfs_crypto *out, *in;
    uint8_t piece[PIECE];
};

static const struct hdfs_protected_functions functions;

static void aes_free(struct hdfs_protected *p)
{
    struct aes_bytes *a = (struct aes_bytes *)p;

    hdfs_crypto_free(a->out);
    hdfs_crypto_free(a->in);
    free(a);
}

int hdfs_aes_bytes_new(const struct hdfs_aes_key *send, const struct hdfs_aes_key *receive,
                       struct hdfs_protected **ret)
{
    struct aes_bytes *a = calloc(1, sizeof(*a));
    int r = a ? hdfs_crypto_new(send->key, send->n, send->iv, 0, &a->out) : -ENOMEM;

    if (!a)
        return r;
    a->base.f = &functions;
    if (r == 0)
        r = hdfs_crypto_new(receive->key, receive->n, receive->iv, 0, &a->in);
    if (r < 0) {
        aes_free(&a->base);
        return r;
    }
    *ret = &a->base;
    return 0;
}

static int run_cipher(struct hdfs_crypto *c, const void *from, size_t n, void *to,
                      struct sv_error *err)
{
    int r = hdfs_crypto_next(c, from, to, n);

    return r < 0 ? sv_error_set(err, r, "AES failed in libcrypto") : 0;
}

static int aes_send(struct hdfs_protected *p, int fd, const void *data, size_t n,
                    struct sv_error *err)
{
    struct aes_bytes *a = (struct aes_bytes *)p;
    int r = 0;

    for (size_t done = 0, some; r == 0 && done < n; done += some) {
        some = SV_MIN(n - done, (size_t)PIECE);
        r = run_cipher(a->out, (const uint8_t *)data + done, some, a->piece, err);
        if (r == 0)
            r = hdfs_socket_send(fd, a->piece, some, err);
    }
    return r;
}

static int aes_receive(struct hdfs_protected *p, int fd, void *data, size_t n, struct sv_error *err)
{
    struct aes_bytes *a = (struct aes_bytes *)p;
    int r = hdfs_socket_receive(fd, data, n, err);

    return r < 0 ? r : run_cipher(a->in, data, n, data, err);
}

static const struct hdfs_protected_functions functions = {
    .send = aes_send,
    .receive = aes_receive,
    .free = aes_free,
};
