/* Validation of requests; see request.h. Linked into the setuid helper: libc's string functions
 * only, no allocation. Hostile input: the request. */
#include "executor/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    F_APP = 1,
    F_CONTAINER = 2, /* attempt and container */
    F_USER = 4,
    F_LOCAL = 8,
    F_LOG = 16,
    F_LAUNCH = 32, /* work dir, profile, network, limits, devices */
    F_SIGNAL = 64,
    F_RESOURCE = 128,
    F_CATEGORIES = 256, /* categories allowed */
    F_MORE = 512,       /* further containers allowed */
    F_SUBMITTER = 1024,
    F_OWNER = F_USER | F_SUBMITTER, /* owner of a directory in usercache */
    F_ANY_LAUNCH = F_APP | F_CONTAINER | F_OWNER | F_LOCAL | F_LOG | F_LAUNCH | F_CATEGORIES,
};

/* The operations and the fields of each: a request has all of them, and no other. */
static const struct {
    uint8_t op, what, visibility;
    uint16_t fields;
} forms[] = {
    { EXE_OP_CHECK, 0, 0, 0 },
    { EXE_OP_CHECK, EXE_CHECK_REBUILD, 0, 0 },
    { EXE_OP_INIT_APP, 0, 0, F_APP | F_OWNER | F_LOCAL | F_LOG | F_CATEGORIES },
    { EXE_OP_LAUNCH, 0, 0, F_ANY_LAUNCH },
    { EXE_OP_LAUNCH, EXE_LAUNCH_AGAIN, 0, F_ANY_LAUNCH },
    { EXE_OP_LAUNCH, EXE_LAUNCH_DOOR, 0, F_ANY_LAUNCH },
    { EXE_OP_LAUNCH, EXE_LAUNCH_AGAIN | EXE_LAUNCH_DOOR, 0, F_ANY_LAUNCH },
    { EXE_OP_LOCALIZE, EXE_VISIBILITY_PUBLIC, 0, F_LOCAL },
    { EXE_OP_LOCALIZE, EXE_VISIBILITY_PRIVATE, 0, F_APP | F_OWNER | F_LOCAL | F_CATEGORIES },
    { EXE_OP_LOCALIZE, EXE_VISIBILITY_APPLICATION, 0, F_APP | F_OWNER | F_LOCAL | F_CATEGORIES },
    { EXE_OP_LOCALIZE, EXE_VISIBILITY_PRIVATE | EXE_VISIBILITY_APPLICATION, 0,
      F_APP | F_OWNER | F_LOCAL | F_CATEGORIES },
    { EXE_OP_LOCALIZE, EXE_VISIBILITY_LOGS, 0, F_APP | F_USER | F_LOG | F_CATEGORIES },
    { EXE_OP_LOCALIZE, EXE_VISIBILITY_ROLLED_LOGS, 0, F_APP | F_USER | F_LOG | F_CATEGORIES },
    { EXE_OP_SIGNAL, 0, 0, F_APP | F_CONTAINER | F_USER | F_SIGNAL },
    { EXE_OP_DELETE, EXE_DELETE_CONTAINER, 0, F_APP | F_CONTAINER | F_OWNER | F_LOCAL | F_MORE },
    { EXE_OP_DELETE, EXE_DELETE_CONTAINER_LOGS, 0, F_APP | F_CONTAINER | F_USER | F_LOG },
    { EXE_OP_DELETE, EXE_DELETE_APP, 0, F_APP | F_OWNER | F_LOCAL },
    { EXE_OP_DELETE, EXE_DELETE_APP_LOGS, 0, F_APP | F_USER | F_LOG },
    { EXE_OP_DELETE, EXE_DELETE_USER, 0, F_OWNER | F_LOCAL },
    { EXE_OP_DELETE, EXE_DELETE_RESOURCE, EXE_VISIBILITY_PUBLIC, F_RESOURCE | F_LOCAL },
    { EXE_OP_DELETE, EXE_DELETE_RESOURCE, EXE_VISIBILITY_PRIVATE, F_RESOURCE | F_LOCAL | F_OWNER },
    { EXE_OP_DELETE, EXE_DELETE_RESOURCE, EXE_VISIBILITY_APPLICATION,
      F_RESOURCE | F_LOCAL | F_OWNER | F_APP },
    { EXE_OP_DELETE, EXE_DELETE_PUBLIC, 0, F_LOCAL },
    { EXE_OP_LINK, 0, 0, F_APP | F_CONTAINER | F_OWNER | F_LOCAL },
};

/* An allow-list: every other character needs escaping somewhere. */
bool exe_name_ok(const char *name, size_t max)
{
    static const char set[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@-";
    size_t n = strnlen(name, max + 1);
    if (n == 0 || n > max || strchr("-@.", name[0]))
        return false;
    return strspn(name, set) >= n - (name[n - 1] == '$');
}

static bool signal_ok(unsigned sig)
{
    /* HUP INT QUIT KILL USR1 USR2 TERM CONT STOP TSTP: by number, as the wire is independent of
     * libc. */
    static const uint8_t allowed[] = { 1, 2, 3, 9, 10, 12, 15, 18, 19, 20 };
    return memchr(allowed, (int)sig, sizeof(allowed)) && sig < 32;
}

/* Canonical form of the list: ascending, without duplicates. */
static bool devices_ok(const struct exe_request *r)
{
    uint64_t last = 0;
    if (r->n_devices > EXE_DEVICES_MAX)
        return false;
    for (unsigned i = 0; i < r->n_devices; i++) {
        const struct exe_device *d = &r->devices[i];
        uint64_t n = (uint64_t)d->major << 32 | d->minor;
        if (n <= last || d->major >= 1 << 12 || d->minor >= 1 << 20)
            return false;
        last = n;
    }
    return true;
}

/* Canonical form, as above; none passes into the next epoch. */
static bool more_ok(const struct exe_request *r)
{
    const uint64_t sequence_max = (1ULL << 40) - 1;
    uint32_t last = 0;
    if (r->n_more > EXE_MORE_MAX)
        return false;
    for (unsigned i = 0; i < r->n_more; i++) {
        if (r->more[i] <= last)
            return false;
        last = r->more[i];
    }
    return ((uint64_t)r->container & sequence_max) + last <= sequence_max;
}

static bool launch_ok(const struct exe_request *r)
{
    return r->profile >= EXE_PROFILE_STRICT && r->profile <= EXE_PROFILE_HOST &&
           r->work_dir < EXE_DIRS_MAX && (r->local_mask >> r->work_dir & 1) &&
           r->network <= EXE_NETWORK_PRIVATE && devices_ok(r) &&
           (r->network == EXE_NETWORK_PRIVATE
                ? r->net_ceil_kbit == 0 || r->net_ceil_kbit >= r->net_rate_kbit
                : !r->net_index && !r->net_rate_kbit && !r->net_ceil_kbit);
}

/* Canonical form of the set: the user's pair from the lower half, the application's from the upper
 * one. */
static bool categories_ok(const uint16_t *c)
{
    return c[0] < c[1] && c[1] < EXE_CATEGORY_MAX / 2 && EXE_CATEGORY_MAX / 2 <= c[2] &&
           c[2] < c[3] && c[3] < EXE_CATEGORY_MAX;
}

/* True if every required field of the request is valid. */
static bool has(const struct exe_request *r, unsigned f)
{
    /* epoch of at most 24 bits and a sequence of at most 40, both in a positive number */
    return (!(f & F_APP) || (r->cluster_ts > 0 && r->app > 0)) &&
           (!(f & F_CONTAINER) || (r->attempt > 0 && r->container > 0)) &&
           (!(f & F_USER) || exe_name_ok(r->user, EXE_USER_MAX)) &&
           (!(f & F_SUBMITTER) || exe_name_ok(r->submitter, EXE_SUBMITTER_MAX)) &&
           (!(f & F_LOCAL) || r->local_mask != 0) && (!(f & F_LOG) || r->log_mask != 0) &&
           (!(f & F_LAUNCH) || launch_ok(r)) && (!(f & F_MORE) || more_ok(r)) &&
           (!(f & F_SIGNAL) || signal_ok(r->signal)) &&
           (!(f & F_RESOURCE) || (r->resource_id != 0 && r->resource_id <= INT64_MAX));
}

/* Offsets of the fields, a row for neighbours from the first to the last, and the requests that
 * have them; 0: all. Lists and the name have a length. */
#define AT(fields, first, last)                                                                    \
    {                                                                                              \
        fields, offsetof(struct exe_request, first),                                               \
            offsetof(struct exe_request, last) + sizeof(((struct exe_request *)0)->last) -         \
                offsetof(struct exe_request, first)                                                \
    }
static const struct {
    uint16_t fields, at, size;
} places[] = {
    AT(0, magic, request_id),
    AT(0, what, visibility),
    AT(F_APP, cluster_ts, cluster_ts),
    AT(F_APP, app, app),
    AT(F_CONTAINER, attempt, attempt),
    AT(F_CONTAINER, container, container),
    AT(F_LOCAL, local_mask, local_mask),
    AT(F_LOG, log_mask, log_mask),
    AT(F_LAUNCH, pids_max, work_dir),
    AT(F_LAUNCH, n_devices, n_devices),
    AT(F_MORE, n_more, n_more),
    AT(F_SIGNAL, signal, signal),
    AT(F_RESOURCE, resource_id, resource_dir),
};

/* True if all other fields are zero. */
static bool has_no_more(const struct exe_request *r, unsigned f)
{
    static const struct exe_request nothing;
    struct exe_request rest = *r;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (places[i].fields == 0 || (f & places[i].fields))
            memset((char *)&rest + places[i].at, 0, places[i].size);
    if (f & F_USER)
        memset(rest.user, 0, strlen(r->user));
    if (f & F_SUBMITTER)
        memset(rest.submitter, 0, strlen(r->submitter));
    if (f & F_LAUNCH)
        memset(rest.devices, 0, r->n_devices * sizeof(r->devices[0]));
    if (f & F_MORE)
        memset(rest.more, 0, r->n_more * sizeof(r->more[0]));
    if (f & F_CATEGORIES && categories_ok(r->categories))
        memset(rest.categories, 0, sizeof(rest.categories));
    return memcmp(&rest, &nothing, sizeof(rest)) == 0;
}

bool exe_request_ok(const struct exe_request *r)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (forms[i].op == r->op && forms[i].what == r->what &&
            forms[i].visibility == r->visibility)
            return has(r, forms[i].fields) && has_no_more(r, forms[i].fields);
    return false;
}

int exe_request_decode(const uint8_t *buf, size_t len, struct exe_request *ret)
{
    struct exe_request r;
    const size_t head = offsetof(struct exe_request, op);
    if (len < head)
        return -EBADMSG;
    memcpy(&r, buf, len < sizeof(r) ? head : sizeof(r));
    if (r.magic != EXE_REQUEST_MAGIC)
        return -EBADMSG;
    if (r.version < EXE_PROTOCOL_OLDEST || r.version > EXE_PROTOCOL_VERSION)
        return -EPROTONOSUPPORT;
    if (len != sizeof(r) || !exe_request_ok(&r))
        return -EBADMSG;
    *ret = r;
    return 0;
}

int exe_request_fds(const struct exe_request *r)
{
    return r->op == EXE_OP_LAUNCH
               ? 3 + (r->what & EXE_LAUNCH_DOOR ? 1 : 0)
               : r->op == EXE_OP_LOCALIZE || r->op == EXE_OP_SIGNAL || r->op == EXE_OP_LINK;
}

void exe_app_text(const struct exe_request *r, char *buf)
{
    (void)snprintf(buf, EXE_TEXT_MAX, "application_%lld_%04d", (long long)r->cluster_ts, r->app);
}

void exe_container_text(const struct exe_request *r, char *buf)
{
    long long epoch = r->container >> 40, sequence = r->container & 0xffffffffffLL;
    char e[32] = "";
    if (epoch)
        (void)snprintf(e, sizeof(e), "e%02lld_", epoch);
    (void)snprintf(buf, EXE_TEXT_MAX, "container_%s%lld_%04d_%02d_%06lld", e,
                   (long long)r->cluster_ts, r->app, r->attempt, sequence);
}

/* Bitwise, without a table: 124 bytes twice in a container's life. */
uint32_t exe_crc32(const void *data, size_t n)
{
    uint32_t crc = 0xffffffffu;
    for (const uint8_t *p = data; n > 0; n--) {
        crc ^= *p++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

void exe_record_seal(struct exe_record *r)
{
    r->magic = EXE_RECORD_MAGIC;
    r->version = EXE_RECORD_VERSION;
    r->crc = exe_crc32(r, offsetof(struct exe_record, crc));
}
