/* Parser of a reducer's request: bytes of an HTTP/1.1 connection in, names and numbers out.
 * Stricter than HTTP where two readers could disagree (line ends, repeated headers, a body). Needs
 * no job table and opens no file. Hostile: all input; fuzzed by fuzz-shuffle-request. */
#ifndef SELVEDGE_SHUFFLE_REQUEST_H
#define SELVEDGE_SHUFFLE_REQUEST_H

#include "common/base.h"
#include "shuffle/limits.h"

#define SHF_URL_HASH_MAX 64

struct shf_request {
    const char *uri; /* undecoded, points into the caller's bytes; input of the hash */
    size_t uri_len;
    char url_hash[SHF_URL_HASH_MAX + 1]; /* "" if absent or too long to be valid */
    bool keep_alive;                     /* keepAlive=true in the query */
    bool close;                          /* HTTP/1.0 or Connection: close */
    char job[SHF_ID_MAX + 1];            /* "job_<timestamp>_<number>" */
    uint32_t reduce;
    size_t maps;
    uint16_t map[SHF_MAPS_MAX]; /* offset of each name in `names` */
    char names[SHF_REQUEST_MAX];
};

struct shf_refusal {
    unsigned status;
    const char *text; /* Hadoop's text if it has one */
};

static inline const char *shf_request_map(const struct shf_request *r, size_t i)
{
    return r->names + r->map[i];
}
/* Returns the size of a complete request head; -EAGAIN: incomplete; -EBADMSG: *why has the refusal.
 * *ret is set on success only. */
int shf_request_parse(const char *data, size_t len, struct shf_request *ret,
                      struct shf_refusal *why) _must_use_;

#endif
