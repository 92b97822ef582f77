/* What a request may say; see request.h. Linked into the setuid helper: libc's string functions
 * only, no allocation. Input of the decoder is hostile. */
#include "executor/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What an operation must have (needs), and may have; everything else must be zero. */
enum {
    F_APP = 1,
    F_CONTAINER = 2, /* attempt and container */
    F_USER = 4,
    F_LOCAL = 8,
    F_LOG = 16,
    F_WORK_DIR = 32,
    F_LAUNCH = 64, /* profile, network, limits, devices */
    F_WHAT = 128,
    F_VISIBILITY = 256,
    F_SIGNAL = 512,
    F_RESOURCE = 1024,
    F_CATEGORIES = 2048, /* may have them */
};

/* The fields of a request; -1 for an operation or a kind that there is not. */
static int fields(const struct exe_request *r)
{
    switch (r->op) {
    case EXE_OP_CHECK:
        return r->what == EXE_CHECK_REBUILD ? F_WHAT : 0;
    case EXE_OP_INIT_APP:
        return F_APP | F_USER | F_LOCAL | F_LOG | F_CATEGORIES;
    case EXE_OP_LAUNCH:
        return F_APP | F_CONTAINER | F_USER | F_LOCAL | F_LOG | F_WORK_DIR | F_LAUNCH | F_CATEGORIES;
    case EXE_OP_LOCALIZE:
        if (r->what == EXE_VISIBILITY_PUBLIC)
            return F_LOCAL | F_WHAT;
        if (r->what & ~(unsigned)(EXE_VISIBILITY_PRIVATE | EXE_VISIBILITY_APPLICATION))
            return -1;
        return F_APP | F_USER | F_LOCAL | F_WHAT | F_CATEGORIES;
    case EXE_OP_SIGNAL:
        return F_APP | F_CONTAINER | F_USER | F_SIGNAL;
    case EXE_OP_DELETE:
        break;
    default:
        return -1;
    }
    switch (r->what) {
    case EXE_DELETE_CONTAINER:
        return F_WHAT | F_APP | F_CONTAINER | F_USER | F_LOCAL;
    case EXE_DELETE_CONTAINER_LOGS:
        return F_WHAT | F_APP | F_CONTAINER | F_USER | F_LOG;
    case EXE_DELETE_APP:
        return F_WHAT | F_APP | F_USER | F_LOCAL;
    case EXE_DELETE_APP_LOGS:
        return F_WHAT | F_APP | F_USER | F_LOG;
    case EXE_DELETE_USER:
        return F_WHAT | F_USER | F_LOCAL;
    case EXE_DELETE_RESOURCE:
        if (r->visibility == EXE_VISIBILITY_PUBLIC)
            return F_WHAT | F_VISIBILITY | F_RESOURCE | F_LOCAL;
        if (r->visibility == EXE_VISIBILITY_PRIVATE)
            return F_WHAT | F_VISIBILITY | F_RESOURCE | F_LOCAL | F_USER;
        if (r->visibility == EXE_VISIBILITY_APPLICATION)
            return F_WHAT | F_VISIBILITY | F_RESOURCE | F_LOCAL | F_USER | F_APP;
        return -1;
    case EXE_DELETE_PUBLIC:
        return F_WHAT | F_LOCAL;
    default:
        return -1;
    }
}

/* Hadoop's pattern ^[_.A-Za-z0-9][-@_.A-Za-z0-9]{0,255}[$]?$ without the names that mean
 * something to a path. Everything but a byte of that set is refused, so no name needs escaping. */
static bool user_ok(const char *s)
{
    size_t n = strnlen(s, EXE_USER_MAX + 1);
    if (n == 0 || n > EXE_USER_MAX || s[0] == '-' || s[0] == '@' || s[0] == '.')
        return false;
    for (size_t i = 0; i < n; i++) {
        char ch = s[i];
        bool word = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                    (ch >= '0' && ch <= '9');
        if (!word && ch != '-' && ch != '@' && ch != '_' && ch != '.' && !(ch == '$' && i + 1 == n))
            return false;
    }
    return true;
}

static bool signal_ok(unsigned sig)
{
    /* HUP INT QUIT KILL USR1 USR2 TERM CONT STOP TSTP: by number, the wire has no libc. */
    static const uint8_t allowed[] = { 1, 2, 3, 9, 10, 12, 15, 18, 19, 20 };
    return memchr(allowed, (int)sig, sizeof(allowed)) && sig < 32;
}

/* One form of every list: ascending, each once, zeros behind it. */
static bool devices_ok(const struct exe_request *r)
{
    uint64_t last = 0;
    if (r->n_devices > EXE_DEVICES_MAX)
        return false;
    for (unsigned i = 0; i < EXE_DEVICES_MAX; i++) {
        const struct exe_device *d = &r->devices[i];
        uint64_t n = (uint64_t)d->major << 32 | d->minor;
        if (i >= r->n_devices ? n != 0
                              : n <= last || d->major >= 1 << 12 || d->minor >= 1 << 20)
            return false;
        last = n;
    }
    return true;
}

static bool sandbox_ok(const struct exe_request *r)
{
    bool private = r->network == EXE_NETWORK_PRIVATE;
    return r->profile >= EXE_PROFILE_STRICT && r->profile <= EXE_PROFILE_HOST &&
           r->network <= EXE_NETWORK_PRIVATE && devices_ok(r) &&
           (private ? r->net_ceil_kbit == 0 || r->net_ceil_kbit >= r->net_rate_kbit
                    : !r->net_index && !r->net_rate_kbit && !r->net_ceil_kbit);
}

static bool no_sandbox(const struct exe_request *r)
{
    return !r->profile && !r->network && !r->net_index && !r->net_rate_kbit && !r->net_ceil_kbit &&
           !r->memory_max && !r->pids_max && r->n_devices == 0 && devices_ok(r);
}

/* None, or one form of every set: the user's pair from the lower half, the application's from the
 * upper one. */
static bool categories_ok(const uint16_t *c, bool allowed)
{
    if (!c[0] && !c[1] && !c[2] && !c[3])
        return true;
    return allowed && c[0] < c[1] && c[1] < EXE_CATEGORY_MAX / 2 && EXE_CATEGORY_MAX / 2 <= c[2] &&
           c[2] < c[3] && c[3] < EXE_CATEGORY_MAX;
}

static bool nothing_behind(const char *s, size_t size)
{
    for (size_t i = strnlen(s, size); i < size; i++)
        if (s[i])
            return false;
    return true;
}

bool exe_request_ok(const struct exe_request *r)
{
    int f = fields(r);
    if (f < 0)
        return false;
    bool app = r->cluster_ts > 0 && r->app > 0;
    bool no_app = r->cluster_ts == 0 && r->app == 0;
    /* epoch of at most 24 bits and a sequence of at most 40, both in a positive number */
    bool container = r->attempt > 0 && r->container > 0;
    bool no_container = r->attempt == 0 && r->container == 0;
    return (f & F_APP ? app : no_app) && (f & F_CONTAINER ? container : no_container) &&
           (f & F_USER ? user_ok(r->user) : r->user[0] == '\0') &&
           nothing_behind(r->user, sizeof(r->user)) && r->zero == 0 &&
           (f & F_LOCAL ? r->local_mask != 0 : r->local_mask == 0) &&
           (f & F_LOG ? r->log_mask != 0 : r->log_mask == 0) &&
           (f & F_WORK_DIR ? r->work_dir < EXE_DIRS_MAX && (r->local_mask >> r->work_dir & 1)
                           : r->work_dir == 0) &&
           (f & F_LAUNCH ? sandbox_ok(r) : no_sandbox(r)) &&
           categories_ok(r->categories, f & F_CATEGORIES) &&
           (f & F_WHAT ? r->what != 0 : r->what == 0) &&
           (f & F_VISIBILITY ? r->visibility != 0 : r->visibility == 0) &&
           (f & F_SIGNAL ? signal_ok(r->signal) : r->signal == 0) &&
           (f & F_RESOURCE ? r->resource_id != 0 && r->resource_id <= INT64_MAX
                           : r->resource_id == 0 && r->resource_dir == 0);
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
    if (r.version != EXE_PROTOCOL_VERSION)
        return -EPROTONOSUPPORT;
    if (len != sizeof(r) || !exe_request_ok(&r))
        return -EBADMSG;
    *ret = r;
    return 0;
}

int exe_request_fds(uint16_t op)
{
    return op == EXE_OP_LAUNCH ? 2 : op == EXE_OP_LOCALIZE || op == EXE_OP_SIGNAL ? 1 : 0;
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

/* Bit by bit: 124 bytes twice in a container's life. */
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
