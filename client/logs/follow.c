/* See follow.h. The bytes are the application's: they are written to the user's terminal
 * unmodified, as with any command the user runs; only in whole lines, so that containers do not
 * mix. */
#include "client/logs/follow.h"

#include <errno.h>
#include <string.h>

#include "client/http/log-unframe.h"
#include "client/http/node-url.h"
#include "client/logs/log-tail.h"
#include "client/ui/progress.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/str.h"

#define CHUNK ((size_t)1 << 20)
#define WHOLE ((size_t)16 << 20) /* for a node that frames the text (log-unframe.h): no ranges */
#define LINE_MAX_BYTES ((size_t)64 << 10) /* a longer line is printed in pieces */
#define START_MAX 64 /* "&start=" and "&end=" with offsets, for Selvedge's NodeManager */
#define TRIES 10     /* attempts at the last poll, if the node does not answer */
#define RETRY_MS 200 /* between two of them */

struct cli_follow {
    struct cli_fetch *fetch;
    char *url, *prefix, *problem, *header;
    struct cli_tail *tail; /* until the existing text has been read */
    FILE *out;
    size_t url_len; /* without the offset, for which space is reserved */
    uint64_t offset;
    uint64_t announced; /* size of a framed log, as announced by the node */
    int64_t failed_at;  /* time of the last failed request */
    int64_t printed_at; /* time at which text was last printed */
    struct sv_buf line;
    bool open, last, complete, abandoned, framed;
    int tries, tries_max, missing;
};

struct cli_follow *cli_follow_new(struct cli_fetch *fetch, const char *user, const char *http,
                                  const char *container, const char *log, const char *prefix,
                                  FILE *out)
{
    struct cli_follow *f = calloc(1, sizeof(*f));
    _cleanup_free_ char *url = NULL, *path = NULL;

    if (!f)
        return NULL;
    f->fetch = fetch;
    f->out = out;
    f->tries_max = TRIES;
    f->line = SV_BUF_INIT(LINE_MAX_BYTES);
    f->prefix = strdup(prefix);
    if (!f->prefix || sv_asprintf(&path, "/logs/%s", log) < 0 ||
        cli_node_url(http, container, path, user, &url) < 0 ||
        sv_asprintf(&f->url, "%s&format=octet-stream%*s", url, START_MAX, "") < 0)
        return cli_follow_free(f);
    f->url_len = strlen(f->url) - START_MAX;
    return f;
}

struct cli_follow *cli_follow_free(struct cli_follow *f)
{
    if (f && f->open) {
        f->abandoned = true; /* freed by the response callback */
    } else if (f) {
        sv_buf_free(&f->line);
        if (f->tail)
            cli_tail_free(f->tail);
        free(f->tail);
        free(f->header);
        free(f->url);
        free(f->prefix);
        free(f->problem);
        free(f);
    }
    return NULL;
}

int cli_follow_header(struct cli_follow *f, const char *header)
{
    f->header = strdup(header);
    return f->header ? 0 : -ENOMEM;
}

int cli_follow_tail(struct cli_follow *f, uint64_t lines)
{
    f->tail = malloc(sizeof(*f->tail));
    if (!f->tail)
        return -ENOMEM;
    cli_tail_init(f->tail, lines);
    return 0;
}

void cli_follow_tries(struct cli_follow *f, int tries)
{
    f->tries_max = tries;
}

static void print_header(struct cli_follow *f)
{
    if (f->header)
        fprintf(f->out, "%s\n", f->header);
    free(f->header);
    f->header = NULL;
}

static void flush_line(struct cli_follow *f)
{
    if (f->line.len == 0)
        return;
    cli_progress_yield(f->out, *f->prefix || f->line.data[f->line.len - 1] == '\n');
    print_header(f);
    if (*f->prefix)
        fputs(f->prefix, f->out);
    fwrite(f->line.data, 1, f->line.len, f->out);
    if (*f->prefix && f->line.data[f->line.len - 1] != '\n')
        fputc('\n', f->out);
    f->line.len = 0;
}

/* Prints whole lines without a prefix unchanged; returns the number of bytes. */
static size_t print_lines(struct cli_follow *f, const char *p, size_t n)
{
    const char *last = *f->prefix || f->line.len > 0 ? NULL : memrchr(p, '\n', n);

    if (!last)
        return 0;
    cli_progress_yield(f->out, true);
    print_header(f);
    n = (size_t)(last - p) + 1;
    fwrite(p, 1, n, f->out);
    return n;
}

/* Consumes a line, or a part of one, which is printed once it is complete. */
static size_t take_line(struct cli_follow *f, const char *p, size_t n)
{
    const char *end = memchr(p, '\n', n);
    size_t take = SV_MIN(end ? (size_t)(end - p) + 1 : n, LINE_MAX_BYTES - f->line.len);

    if (sv_buf_put(&f->line, p, take) < 0)
        return n; /* out of memory: it is lost */
    if ((end && p + take == end + 1) || f->line.len == LINE_MAX_BYTES)
        flush_line(f);
    return take;
}

static void print(struct cli_follow *f, const char *p, size_t n)
{
    while (n > 0) {
        size_t done = print_lines(f, p, n);

        if (done == 0)
            done = take_line(f, p, n);
        p += done;
        n -= done;
    }
}

/* Prints the last lines that existed when the log was opened. */
static void print_tail(struct cli_follow *f)
{
    struct cli_tail *t = f->tail;

    f->tail = NULL;
    cli_tail_trim(t);
    print(f, (const char *)t->b.data, t->b.len);
    cli_tail_free(t);
    free(t);
}

/* Extracts the new part of a framed answer. False: this node has framed the log before, and does
 * not now. */
static bool unframe(struct cli_follow *f, const char **body, size_t *len)
{
    struct cli_log_frame frame;
    size_t known;

    if (!cli_log_unframe(*body, *len, &frame))
        return !f->framed;
    known = (size_t)SV_MIN(f->offset, (uint64_t)frame.len);
    f->framed = true;
    f->announced = frame.announced;
    *body = frame.text + known;
    *len = frame.len - known;
    return true;
}

static void take(struct cli_follow *f, const char *body, size_t len)
{
    if (f->tail)
        cli_tail_put(f->tail, body, len);
    else
        print(f, body, len);
}

static const char *reason(int status, const char *why)
{
    return status < 0      ? why
           : status == 404 ? "not found"
           : status == 403 ? "refused: only its owner, the application's viewers and "
                             "administrators may read it"
           : status == 503 ? "the node cannot read it now: its disk does not answer, or is bad"
                           : "HTTP error";
}

/* Called for the last expected answer. */
static void end(struct cli_follow *f, bool good, int status, const char *why)
{
    flush_line(f);
    if (good)
        print_header(f); /* also for an empty log */
    f->complete = true;
    f->missing = status == 404   ? -ENOENT
                 : status == 403 ? -EACCES
                 : status == 503 ? -EIO
                 : status < 0    ? -EHOSTUNREACH
                                 : 0;
    if (!good)
        (void)!sv_asprintf(&f->problem, "%s: %s", f->url, reason(status, why));
    else if (f->framed && f->announced > f->offset)
        (void)!sv_asprintf(&f->problem,
                           "%s: the node sent %llu of %llu bytes; of a node that sends logs as a "
                           "whole the first %zu MiB are shown, yarn logs shows all",
                           f->url, (unsigned long long)f->offset, (unsigned long long)f->announced,
                           WHOLE >> 20);
}

static void on_body(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct cli_follow *f = userdata;
    bool good = status == 200 || status == 206;
    bool cut = len == CHUNK && !f->framed; /* there may be more; framed logs are complete */

    if (status == 307) /* to the log service: the node has the log no more */
        status = 404;
    f->open = false;
    if (f->abandoned) {
        cli_follow_free(f);
        return;
    }
    if (good && (f->framed || f->offset == 0) && !unframe(f, &body, &len)) {
        good = false;
        status = -EBADMSG;
        why = "the answer has another form than the one before";
    }
    if (good) {
        f->offset += len;
        f->tries = 0;
        if (cut) /* fetches the rest while this part is printed */
            cli_follow_poll(f, f->last);
        take(f, body, len);
        f->printed_at = sv_now_ms(); /* a pager or a pipe may have taken its time */
        if (cut)
            return;
        if (f->tail)
            print_tail(f);
    } else {
        f->failed_at = sv_now_ms();
    }
    if (f->last && (good || status == 404 || status == 403 || ++f->tries >= f->tries_max))
        end(f, good, status, why);
    fflush(f->out);
}

void cli_follow_poll(struct cli_follow *f, bool last)
{
    if (f->open || f->complete || (f->tries > 0 && sv_now_ms() - f->failed_at < RETRY_MS))
        return;
    f->last = last;
    if (f->framed)
        f->url[f->url_len] = 0;
    else
        snprintf(f->url + f->url_len, START_MAX, "&start=%llu&end=%llu",
                 (unsigned long long)f->offset, (unsigned long long)(f->offset + CHUNK));
    f->open = cli_fetch_get(f->fetch, f->url, f->framed ? WHOLE : CHUNK, on_body, f) >= 0;
}

bool cli_follow_complete(const struct cli_follow *f)
{
    return f->complete;
}

int64_t cli_follow_printed_ms(const struct cli_follow *f)
{
    return f->printed_at;
}

int cli_follow_missing(const struct cli_follow *f)
{
    return f->missing;
}

const char *cli_follow_problem(const struct cli_follow *f)
{
    return f->problem;
}
