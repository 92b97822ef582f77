/* See aes-bytes.h. */
#include "hdfs/aes-bytes.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>

#include "hdfs/connection.h"

#define PIECE (80u << 10) /* encrypted at once: room for a packet of Hadoop's size */

struct aes_bytes {
    struct hdfs_protected base;
    EVP_CIPHER_CTX *out, *in;
    uint8_t piece[PIECE];
};

static const struct hdfs_protected_functions functions;

/* Encrypting and decrypting are the same in counter mode. */
static int make(const struct hdfs_aes_key *k, EVP_CIPHER_CTX **ret)
{
    const EVP_CIPHER *cipher = k->n == 16   ? EVP_aes_128_ctr()
                               : k->n == 24 ? EVP_aes_192_ctr()
                               : k->n == 32 ? EVP_aes_256_ctr()
                                            : NULL;

    if (!cipher)
        return -EINVAL;
    *ret = EVP_CIPHER_CTX_new();
    return *ret && EVP_EncryptInit_ex2(*ret, cipher, k->key, k->iv, NULL) ? 0 : -EIO;
}

static void aes_free(struct hdfs_protected *p)
{
    struct aes_bytes *a = (struct aes_bytes *)p;

    EVP_CIPHER_CTX_free(a->out);
    EVP_CIPHER_CTX_free(a->in);
    free(a);
}

int hdfs_aes_bytes_new(const struct hdfs_aes_key *send, const struct hdfs_aes_key *receive,
                       struct hdfs_protected **ret)
{
    struct aes_bytes *a = calloc(1, sizeof(*a));
    int r = a ? make(send, &a->out) : -ENOMEM;

    if (!a)
        return r;
    a->base.f = &functions;
    if (r == 0)
        r = make(receive, &a->in);
    if (r < 0) {
        aes_free(&a->base);
        return r;
    }
    *ret = &a->base;
    return 0;
}

/* `to` may be `from`. */
static int run_cipher(EVP_CIPHER_CTX *c, const void *from, size_t n, void *to, struct sv_error *err)
{
    int len = 0;

    if (n > INT_MAX || !EVP_EncryptUpdate(c, to, &len, from, (int)n) || (size_t)len != n)
        return sv_error_set(err, -EIO, "AES failed in libcrypto");
    return 0;
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
