/* See sigv4.h. Uses libcrypto's SHA-256 and HMAC. */
#include "fs/sigv4.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/str.h"

#define HASH 32

static int hmac(const void *key, size_t n, const char *text, uint8_t ret[HASH])
{
    unsigned len = HASH;

    return HMAC(EVP_sha256(), key, (int)n, (const unsigned char *)text, strlen(text), ret, &len)
               ? 0
               : -EIO;
}

static void hex(const uint8_t in[HASH], char ret[2 * HASH + 1])
{
    for (size_t i = 0; i < HASH; i++)
        (void)snprintf(ret + 2 * i, 3, "%02x", in[i]);
}

/* "host;range;x-amz-content-sha256;x-amz-date;x-amz-security-token": in alphabetical order. */
static const char *header_names(const struct fs_sigv4_key *k, const struct fs_sigv4_request *q,
                                char ret[96])
{
    (void)snprintf(ret, 96, "host%s;x-amz-content-sha256;x-amz-date%s", q->range ? ";range" : "",
                   k->session_token[0] ? ";x-amz-security-token" : "");
    return ret;
}

/* Hash of the request in its canonical form. */
static int hash_request(const struct fs_sigv4_key *k, const struct fs_sigv4_request *q,
                        const char *date, char ret[2 * HASH + 1])
{
    _cleanup_free_ char *text = NULL;
    uint8_t sum[HASH];
    char names[96];
    int r =
        sv_asprintf(&text,
                    "GET\n%s\n\nhost:%s\n%s%s%sx-amz-content-sha256:" FS_SIGV4_EMPTY
                    "\nx-amz-date:%s\n%s%s%s\n%s\n" FS_SIGV4_EMPTY,
                    q->path, q->host, q->range ? "range:" : "", q->range ? q->range : "",
                    q->range ? "\n" : "", date, k->session_token[0] ? "x-amz-security-token:" : "",
                    k->session_token, k->session_token[0] ? "\n" : "", header_names(k, q, names));

    if (r < 0)
        return r;
    if (EVP_Digest(text, strlen(text), sum, NULL, EVP_sha256(), NULL) != 1)
        return -EIO;
    hex(sum, ret);
    return 0;
}

/* Derives the key of one day, region and service. */
static int derive(const struct fs_sigv4_key *k, const char *day, uint8_t ret[HASH])
{
    char first[FS_SIGV4_SECRET_MAX + 8];
    uint8_t a[HASH], b[HASH];
    int r;

    (void)snprintf(first, sizeof(first), "AWS4%s", k->secret_key);
    r = hmac(first, strlen(first), day, a);
    if (r == 0)
        r = hmac(a, HASH, k->region, b);
    if (r == 0)
        r = hmac(b, HASH, "s3", a);
    if (r == 0)
        r = hmac(a, HASH, "aws4_request", ret);
    explicit_bzero(first, sizeof(first));
    return r;
}

int fs_sigv4_sign(const struct fs_sigv4_key *k, const struct fs_sigv4_request *q,
                  struct fs_sigv4 *ret)
{
    char scope[FS_SIGV4_REGION_MAX + 32], text[FS_SIGV4_REGION_MAX + 256], names[96];
    char hash[2 * HASH + 1], signature[2 * HASH + 1], day[9];
    uint8_t key[HASH], sum[HASH];
    time_t t = (time_t)q->time_s;
    struct tm tm;
    int r;

    if (strlen(k->secret_key) > FS_SIGV4_SECRET_MAX || strlen(k->region) > FS_SIGV4_REGION_MAX ||
        !gmtime_r(&t, &tm) || strftime(ret->date, sizeof(ret->date), "%Y%m%dT%H%M%SZ", &tm) != 16 ||
        strftime(day, sizeof(day), "%Y%m%d", &tm) != 8)
        return -EINVAL;
    (void)snprintf(scope, sizeof(scope), "%s/%s/s3/aws4_request", day, k->region);
    r = hash_request(k, q, ret->date, hash);
    if (r == 0)
        r = derive(k, day, key);
    (void)snprintf(text, sizeof(text), "AWS4-HMAC-SHA256\n%s\n%s\n%s", ret->date, scope, hash);
    if (r == 0)
        r = hmac(key, HASH, text, sum);
    explicit_bzero(key, sizeof(key));
    if (r < 0)
        return r;
    hex(sum, signature);
    r = snprintf(ret->authorization, sizeof(ret->authorization),
                 "AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s", k->access_key,
                 scope, header_names(k, q, names), signature);
    return r < 0 || (size_t)r >= sizeof(ret->authorization) ? -EINVAL : 0;
}
