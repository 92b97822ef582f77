/* See request.h. */
#include "shuffle/request.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

struct text {
    const char *p;
    size_t len;
};

static int refuse(struct shf_refusal *why, unsigned status, const char *text)
{
    *why = (struct shf_refusal){ status, text };
    return -EBADMSG;
}

static bool is(struct text t, const char *s)
{
    return t.len == strlen(s) && memcmp(t.p, s, t.len) == 0;
}

static bool is_nocase(struct text t, const char *s)
{
    return t.len == strlen(s) && strncasecmp(t.p, s, t.len) == 0;
}

/* Cuts `*rest` at the first `c`; without one, returns all of it and leaves the rest empty. */
static struct text cut(struct text *rest, char c)
{
    const char *at = memchr(rest->p, c, rest->len);
    struct text part = { rest->p, at ? (size_t)(at - rest->p) : rest->len };
    size_t skip = at ? part.len + 1 : part.len;

    rest->p += skip;
    rest->len -= skip;
    return part;
}

/* True for an RFC 9110 token: methods and header names. */
static bool is_token(struct text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (!isalnum((unsigned char)t.p[i]) && !memchr("!#$%&'*+-.^_`|~", t.p[i], 15))
            return false;
    return t.len > 0;
}

/* ---- the query ---- */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes percent signs once and appends the text, NUL-terminated, to the names. */
static int decode(struct text t, struct shf_request *r, size_t *used, struct text *ret)
{
    size_t at = *used;

    for (size_t i = 0; i < t.len; i++) {
        char c = t.p[i];

        if (c == '%') {
            int high = t.len - i > 2 ? hex(t.p[i + 1]) : -1;
            int low = t.len - i > 2 ? hex(t.p[i + 2]) : -1;

            if (high < 0 || low < 0)
                return -EBADMSG;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        if (c == 0 || at + 1 >= sizeof(r->names))
            return -EBADMSG;
        r->names[at++] = c;
    }
    *ret = (struct text){ r->names + *used, at - *used };
    r->names[at++] = 0;
    *used = at;
    return 0;
}

/* True if usable as one path component: letters, digits, '_' and '-', as in YARN's ids. */
static bool is_id(struct text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (!isalnum((unsigned char)t.p[i]) && t.p[i] != '_' && t.p[i] != '-')
            return false;
    return t.len > 0 && t.len <= SHF_ID_MAX;
}

static int add_maps(struct shf_request *r, struct text list, struct shf_refusal *why)
{
    while (list.len > 0) {
        struct text map = cut(&list, ',');

        if (!is_id(map))
            return refuse(why, 400, "Bad map parameter");
        if (r->maps == SHF_MAPS_MAX)
            return refuse(why, 400, "Too many maps");
        r->map[r->maps++] = (uint16_t)(map.p - r->names);
        r->names[map.p - r->names + (ptrdiff_t)map.len] = 0; /* in place of the comma */
    }
    return 0;
}

/* "job_<timestamp>_<number>", digits alone. */
static bool is_job(struct text t)
{
    struct text rest = t, number;

    if (!is_id(t) || !is(cut(&rest, '_'), "job"))
        return false;
    for (int i = 0; i < 2; i++) {
        number = cut(&rest, '_');
        for (size_t k = 0; k < number.len; k++)
            if (!isdigit((unsigned char)number.p[k]))
                return false;
        if (number.len == 0 || number.len > 20)
            return false;
    }
    return rest.len == 0 && t.p[t.len - 1] != '_';
}

struct seen {
    unsigned job, reduce, keep_alive;
};

static int parameter(struct shf_request *r, struct text name, struct text value, struct seen *seen,
                     struct shf_refusal *why)
{
    uint64_t n;

    if (is(name, "map"))
        return add_maps(r, value, why);
    if (is(name, "job")) {
        if (seen->job++)
            return refuse(why, 400, "Too many job/reduce parameters");
        if (!is_job(value))
            return refuse(why, 400, "Bad job parameter");
        (void)snprintf(r->job, sizeof(r->job), "%.*s", (int)value.len, value.p);
    } else if (is(name, "reduce")) {
        if (seen->reduce++)
            return refuse(why, 400, "Too many job/reduce parameters");
        if (sv_parse_u64(value.p, 0, INT32_MAX, &n) < 0)
            return refuse(why, 400, "Bad reduce parameter");
        r->reduce = (uint32_t)n;
    } else if (is(name, "keepAlive")) {
        r->keep_alive = !seen->keep_alive++ && is_nocase(value, "true");
    }
    return 0;
}

static int parse_query(struct text query, struct shf_request *r, struct shf_refusal *why)
{
    struct seen seen = { 0 };
    size_t used = 0;

    while (query.len > 0) {
        struct text value = cut(&query, '&'), name = cut(&value, '=');
        int bad = decode(name, r, &used, &name);

        if (bad == 0)
            bad = decode(value, r, &used, &value);
        if (bad < 0)
            return refuse(why, 400, "Bad encoding of a parameter");
        bad = parameter(r, name, value, &seen, why);
        if (bad < 0)
            return bad;
    }
    if (!seen.job || !seen.reduce || r->maps == 0)
        return refuse(why, 400, "Required param job, map and reduce");
    return 0;
}

/* ---- request line and headers ---- */

struct headers {
    unsigned n, name, version, hash, host;
    bool good_name, good_version;
};

static int header(struct text line, struct shf_request *r, struct headers *h,
                  struct shf_refusal *why)
{
    struct text value = line, name = cut(&value, ':');

    if (name.len == line.len || !is_token(name) || ++h->n > SHF_HEADERS_MAX)
        return refuse(why, 400, "Bad header");
    while (value.len > 0 && (*value.p == ' ' || *value.p == '\t'))
        value.p++, value.len--;
    while (value.len > 0 && (value.p[value.len - 1] == ' ' || value.p[value.len - 1] == '\t'))
        value.len--;
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.p[i] < ' ' && value.p[i] != '\t')
            return refuse(why, 400, "Bad header");
    if (is_nocase(name, "name")) {
        h->name++;
        h->good_name = is(value, "mapreduce");
    } else if (is_nocase(name, "version")) {
        h->version++;
        h->good_version = is(value, "1.0.0");
    } else if (is_nocase(name, "UrlHash")) {
        h->hash++;
        if (value.len <= SHF_URL_HASH_MAX)
            (void)snprintf(r->url_hash, sizeof(r->url_hash), "%.*s", (int)value.len, value.p);
    } else if (is_nocase(name, "Host")) {
        h->host++;
    } else if (is_nocase(name, "Connection")) {
        r->close |= is_nocase(value, "close");
    } else if (is_nocase(name, "Transfer-Encoding") || is_nocase(name, "Expect") ||
               (is_nocase(name, "Content-Length") && !is(value, "0"))) {
        return refuse(why, 400, "A request has no body");
    }
    return 0;
}

/* Parses method and target, undecoded. */
static int request_line(struct text line, struct shf_request *r, struct text *ret_method,
                        struct shf_refusal *why)
{
    struct text method = cut(&line, ' '), uri = cut(&line, ' ');

    if (!is_token(method) || uri.len == 0 ||
        (!is(line, "HTTP/1.1") && !is(line, "HTTP/1.0") && !is(line, "HTTP/2.0")))
        return refuse(why, 400, "Bad request line");
    for (size_t i = 0; i < uri.len; i++)
        if (uri.p[i] <= ' ' || uri.p[i] == 127 || uri.p[i] == '#')
            return refuse(why, 400, "Bad request line");
    r->close = !is(line, "HTTP/1.1");
    r->uri = uri.p;
    r->uri_len = uri.len;
    *ret_method = method;
    return 0;
}

/* Checks in the order of Hadoop's answers: method, version, parameters. */
static int judge(struct shf_request *r, struct text method, const struct headers *h,
                 struct shf_refusal *why)
{
    struct text query = { r->uri, r->uri_len }, path;

    if (!is(method, "GET"))
        return refuse(why, 405, "");
    if (h->host > 1 || h->hash > 1 || h->name > 1 || h->version > 1)
        return refuse(why, 400, "Duplicate header");
    if (!h->good_name || !h->good_version)
        return refuse(why, 400, "Incompatible shuffle request version");
    path = cut(&query, '?');
    if (!is(path, "/mapOutput"))
        return refuse(why, 403, "");
    return parse_query(query, r, why);
}

/* Returns the next line, without its end; -EBADMSG for a bare LF or CR. */
static int next_line(struct text *rest, struct text *ret)
{
    struct text line = cut(rest, '\n');

    if (line.len == 0 || line.p[line.len - 1] != '\r' || memchr(line.p, '\r', line.len - 1) ||
        memchr(line.p, 0, line.len))
        return -EBADMSG;
    *ret = (struct text){ line.p, line.len - 1 };
    return 0;
}

int shf_request_parse(const char *data, size_t len, struct shf_request *ret,
                      struct shf_refusal *why)
{
    const char *end = memmem(data, SV_MIN(len, (size_t)SHF_REQUEST_MAX), "\r\n\r\n", 4);
    struct text rest = { data, end ? (size_t)(end - data) + 2 : 0 }, line, method;
    struct headers h = { 0 };
    int r = 0;

    if (!end)
        return len < SHF_REQUEST_MAX ? -EAGAIN : refuse(why, 400, "The request is too long");
    ret->uri = NULL;
    ret->uri_len = ret->maps = 0;
    ret->job[0] = ret->url_hash[0] = 0;
    ret->keep_alive = ret->close = false;
    ret->reduce = 0;
    if (next_line(&rest, &line) < 0)
        return refuse(why, 400, "Bad request line");
    r = request_line(line, ret, &method, why);
    while (r == 0 && rest.len > 0)
        r = next_line(&rest, &line) < 0 ? refuse(why, 400, "Bad header")
                                        : header(line, ret, &h, why);
    if (r == 0)
        r = judge(ret, method, &h, why);
    return r < 0 ? r : (int)(end - data) + 4;
}
