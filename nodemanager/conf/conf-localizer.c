/* See conf-localizer.h. */
#include "nodemanager/conf/conf-localizer.h"

#define PREFIX "selvedge.nodemanager.localizer."

enum {
    K_BYTES,
    K_ENTRIES,
    K_RATIO,
    K_PATH,
    K_DEPTH,
    K_SLOWEST,
    K_TIMEOUT,
    K_VERIFY_SIZE,
    K_PARALLEL,
    N_KEYS
};

/* clang-format off */
static const struct sv_conf_key keys[N_KEYS] = {
    [K_BYTES] = { PREFIX "max-bytes", SV_CONF_SIZE, "64g", 1, INT64_MAX, .help = "Largest resource, and largest content of an archive or a directory; 500m, 64g." },
    [K_ENTRIES] = { PREFIX "max-entries", SV_CONF_INT, "500000", 1, UINT32_MAX, .help = "Files, directories and links of one archive or directory." },
    [K_RATIO] = { PREFIX "max-ratio", SV_CONF_INT, "200", 1, UINT32_MAX, .help = "Bytes that an archive may unpack to for one of its own, beyond 64 MiB." },
    [K_PATH] = { PREFIX "max-path", SV_CONF_INT, "1024", 1, LOC_PATH_MAX, .help = "Bytes of a path in an archive or directory." },
    [K_DEPTH] = { PREFIX "max-depth", SV_CONF_INT, "64", 1, LOC_DEPTH_MAX, .help = "Components of a path in an archive or directory." },
    [K_SLOWEST] = { PREFIX "slowest-rate", SV_CONF_SIZE, "1024", 0, INT32_MAX, .help = "Bytes a second: an http server below it for 30 s is given up; 0 = never." },
    [K_TIMEOUT] = { PREFIX "timeout-ms", SV_CONF_DURATION, "3600000", 1000, INT32_MAX, 1, "Time in which one resource must be fetched and unpacked." },
    [K_VERIFY_SIZE] = { PREFIX "verify-size", SV_CONF_BOOL, "true", .help = "A file whose size is not the one that its job named is refused; Hadoop compares times alone." },
    [K_PARALLEL] = { PREFIX "parallel", SV_CONF_INT, "16", 1, LOC_WORKERS_MAX, .help = "Downloads at a time of all applications together, the one with the fewest first; each application has one at any time." },
};
/* clang-format on */

const struct sv_conf_key *nm_conf_localizer_keys(size_t *ret_n)
{
    *ret_n = N_KEYS;
    return keys;
}

static int read_number(struct sv_conf *c, int key, uint32_t *ret, struct sv_error *err)
{
    int64_t v = 0;
    int r = sv_conf_int(c, &keys[key], &v, err);

    *ret = (uint32_t)v; /* within the row's range */
    return r;
}

int nm_conf_localizer_read(struct sv_conf *c, struct nm_conf_localizer *ret, struct sv_error *err)
{
    uint64_t slowest = 0;
    int r = sv_conf_size(c, &keys[K_BYTES], &ret->limits.bytes, err);

    if (r >= 0)
        r = read_number(c, K_ENTRIES, &ret->limits.entries, err);
    if (r >= 0)
        r = read_number(c, K_RATIO, &ret->limits.ratio, err);
    if (r >= 0)
        r = read_number(c, K_PATH, &ret->limits.path, err);
    if (r >= 0)
        r = read_number(c, K_DEPTH, &ret->limits.depth, err);
    if (r >= 0)
        r = sv_conf_size(c, &keys[K_SLOWEST], &slowest, err);
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_TIMEOUT], &ret->timeout_ms, err);
    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_VERIFY_SIZE], &ret->verify_size, err);
    if (r >= 0)
        r = read_number(c, K_PARALLEL, &ret->parallel, err);
    ret->limits.slowest_rate = (uint32_t)slowest; /* within the row's range */
    return r;
}
