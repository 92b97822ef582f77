/* See zone.h. */
#include "hdfs/zone.h"

#include <errno.h>
#include <string.h>

#include "hdfs/namenode-call.h"

#define PIECE ((size_t)64 << 10) /* decrypted at once */

/* ---- Keys ---- */

void hdfs_keys_forget(struct hdfs_keys *k)
{
    explicit_bzero(k->known, sizeof(k->known));
    k->next = 0;
}

static bool same_key(const struct hdfs_edek *a, const struct hdfs_edek *b)
{
    return a->n == b->n && memcmp(a->key, b->key, a->n) == 0 &&
           memcmp(a->iv, b->iv, sizeof(a->iv)) == 0 && strcmp(a->name, b->name) == 0 &&
           strcmp(a->version, b->version) == 0;
}

static const uint8_t *known_key(const struct hdfs_keys *k, const struct hdfs_edek *e)
{
    for (size_t i = 0; i < HDFS_KEYS_KNOWN; i++)
        if (k->known[i].edek.n > 0 && same_key(&k->known[i].edek, e))
            return k->known[i].key;
    return NULL;
}

/* Asks the service for a key, and keeps it in the place of the oldest one. */
static int fetch_key(struct hdfs_namenode *n, struct hdfs_keys *k, const struct hdfs_edek *e,
                     const uint8_t **ret, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Hdfs__FsServerDefaultsProto *d = NULL;
    const char *provider;
    uint8_t *key = k->known[k->next].key;
    int r = a ? hdfs_namenode_defaults(n, a, &d, err) : sv_error_errno(err, -ENOMEM, "NameNode");

    if (r < 0)
        return r;
    provider = d->keyprovideruri ? d->keyprovideruri : "";
    if (strlen(provider) > HDFS_PROVIDER_MAX)
        return sv_error_set(err, -EBADMSG, "the NameNode's key provider has too long a uri");
    k->known[k->next].edek.n = 0;
    r = k->decrypt(k->userdata, provider, e, key, err);
    if (r < 0)
        return r;
    k->known[k->next].edek = *e;
    k->next = (k->next + 1) % HDFS_KEYS_KNOWN;
    *ret = key;
    return 0;
}

int hdfs_zone_open(struct hdfs_namenode *n, struct hdfs_keys *k, const struct hdfs_edek *e,
                   uint64_t offset, struct hdfs_crypto **ret, struct sv_error *err)
{
    const uint8_t *key = k ? known_key(k, e) : NULL;
    int r = 0;

    if (!k)
        return sv_error_set(err, -EOPNOTSUPP,
                            "it is in an encryption zone, which is not supported here");
    if (!key)
        r = fetch_key(n, k, e, &key, err);
    if (r < 0) {
        (void)sv_error_wrap(err, "it is in an encryption zone");
        return r;
    }
    r = hdfs_crypto_new(key, e->n, e->iv, offset, ret);
    return r < 0 ? sv_error_errno(err, r, "AES with a key of %zu bytes", e->n) : 0;
}

/* ---- A read ---- */

int hdfs_zone_read_begin(struct hdfs_zone_read *z, struct hdfs_namenode *n, struct hdfs_keys *k,
                         const Hadoop__Hdfs__FileEncryptionInfoProto *m, uint64_t offset,
                         struct sv_error *err)
{
    struct hdfs_edek e;
    int r = hdfs_answer_edek(m, &e, err);

    if (r < 0)
        return r;
    if (z->begun)
        return same_key(&z->edek, &e)
                   ? 0
                   : sv_error_set(err, -ESTALE, "it changed while it was read: it has another key");
    if (e.n > 0) {
        z->piece = malloc(PIECE);
        r = z->piece ? hdfs_zone_open(n, k, &e, offset, &z->crypto, err)
                     : sv_error_errno(err, -ENOMEM, "decryption");
    }
    z->edek = e;
    z->begun = r == 0;
    return r;
}

int hdfs_zone_read_sink(void *userdata, const void *p, size_t n)
{
    struct hdfs_zone_read *z = userdata;
    const uint8_t *from = p;
    int r = 0;

    if (!z->crypto)
        return z->sink(z->userdata, p, n);
    for (size_t some; r == 0 && n > 0; from += some, n -= some) {
        some = SV_MIN(n, PIECE);
        r = hdfs_crypto_next(z->crypto, from, z->piece, some);
        if (r == 0)
            r = z->sink(z->userdata, z->piece, some);
    }
    return r;
}

void hdfs_zone_read_end(struct hdfs_zone_read *z)
{
    z->crypto = hdfs_crypto_free(z->crypto);
    free(z->piece);
    z->piece = NULL;
    z->begun = false;
}
