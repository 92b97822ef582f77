/* See records.h. */
#include "federation/store/records.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "common/utf8.h"

#define UTF8_CHARACTER 4 /* bytes at most */

static const char *const state_names[] = {
    [FED_NEW] = "SC_NEW",
    [FED_RUNNING] = "SC_RUNNING",
    [FED_UNHEALTHY] = "SC_UNHEALTHY",
    [FED_DECOMMISSIONING] = "SC_DECOMMISSIONING",
    [FED_LOST] = "SC_LOST",
    [FED_UNREGISTERED] = "SC_UNREGISTERED",
    [FED_DECOMMISSIONED] = "SC_DECOMMISSIONED",
};

const char *fed_state_name(enum fed_state s)
{
    return s >= FED_NEW && s <= FED_DECOMMISSIONED ? state_names[s] : "SC_?";
}

int fed_state_parse(const char *name, enum fed_state *ret)
{
    for (enum fed_state s = FED_NEW; s <= FED_DECOMMISSIONED; s++)
        if (sv_streq(name, state_names[s])) {
            *ret = s;
            return 0;
        }
    return -EINVAL;
}

/* A record that is being taken: its name in messages, and where it goes. */
struct taking {
    struct sv_arena *a;
    unsigned fields;
    char name[128]; /* "member SC-1" */
    struct sv_error *err;
};

static void call_it(struct taking *t, const char *kind, const char *id)
{
    size_t n = strlen(kind);

    memcpy(t->name, kind, n);
    t->name[n++] = ' ';
    sv_escape(t->name + n, sizeof(t->name) - n, id ?: "?");
}

static int broken(const struct taking *t, const char *field, const char *rule)
{
    return sv_error_set(t->err, -EINVAL, "%s: %s %s", t->name, field, rule);
}

/* A copy of the text, or NULL without memory. */
static int copy(const struct taking *t, const void *in, size_t n, const void **ret)
{
    char *p = sv_arena_alloc(t->a, n + 1);

    if (!p)
        return sv_error_set(t->err, -ENOMEM, "%s: out of memory", t->name);
    memcpy(p, in, n);
    *ret = p;
    return 0;
}

static bool printable(const char *text, size_t n)
{
    uint32_t c;

    for (size_t i = 0, len; i < n; i += len) {
        len = sv_utf8_at(text + i, n - i, &c);
        if (len == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0))
            return false;
    }
    return true;
}

/* A text of one line; `max` counts characters in an answer, and bytes in a request. */
static int take_line(const struct taking *t, const char *field, const char *in, size_t max,
                     const char **ret)
{
    size_t bytes = t->fields & FED_F_STORED ? max * UTF8_CHARACTER : max;
    size_t n = in ? strnlen(in, bytes + 1) : 0;

    if (n == 0)
        return broken(t, field, "is missing");
    if (n > bytes)
        return broken(t, field, "is too long");
    if (!printable(in, n))
        return broken(t, field, "must be UTF-8 without control characters");
    return copy(t, in, n, (const void **)ret);
}

static int take_bytes(const struct taking *t, const char *field, const uint8_t *in, size_t n,
                      size_t max, const uint8_t **ret)
{
    if (n > max)
        return broken(t, field, "is too long");
    return in ? copy(t, in, n, (const void **)ret) : 0;
}

static int take_time(const struct taking *t, const char *field, int64_t in, int64_t *ret)
{
    if (in < 0)
        return broken(t, field, "is a time before 1970");
    *ret = in;
    return 0;
}

/* "host:port", "[v6]:port"; Hadoop's rule: neither scheme nor path. */
static int take_address(const struct taking *t, const char *field, const char *in, const char **ret)
{
    const char *colon = in ? strrchr(in, ':') : NULL;
    uint64_t port;

    if (!colon || colon == in || strpbrk(in, "/?#@ ") ||
        sv_parse_u64(colon + 1, 0, UINT16_MAX, &port) < 0 ||
        (in[0] == '[' ? colon[-1] != ']' : memchr(in, ':', (size_t)(colon - in)) != NULL))
        return broken(t, field, "must be host:port");
    return take_line(t, field, in, FED_NAME_MAX, ret);
}

static int take_addresses(const struct taking *t, const struct fed_member *in,
                          struct fed_member *ret)
{
    int r = take_address(t, "the address of masters", in->am, &ret->am);

    if (r == 0)
        r = take_address(t, "the address of clients", in->client, &ret->client);
    if (r == 0)
        r = take_address(t, "the address of administrators", in->admin, &ret->admin);
    return r < 0 ? r : take_address(t, "the web address", in->web, &ret->web);
}

static int take_state(const struct taking *t, enum fed_state in, enum fed_state *ret)
{
    if (in < FED_NEW || in > FED_DECOMMISSIONED)
        return broken(t, "the state", "is none of Hadoop's");
    if ((t->fields & FED_F_FINAL) && !fed_state_final(in))
        return broken(t, "the state",
                      "must be a final one: SC_UNREGISTERED, SC_DECOMMISSIONED or SC_LOST");
    *ret = in;
    return 0;
}

static int take_capability(const struct taking *t, const char *in, const char **ret)
{
    size_t max = FED_CAPABILITY_MAX * (t->fields & FED_F_STORED ? UTF8_CHARACTER : 1);
    size_t n = in ? strnlen(in, max + 1) : 0;

    if (n == 0 && (t->fields & FED_F_CAPABILITY))
        return broken(t, "the capability", "is missing");
    if (n > max)
        return broken(t, "the capability", "is too long");
    return copy(t, in ?: "", n, (const void **)ret);
}

static int take_member(struct taking *t, const void *record, void *copied)
{
    const struct fed_member *in = record;
    struct fed_member *ret = copied;
    int r = 0;

    call_it(t, "member", in->id);
    if (t->fields & FED_F_ID)
        r = take_line(t, "its id", in->id, FED_NAME_MAX, &ret->id);
    if (r == 0 && (t->fields & FED_F_ADDRESSES))
        r = take_addresses(t, in, ret);
    if (r == 0 && (t->fields & (FED_F_STATE | FED_F_FINAL)))
        r = take_state(t, in->state, &ret->state);
    if (r == 0 && (t->fields & FED_F_START))
        r = take_time(t, "its start", in->last_start_ms, &ret->last_start_ms);
    if (r == 0 && (t->fields & FED_F_STORED))
        r = take_time(t, "its heartbeat", in->last_heartbeat_ms, &ret->last_heartbeat_ms);
    if (r == 0 && (t->fields & (FED_F_CAPABILITY | FED_F_START)))
        r = take_capability(t, in->capability, &ret->capability);
    return r;
}

static int take_home_name(const struct taking *t, const char *in, const char **ret)
{
    if (!in && (t->fields & FED_F_SOME_HOME))
        return 0;
    return take_line(t, "its home", in, FED_NAME_MAX, ret);
}

static int take_home(struct taking *t, const void *record, void *copied)
{
    const struct fed_home *in = record;
    struct fed_home *ret = copied;
    char text[YARN_ID_TEXT_MAX];
    int r = 0;

    call_it(t, "home of", yarn_app_id_text(in->app, text));
    if (t->fields & FED_F_ID) {
        if (in->app.cluster_ts < 0 || in->app.id <= 0)
            return broken(t, "the application", "is none");
        ret->app = in->app;
    }
    if (t->fields & (FED_F_HOME | FED_F_SOME_HOME))
        r = take_home_name(t, in->home, &ret->home);
    if (r == 0 && (t->fields & FED_F_STORED))
        r = take_time(t, "its creation", in->created_ms, &ret->created_ms);
    if (r == 0 && (t->fields & FED_F_VALUE) && in->context) {
        r = take_bytes(t, "its submission context", in->context, in->context_len, FED_CONTEXT_MAX,
                       &ret->context);
        ret->context_len = in->context_len;
    }
    return r;
}

/* "reservation_<timestamp>_<number>". */
static bool is_reservation(const char *id)
{
    static const char prefix[] = "reservation_";
    const char *digits = id && sv_has_prefix(id, prefix) ? id + sizeof(prefix) - 1 : "";
    size_t n = strspn(digits, "0123456789");
    size_t m = digits[n] == '_' ? strspn(digits + n + 1, "0123456789") : 0;

    return n > 0 && m > 0 && digits[n + 1 + m] == '\0';
}

static int take_reservation(struct taking *t, const void *record, void *copied)
{
    const struct fed_reservation *in = record;
    struct fed_reservation *ret = copied;
    int r = 0;

    call_it(t, "home of", in->id);
    if (t->fields & FED_F_ID) {
        if (!is_reservation(in->id))
            return broken(t, "the reservation", "is none");
        r = take_line(t, "the reservation", in->id, FED_RESERVATION_MAX, &ret->id);
    }
    if (r == 0 && (t->fields & FED_F_HOME))
        r = take_home_name(t, in->home, &ret->home);
    return r;
}

static int take_policy(struct taking *t, const void *record, void *copied)
{
    const struct fed_policy *in = record;
    struct fed_policy *ret = copied;
    int r = 0;

    call_it(t, "policy of queue", in->queue);
    if (t->fields & FED_F_ID)
        r = take_line(t, "the queue", in->queue, FED_NAME_MAX, &ret->queue);
    if (r == 0 && (t->fields & FED_F_VALUE))
        r = take_line(t, "its class", in->type, FED_NAME_MAX, &ret->type);
    if (r == 0 && (t->fields & FED_F_VALUE) && in->params && in->params_len > 0) {
        r = take_bytes(t, "its parameter", in->params, in->params_len, FED_PARAMS_MAX,
                       &ret->params);
        ret->params_len = in->params_len;
    }
    return r;
}

static int take_key(struct taking *t, const void *record, void *copied)
{
    const struct fed_key *in = record;
    struct fed_key *ret = copied;
    int r;

    call_it(t, "the Router's key", NULL);
    ret->id = in->id;
    if (!(t->fields & FED_F_VALUE))
        return 0;
    if (!in->bytes || in->len == 0)
        return broken(t, "its secret", "is missing");
    r = take_time(t, "its end", in->expiry_ms, &ret->expiry_ms);
    ret->len = in->len;
    return r < 0 ? r : take_bytes(t, "its secret", in->bytes, in->len, FED_KEY_MAX, &ret->bytes);
}

static int take_token(struct taking *t, const void *record, void *copied)
{
    const struct fed_token *in = record;
    struct fed_token *ret = copied;
    const char *info = in->info ?: "";
    int r;

    call_it(t, "the Router's token", NULL);
    ret->sequence = in->sequence;
    if (!(t->fields & FED_F_VALUE))
        return 0;
    if (!in->identifier || in->identifier_len == 0)
        return broken(t, "its identifier", "is missing");
    r = take_time(t, "its renewal", in->renew_ms, &ret->renew_ms);
    ret->identifier_len = in->identifier_len;
    if (r == 0)
        r = take_bytes(t, "its identifier", in->identifier, in->identifier_len, FED_TOKEN_TEXT_MAX,
                       &ret->identifier);
    if (r == 0 && strlen(info) > FED_TOKEN_INFO_MAX)
        r = broken(t, "its text", "is too long");
    return r < 0 ? r : copy(t, info, strlen(info), (const void **)&ret->info);
}

static int take_sequence(struct taking *t, const void *record, void *copied)
{
    const struct fed_sequence *in = record;
    struct fed_sequence *ret = copied;

    call_it(t, "the Router's counter", NULL);
    if (in->counter < 0 || in->counter >= FED_COUNTERS)
        return broken(t, "the counter", "is none");
    ret->counter = in->counter;
    if (!(t->fields & FED_F_VALUE))
        return 0;
    if (in->value <= 0)
        return broken(t, "its value", "must be above 0");
    ret->value = in->value;
    return 0;
}

static int take_version(struct taking *t, const void *record, void *copied)
{
    (void)t;
    memcpy(copied, record, sizeof(struct fed_version));
    return 0;
}

static const struct {
    size_t size;
    unsigned stored;
    int (*take)(struct taking *t, const void *record, void *copied);
} kinds[FED_KINDS] = {
    [FED_MEMBER] = { sizeof(struct fed_member), FED_F_ADDRESSES | FED_F_STATE | FED_F_START,
                     take_member },
    [FED_HOME] = { sizeof(struct fed_home), FED_F_HOME, take_home },
    [FED_RESERVATION] = { sizeof(struct fed_reservation), FED_F_HOME, take_reservation },
    [FED_POLICY] = { sizeof(struct fed_policy), 0, take_policy },
    [FED_KEY] = { sizeof(struct fed_key), 0, take_key },
    [FED_TOKEN] = { sizeof(struct fed_token), 0, take_token },
    [FED_SEQUENCE] = { sizeof(struct fed_sequence), 0, take_sequence },
    [FED_VERSION] = { sizeof(struct fed_version), 0, take_version },
};

unsigned fed_record_stored(enum fed_kind kind)
{
    return FED_F_ID | FED_F_VALUE | FED_F_STORED | kinds[kind].stored;
}

size_t fed_record_size(enum fed_kind kind)
{
    return kinds[kind].size;
}

int fed_record_take(struct sv_arena *a, enum fed_kind kind, unsigned fields, const void *in,
                    void *ret, struct sv_error *err)
{
    struct taking t = { .a = a, .fields = fields, .err = err };

    memset(ret, 0, kinds[kind].size);
    return kinds[kind].take(&t, in, ret);
}
