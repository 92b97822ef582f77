/* See response.h. Header names use the case of Hadoop 3.4. */
#include "shuffle/response.h"

#include <stdio.h>
#include <string.h>

#define VERSION "name: mapreduce\r\nversion: 1.0.0\r\n"

size_t shf_response_ok(char dst[SHF_HEAD_MAX], const char *reply_hash, unsigned keep_alive_s,
                       uint64_t length)
{
    char keep[64];
    int n;

    (void)snprintf(keep, sizeof(keep), "Connection: Keep-Alive\r\nKeep-Alive: timeout=%u\r\n",
                   keep_alive_s);
    n = snprintf(dst, SHF_HEAD_MAX,
                 "HTTP/1.1 200 OK\r\nReplyHash: %.64s\r\n" VERSION "%scontent-length: %llu\r\n\r\n",
                 reply_hash, keep_alive_s > 0 ? keep : "Connection: close\r\n",
                 (unsigned long long)length);
    return (size_t)n;
}

static const char *reason(unsigned status)
{
    switch (status) {
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 405:
        return "Method Not Allowed";
    case 429:
        return "TOO MANY REQUESTS";
    default:
        return "Internal Server Error";
    }
}

size_t shf_response_refusal(char dst[SHF_HEAD_MAX], const struct shf_refusal *why)
{
    /* Hadoop sends 1000, in milliseconds, and its reducers expect it. */
    int n = snprintf(dst, SHF_HEAD_MAX,
                     "HTTP/1.1 %u %s\r\ncontent-type: text/plain; charset=UTF-8\r\n" VERSION
                     "%scontent-length: %zu\r\nConnection: close\r\n\r\n%.256s",
                     why->status, reason(why->status),
                     why->status == 429 ? "Retry-After: 1000\r\n" : "",
                     SV_MIN(strlen(why->text), (size_t)256), why->text);

    return (size_t)n;
}

/* Hadoop's variable-length long: one byte for -112 to 127, else a byte that encodes the number of
 * bytes that follow. Never negative here. */
static size_t put_vlong(uint8_t *dst, uint64_t v)
{
    unsigned n = 0;

    if (v <= 127) {
        dst[0] = (uint8_t)v;
        return 1;
    }
    for (uint64_t rest = v; rest > 0; rest >>= 8)
        n++;
    dst[0] = (uint8_t)(-112 - (int)n);
    for (unsigned i = 0; i < n; i++)
        dst[1 + i] = (uint8_t)(v >> 8 * (n - 1 - i));
    return 1 + n;
}

size_t shf_map_header(uint8_t dst[SHF_MAP_HEADER_MAX], const char *map, const struct shf_segment *s,
                      uint32_t reduce)
{
    size_t len = SV_MIN(strlen(map), (size_t)SHF_ID_MAX), n = put_vlong(dst, len);

    memcpy(dst + n, map, len);
    n += len;
    n += put_vlong(dst + n, s->part);
    n += put_vlong(dst + n, s->raw);
    return n + put_vlong(dst + n, reduce);
}
