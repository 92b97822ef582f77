/* See log-server.h. */
#include "nodemanager/web/log-server.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/str.h"

#define URL_MAX (8 << 10)

static int put_escaped(struct sv_buf *b, const char *s)
{
    int r = 0;

    for (; r >= 0 && *s; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
                     (*s >= '0' && *s <= '9') || strchr("-._~:", *s);

        r = plain ? sv_buf_put_u8(b, (uint8_t)*s) : sv_buf_printf(b, "%%%02X", (unsigned char)*s);
    }
    return r;
}

/* Appends "/" and one component. */
static int put_component(struct sv_buf *b, const char *s)
{
    int r = sv_buf_put_u8(b, '/');

    return r < 0 ? r : put_escaped(b, s);
}

/* Without slashes at its end. */
static int put_server(struct sv_buf *b, const char *server)
{
    size_t n = strlen(server);

    while (n && server[n - 1] == '/')
        n--;
    return sv_buf_put(b, server, n);
}

/* Ends the text and hands it over. */
static int take(struct sv_buf *b, char **ret)
{
    int r = sv_buf_put_u8(b, 0);

    if (r < 0)
        return r;
    *ret = (char *)SV_TAKE(b->data);
    *b = SV_BUF_INIT(URL_MAX);
    return 0;
}

static int put_number(struct sv_buf *b, const char **mark, const char *name, const char *value)
{
    int64_t n;
    int r;

    if (!value || sv_parse_i64(value, INT64_MIN, INT64_MAX, &n) < 0)
        return 0;
    r = sv_buf_printf(b, "%s%s=%lld", *mark, name, (long long)n);
    *mark = "&";
    return r;
}

int nm_log_server_url(const struct nm_log_page *page, char **ret)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(URL_MAX);
    const char *const parts[] = { page->node, page->container, page->container, page->user,
                                  page->file };
    const char *mark = "?";
    int r = put_server(&b, page->server);

    for (size_t i = 0; r >= 0 && i < SV_ARRAY_LEN(parts) && parts[i]; i++)
        r = put_component(&b, parts[i]);
    if (r >= 0)
        r = put_number(&b, &mark, "start", page->start);
    if (r >= 0)
        r = put_number(&b, &mark, "end", page->end);
    return r < 0 ? r : take(&b, ret);
}

static int put_query(struct sv_buf *b, const char *mark, const struct nm_log_query *q)
{
    int r = sv_buf_printf(b, "%s%s=", mark, q->name);

    return r < 0 ? r : put_escaped(b, q->value);
}

int nm_log_service_url(const char *service, const char *container, const char *file,
                       const struct nm_log_query *query, char **ret)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(URL_MAX);
    const char *const parts[] = { "containers", container, "logs", file };
    const char *mark = "?";
    int r = put_server(&b, service);

    for (size_t i = 0; r >= 0 && i < SV_ARRAY_LEN(parts) && parts[i]; i++)
        r = put_component(&b, parts[i]);
    for (const struct nm_log_query *q = query; r >= 0 && q->name; q++) {
        if (!q->value)
            continue;
        r = put_query(&b, mark, q);
        mark = "&";
    }
    return r < 0 ? r : take(&b, ret);
}
