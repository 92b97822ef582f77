/* Encoding of request, reply and exit record; see request.h. Linked into the setuid helper: libc's
 * string functions only, no allocation. Input of every decoder is hostile. */
#include "executor/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A cursor that goes bad once and stays bad: the caller checks `ok` at the end. */
struct cursor {
    uint8_t *p;
    size_t len, pos;
    bool ok;
};

static uint8_t *take(struct cursor *c, size_t n)
{
    if (!c->ok || c->len - c->pos < n) {
        c->ok = false;
        return NULL;
    }
    c->pos += n;
    return c->p + c->pos - n;
}

static void put(struct cursor *c, uint64_t v, size_t bytes)
{
    uint8_t *p = take(c, bytes);
    for (size_t i = 0; p && i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get(struct cursor *c, size_t bytes)
{
    const uint8_t *p = take(c, bytes);
    uint64_t v = 0;
    for (size_t i = 0; p && i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

#define STATUS_TEXT(number, name, text)                                                            \
    case number:                                                                                   \
        return text;
const char *exe_status_text(int status)
{
    switch (status) {
        EXE_STATUS_LIST(STATUS_TEXT)
    default:
        return "unknown status";
    }
}

/* What an operation must have (needs), and may have; everything else must be zero. */
enum {
    F_APP = 1,
    F_CONTAINER = 2, /* attempt and container */
    F_USER = 4,
    F_LOCAL = 8,
    F_LOG = 16,
    F_WORK_DIR = 32,
    F_PROFILE = 64,
    F_WHAT = 128,
    F_VISIBILITY = 256,
    F_SIGNAL = 512,
    F_RESOURCE = 1024,
};

/* The fields of a request; -1 for an operation or a kind that there is not. */
static int fields(const struct exe_request *r)
{
    switch (r->op) {
    case EXE_OP_CHECK:
        return 0;
    case EXE_OP_INIT_APP:
        return F_APP | F_USER | F_LOCAL | F_LOG;
    case EXE_OP_LAUNCH:
        return F_APP | F_CONTAINER | F_USER | F_LOCAL | F_LOG | F_WORK_DIR | F_PROFILE;
    case EXE_OP_LOCALIZE:
        if (r->what == EXE_VISIBILITY_PUBLIC)
            return F_LOCAL | F_WHAT;
        if (r->what & ~(unsigned)(EXE_VISIBILITY_PRIVATE | EXE_VISIBILITY_APPLICATION))
            return -1;
        return F_APP | F_USER | F_LOCAL | F_WHAT;
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

static bool request_ok(const struct exe_request *r)
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
           (f & F_LOCAL ? r->local_mask != 0 : r->local_mask == 0) &&
           (f & F_LOG ? r->log_mask != 0 : r->log_mask == 0) &&
           (f & F_WORK_DIR ? r->work_dir < EXE_DIRS_MAX && (r->local_mask >> r->work_dir & 1)
                           : r->work_dir == 0) &&
           (f & F_PROFILE ? r->profile == EXE_PROFILE_STRICT : r->profile == 0) &&
           (f & F_WHAT ? r->what != 0 : r->what == 0) &&
           (f & F_VISIBILITY ? r->visibility != 0 : r->visibility == 0) &&
           (f & F_SIGNAL ? signal_ok(r->signal) : r->signal == 0) &&
           (f & F_RESOURCE ? r->resource_id != 0 && r->resource_id <= INT64_MAX
                           : r->resource_id == 0 && r->resource_dir == 0);
}

int exe_request_encode(const struct exe_request *r, uint8_t *buf, size_t size)
{
    size_t user_len = strnlen(r->user, sizeof(r->user));
    struct cursor c = { .p = buf, .len = size, .ok = request_ok(r) };
    put(&c, EXE_REQUEST_MAGIC, 4);
    put(&c, EXE_PROTOCOL_VERSION, 2);
    put(&c, r->op, 2);
    put(&c, r->request_id, 8);
    put(&c, (uint64_t)r->cluster_ts, 8);
    put(&c, (uint32_t)r->app, 4);
    put(&c, (uint32_t)r->attempt, 4);
    put(&c, (uint64_t)r->container, 8);
    put(&c, r->local_mask, 4);
    put(&c, r->log_mask, 4);
    put(&c, r->work_dir, 1);
    put(&c, r->profile, 1);
    put(&c, r->what, 1);
    put(&c, r->visibility, 1);
    put(&c, r->signal, 1);
    put(&c, r->resource_id, 8);
    put(&c, r->resource_dir, 4);
    put(&c, user_len, 2);
    uint8_t *user = take(&c, user_len);
    if (user)
        memcpy(user, r->user, user_len);
    return c.ok ? (int)c.pos : -EINVAL;
}

int exe_request_decode(const uint8_t *buf, size_t len, struct exe_request *ret)
{
    /* The cursor only reads here. */
    struct cursor c = { .p = (uint8_t *)(uintptr_t)buf, .len = len, .ok = true };
    struct exe_request r = { 0 };
    bool magic = get(&c, 4) == EXE_REQUEST_MAGIC;
    uint64_t version = get(&c, 2);
    if (!c.ok || !magic)
        return -EBADMSG;
    if (version != EXE_PROTOCOL_VERSION)
        return -EPROTONOSUPPORT;
    r.op = (uint16_t)get(&c, 2);
    r.request_id = get(&c, 8);
    r.cluster_ts = (int64_t)get(&c, 8);
    r.app = (int32_t)get(&c, 4);
    r.attempt = (int32_t)get(&c, 4);
    r.container = (int64_t)get(&c, 8);
    r.local_mask = (uint32_t)get(&c, 4);
    r.log_mask = (uint32_t)get(&c, 4);
    r.work_dir = (uint8_t)get(&c, 1);
    r.profile = (uint8_t)get(&c, 1);
    r.what = (uint8_t)get(&c, 1);
    r.visibility = (uint8_t)get(&c, 1);
    r.signal = (uint8_t)get(&c, 1);
    r.resource_id = get(&c, 8);
    r.resource_dir = (uint32_t)get(&c, 4);
    size_t user_len = (size_t)get(&c, 2);
    if (user_len > EXE_USER_MAX)
        return -EBADMSG;
    const uint8_t *user = take(&c, user_len);
    if (!c.ok || c.pos != len || memchr(user, '\0', user_len))
        return -EBADMSG;
    memcpy(r.user, user, user_len);
    if (!request_ok(&r))
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

int exe_reply_encode(const struct exe_reply *r, uint8_t *buf, size_t size)
{
    struct cursor c = { .p = buf, .len = size, .ok = r->text_len <= EXE_REPLY_TEXT_MAX };
    put(&c, EXE_REPLY_MAGIC, 4);
    put(&c, EXE_PROTOCOL_VERSION, 2);
    put(&c, r->status, 2);
    put(&c, r->request_id, 8);
    put(&c, (uint32_t)r->error, 4);
    put(&c, (uint32_t)r->pid, 4);
    put(&c, r->text_len, 2);
    put(&c, 0, EXE_REPLY_HEAD - 26);
    uint8_t *text = take(&c, r->text_len);
    if (text && r->text_len)
        memcpy(text, r->text, r->text_len);
    return c.ok ? (int)c.pos : -EINVAL;
}

int exe_reply_decode(const uint8_t *buf, size_t len, struct exe_reply *ret)
{
    struct cursor c = { .p = (uint8_t *)(uintptr_t)buf, .len = len, .ok = true };
    struct exe_reply r = { 0 };
    bool magic = get(&c, 4) == EXE_REPLY_MAGIC;
    uint64_t version = get(&c, 2);
    if (!c.ok || !magic)
        return -EBADMSG;
    if (version != EXE_PROTOCOL_VERSION)
        return -EPROTONOSUPPORT;
    r.status = (uint16_t)get(&c, 2);
    r.request_id = get(&c, 8);
    r.error = (int32_t)get(&c, 4);
    r.pid = (int32_t)get(&c, 4);
    r.text_len = (uint16_t)get(&c, 2);
    (void)take(&c, EXE_REPLY_HEAD - 26);
    r.text = (const char *)take(&c, r.text_len);
    if (!c.ok || c.pos != len)
        return -EBADMSG;
    *ret = r;
    return 0;
}

/* CRC-32 (IEEE 802.3), bit by bit: 124 bytes twice in a container's life. */
static uint32_t crc32(const uint8_t *p, size_t n)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

void exe_record_encode(const struct exe_record *r, uint8_t buf[EXE_RECORD_SIZE])
{
    struct cursor c = { .p = buf, .len = EXE_RECORD_SIZE, .ok = true };
    memset(buf, 0, EXE_RECORD_SIZE);
    put(&c, EXE_RECORD_MAGIC, 4);
    put(&c, EXE_PROTOCOL_VERSION, 2);
    put(&c, r->state, 2);
    put(&c, (uint64_t)r->cluster_ts, 8);
    put(&c, (uint32_t)r->app, 4);
    put(&c, (uint32_t)r->attempt, 4);
    put(&c, (uint64_t)r->container, 8);
    put(&c, (uint32_t)r->init_pid, 4);
    put(&c, r->uid, 4);
    put(&c, (uint64_t)r->start_ms, 8);
    put(&c, (uint64_t)r->end_ms, 8);
    put(&c, (uint32_t)r->exit_code, 4);
    put(&c, (uint32_t)r->signal, 4);
    put(&c, r->utime_us, 8);
    put(&c, r->stime_us, 8);
    put(&c, r->maxrss_kib, 8);
    c.pos = EXE_RECORD_SIZE - 4;
    put(&c, crc32(buf, EXE_RECORD_SIZE - 4), 4);
}

int exe_record_decode(const uint8_t *buf, size_t len, struct exe_record *ret)
{
    struct cursor c = { .p = (uint8_t *)(uintptr_t)buf, .len = len, .ok = true };
    struct exe_record r = { 0 };
    if (len != EXE_RECORD_SIZE || get(&c, 4) != EXE_RECORD_MAGIC ||
        get(&c, 2) != EXE_PROTOCOL_VERSION)
        return -EBADMSG;
    r.state = (uint16_t)get(&c, 2);
    r.cluster_ts = (int64_t)get(&c, 8);
    r.app = (int32_t)get(&c, 4);
    r.attempt = (int32_t)get(&c, 4);
    r.container = (int64_t)get(&c, 8);
    r.init_pid = (int32_t)get(&c, 4);
    r.uid = (uint32_t)get(&c, 4);
    r.start_ms = (int64_t)get(&c, 8);
    r.end_ms = (int64_t)get(&c, 8);
    r.exit_code = (int32_t)get(&c, 4);
    r.signal = (int32_t)get(&c, 4);
    r.utime_us = get(&c, 8);
    r.stime_us = get(&c, 8);
    r.maxrss_kib = get(&c, 8);
    c.pos = EXE_RECORD_SIZE - 4;
    if (get(&c, 4) != crc32(buf, EXE_RECORD_SIZE - 4) || r.state < EXE_RECORD_RUNNING ||
        r.state > EXE_RECORD_FAILED)
        return -EBADMSG;
    *ret = r;
    return 0;
}
