/* See protocol.h. */
#include "gss/protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define ANSWER 0x80

/* ---- Texts and data ---- */

/* A principal: libkrb5 writes blanks and control characters of a component as they are, or behind a
 * backslash; none of our users has one. */
static bool is_name(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] <= 0x20 || s[i] == 0x7f)
            return false;
    return n <= SGSS_NAME_MAX;
}

static bool is_words(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] < 0x20 || s[i] > 0x7e)
            return false;
    return n <= SGSS_WORDS_MAX;
}

void sgss_words(char dst[SGSS_WORDS_MAX + 1], const char *src)
{
    size_t n = strnlen(src, SGSS_WORDS_MAX);

    for (size_t i = 0; i < n; i++)
        dst[i] = src[i] < 0x20 || src[i] > 0x7e ? '?' : src[i];
    dst[n] = 0;
}

void sgss_socket_prepare(int fd)
{
    int bytes = 2 * SGSS_FRAME_MAX;

    /* The usual size holds every packet that has been seen, ignoring. */
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

static int put_text(struct sv_buf *b, const char *s)
{
    size_t n = s ? strlen(s) : 0;
    int r = n > UINT16_MAX ? -EINVAL : sv_buf_put_u16(b, (uint16_t)n);

    return r < 0 ? r : sv_buf_put(b, s ? s : "", n + 1);
}

static int get_text(struct sv_buf *b, bool (*is_ok)(const char *s, size_t n), const char **ret)
{
    const uint8_t *p;
    uint16_t n;

    if (sv_buf_get_u16(b, &n) < 0 || sv_buf_get_ref(b, &p, (size_t)n + 1) < 0 || p[n] != 0 ||
        memchr(p, 0, n) || !is_ok((const char *)p, n))
        return -EBADMSG;
    *ret = (const char *)p;
    return 0;
}

static int put_data(struct sv_buf *b, const uint8_t *p, size_t n)
{
    int r = n > UINT32_MAX ? -EINVAL : sv_buf_put_u32(b, (uint32_t)n);

    return r < 0 || n == 0 ? r : sv_buf_put(b, p, n);
}

static int get_data(struct sv_buf *b, size_t max, const uint8_t **ret, size_t *ret_len)
{
    uint32_t n;

    if (sv_buf_get_u32(b, &n) < 0 || n > max || sv_buf_get_ref(b, ret, n) < 0)
        return -EBADMSG;
    *ret_len = n;
    return 0;
}

/* ---- Requests ---- */

enum { NEVER, MAYBE, ALWAYS };

/* The fields of each kind, beside principal, which all but FORGET have. */
static const struct {
    uint8_t id, handshake, principal, target, token;
} fields[] = {
    [SGSS_ACCEPT] = { ALWAYS, ALWAYS, ALWAYS, NEVER, ALWAYS },
    [SGSS_INIT] = { ALWAYS, ALWAYS, ALWAYS, ALWAYS, MAYBE },
    [SGSS_LOGIN] = { ALWAYS, NEVER, ALWAYS, NEVER, NEVER },
    [SGSS_FORGET] = { NEVER, ALWAYS, NEVER, NEVER, NEVER },
    [SGSS_WEB] = { ALWAYS, NEVER, ALWAYS, NEVER, ALWAYS },
};

static bool fits(uint8_t rule, bool there)
{
    return rule == MAYBE || there == (rule == ALWAYS);
}

/* A key of RPC, which has no replay cache, must not answer web clients. */
static bool is_web_principal(const char *s)
{
    return strcmp(s, SGSS_WEB_ANY) == 0 ||
           strncmp(s, SGSS_WEB_PREFIX, strlen(SGSS_WEB_PREFIX)) == 0;
}

static bool request_is_ok(const struct sgss_request *m)
{
    if (m->kind < SGSS_ACCEPT || m->kind > SGSS_WEB)
        return false;
    if (m->kind == SGSS_WEB && !is_web_principal(m->principal))
        return false;
    return fits(fields[m->kind].id, m->id != 0) &&
           fits(fields[m->kind].handshake, m->handshake != 0) &&
           fits(fields[m->kind].id, m->deadline_ms != 0) && /* an answer has a deadline */
           fits(fields[m->kind].principal, m->principal[0]) &&
           fits(fields[m->kind].target, m->target[0]) &&
           fits(fields[m->kind].token, m->token_len > 0) && m->deadline_ms <= SGSS_DEADLINE_MAX_MS;
}

int sgss_request_put(struct sv_buf *b, const struct sgss_request *m)
{
    struct sgss_request own = *m;
    size_t start = b->len;
    int r;

    own.principal = m->principal ? m->principal : "";
    own.target = m->target ? m->target : "";
    if (!request_is_ok(&own) || !is_name(own.principal, strlen(own.principal)) ||
        !is_name(own.target, strlen(own.target)) || own.token_len > SGSS_TOKEN_MAX)
        return -EINVAL;
    r = sv_buf_put_u8(b, SGSS_VERSION);
    r = r < 0 ? r : sv_buf_put_u8(b, (uint8_t)own.kind);
    r = r < 0 ? r : sv_buf_put_u64(b, own.id);
    r = r < 0 ? r : sv_buf_put_u64(b, own.handshake);
    r = r < 0 ? r : sv_buf_put_u32(b, own.deadline_ms);
    r = r < 0 ? r : put_text(b, own.principal);
    r = r < 0 ? r : put_text(b, own.target);
    r = r < 0 ? r : put_data(b, own.token, own.token_len);
    if (r < 0)
        b->len = start;
    return r;
}

int sgss_request_get(const uint8_t *p, size_t n, struct sgss_request *ret)
{
    struct sv_buf b = SV_BUF_VIEW(p, n);
    struct sgss_request m = { 0 };
    uint8_t version, kind;

    if (n > SGSS_FRAME_MAX || sv_buf_get_u8(&b, &version) < 0 || version != SGSS_VERSION ||
        sv_buf_get_u8(&b, &kind) < 0 || sv_buf_get_u64(&b, &m.id) < 0 ||
        sv_buf_get_u64(&b, &m.handshake) < 0 || sv_buf_get_u32(&b, &m.deadline_ms) < 0 ||
        get_text(&b, is_name, &m.principal) < 0 || get_text(&b, is_name, &m.target) < 0 ||
        get_data(&b, SGSS_TOKEN_MAX, &m.token, &m.token_len) < 0 || sv_buf_left(&b) > 0)
        return -EBADMSG;
    m.kind = kind;
    if (!request_is_ok(&m))
        return -EBADMSG;
    *ret = m;
    return 0;
}

/* ---- Answers ---- */

/* A failure has words and nothing else; a context comes with OK alone, and with a name. */
static bool answer_is_ok(const struct sgss_answer *m)
{
    if (m->id == 0 || m->status >= SGSS_STATUSES || m->flags & ~SGSS_FLAGS)
        return false;
    if (m->status >= SGSS_REFUSED)
        return m->words[0] && !m->flags && !m->until && !m->name[0] && m->token_len == 0 &&
               m->context_len == 0;
    if (m->status == SGSS_MORE)
        return !m->words[0] && !m->flags && !m->until && !m->name[0] && m->token_len > 0 &&
               m->context_len == 0;
    /* of a handshake: context and name; of WEB: a name; of LOGIN: neither, and no token */
    if (m->words[0] || (m->context_len > 0 && !m->name[0]))
        return false;
    return m->context_len > 0 || (!m->flags && (m->name[0] || m->token_len == 0));
}

int sgss_answer_put(struct sv_buf *b, const struct sgss_answer *m)
{
    struct sgss_answer own = *m;
    size_t start = b->len;
    int r;

    own.name = m->name ? m->name : "";
    own.words = m->words ? m->words : "";
    if (!answer_is_ok(&own) || !is_name(own.name, strlen(own.name)) ||
        !is_words(own.words, strlen(own.words)) || own.token_len > SGSS_TOKEN_MAX ||
        own.context_len > SGSS_CONTEXT_MAX)
        return -EINVAL;
    r = sv_buf_put_u8(b, SGSS_VERSION);
    r = r < 0 ? r : sv_buf_put_u8(b, ANSWER);
    r = r < 0 ? r : sv_buf_put_u64(b, own.id);
    r = r < 0 ? r : sv_buf_put_u8(b, (uint8_t)own.status);
    r = r < 0 ? r : sv_buf_put_u8(b, own.flags);
    r = r < 0 ? r : sv_buf_put_u64(b, own.until);
    r = r < 0 ? r : put_text(b, own.name);
    r = r < 0 ? r : put_text(b, own.words);
    r = r < 0 ? r : put_data(b, own.token, own.token_len);
    r = r < 0 ? r : put_data(b, own.context, own.context_len);
    if (r < 0)
        b->len = start;
    return r;
}

int sgss_answer_get(const uint8_t *p, size_t n, struct sgss_answer *ret)
{
    struct sv_buf b = SV_BUF_VIEW(p, n);
    struct sgss_answer m = { 0 };
    uint8_t version, kind, status;

    if (n > SGSS_FRAME_MAX || sv_buf_get_u8(&b, &version) < 0 || version != SGSS_VERSION ||
        sv_buf_get_u8(&b, &kind) < 0 || kind != ANSWER || sv_buf_get_u64(&b, &m.id) < 0 ||
        sv_buf_get_u8(&b, &status) < 0 || sv_buf_get_u8(&b, &m.flags) < 0 ||
        sv_buf_get_u64(&b, &m.until) < 0 || get_text(&b, is_name, &m.name) < 0 ||
        get_text(&b, is_words, &m.words) < 0 ||
        get_data(&b, SGSS_TOKEN_MAX, &m.token, &m.token_len) < 0 ||
        get_data(&b, SGSS_CONTEXT_MAX, &m.context, &m.context_len) < 0 || sv_buf_left(&b) > 0)
        return -EBADMSG;
    m.status = status;
    if (!answer_is_ok(&m))
        return -EBADMSG;
    *ret = m;
    return 0;
}
