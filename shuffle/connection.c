/* See connection.h. READING → LOOKING (if an index is not cached) → SENDING → READING (kept alive)
 * or LINGERING → ended. A refusal is SENDING without maps. */
#include "shuffle/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "shuffle/request.h"
#include "shuffle/response.h"
#include "shuffle/stream.h"
#include "shuffle/url-hash.h"

enum state { READING, LOOKING, SENDING, LINGERING };

struct exchange { /* one request; freed with its answer */
    struct shf_request request;
    const struct shf_job *job;
    struct shf_output *outputs;     /* one per map */
    size_t found;                   /* of them */
    uint64_t length;                /* of their parts and headers */
    int fds[SHF_SESSION_FILES_MAX]; /* open files of the first maps */
    size_t next;                    /* next map to send the header of */
    int fd;                         /* file being sent, or -1 */
    uint64_t at, end, ahead;        /* offsets in it; `ahead`: end of the read-ahead */
    char reply_hash[SHF_HASH_TEXT + 1];
};

struct shf_connection {
    struct shf_service *service;
    struct shf_stream stream;
    enum state state;
    bool keep; /* keep alive after the answer */
    _Atomic int64_t deadline_ms;
    char *in; /* SHF_REQUEST_MAX bytes while a request is read, else NULL */
    size_t in_len;
    struct exchange *x;
    size_t out_len, out_at; /* of `out`: head of the answer, or header of a map */
    char out[SHF_HEAD_MAX];
};

static void set_deadline(struct shf_connection *c, unsigned seconds)
{
    c->deadline_ms = sv_now_ms() + (int64_t)seconds * 1000;
}

int64_t shf_connection_deadline(const struct shf_connection *c)
{
    return c->deadline_ms;
}

void shf_connection_abort(struct shf_connection *c)
{
    (void)shutdown(c->stream.fd, SHUT_RDWR); /* it may be gone already, ignoring */
}

static struct exchange *exchange_free(struct exchange *x)
{
    if (!x)
        return NULL;
    for (size_t i = 0; i < SHF_SESSION_FILES_MAX; i++)
        (void)sv_close(x->fds[i]);
    (void)sv_close(x->fd);
    shf_job_put(x->job);
    free(x->outputs);
    free(x);
    return NULL;
}

static void refuse(struct shf_connection *c, const struct shf_refusal *why)
{
    c->x = exchange_free(c->x);
    c->keep = false;
    c->out_len = shf_response_refusal(c->out, why);
    c->out_at = 0;
    c->state = SENDING;
    set_deadline(c, SHF_REQUEST_SECONDS);
}

struct shf_connection *shf_connection_new(struct shf_service *s, int fd, bool refused)
{
    struct shf_connection *c = calloc(1, sizeof(*c));

    if (!c) {
        (void)sv_close(fd);
        return NULL;
    }
    c->service = s;
    c->stream.fd = fd;
    set_deadline(c, SHF_REQUEST_SECONDS);
    if (refused)
        refuse(c, &(struct shf_refusal){ 429, "" });
    if (s->tls)
        set_deadline(c, SHF_HANDSHAKE_SECONDS);
    return c;
}

void shf_connection_reject(const struct shf_service *s, int fd)
{
    char text[SHF_HEAD_MAX];
    size_t n = shf_response_refusal(text, &(struct shf_refusal){ 429, "" });

    if (!s->tls)
        (void)send(fd, text, n, MSG_NOSIGNAL | MSG_DONTWAIT); /* ignoring */
    (void)sv_close(fd);
}

int shf_connection_handshake(struct shf_connection *c, uint32_t *ret_events, const char **ret_why)
{
    int r = shf_stream_handshake(&c->stream, c->service->tls, ret_why);

    if (r == 0) {
        set_deadline(c, SHF_REQUEST_SECONDS);
        *ret_events = c->state == SENDING ? EPOLLOUT : EPOLLIN;
    }
    if (r == -EAGAIN)
        *ret_events = c->stream.wants;
    return r;
}

struct shf_connection *shf_connection_free(struct shf_connection *c)
{
    if (!c)
        return NULL;
    c->x = exchange_free(c->x);
    free(c->in);
    shf_stream_close(&c->stream);
    free(c);
    return NULL;
}

/* ---- a request ---- */

/* Returns the job if the request proves knowledge of its token. Unknown jobs, missing and wrong
 * hashes get the same answer after the same work. */
static int authenticate(struct shf_connection *c, struct exchange *x)
{
    static const struct shf_job nobody = { .secret = "no such job", .secret_len = 11 };
    const struct shf_request *r = &x->request;

    x->job = shf_jobs_get(c->service->jobs, r->job);
    const struct shf_job *job = x->job ? x->job : &nobody;
    bool good = shf_url_hash_verify(job->secret, job->secret_len, c->service->port, r->uri,
                                    r->uri_len, r->url_hash);
    if (!x->job || !good)
        return -EACCES;
    return shf_hash(job->secret, job->secret_len, r->url_hash, strlen(r->url_hash), x->reply_hash);
}

/* Finds all outputs before the answer begins: if one is missing, the whole request fails, as in
 * Hadoop. -EAGAIN: another turn is needed, to read an index or after many maps. */
static int find_outputs(struct shf_connection *c, struct exchange *x, bool may_read,
                        struct sv_error *err)
{
    struct shf_service *s = c->service;
    uint8_t header[SHF_MAP_HEADER_MAX];

    for (unsigned n = 0; x->found < x->request.maps; n++) {
        const char *map = shf_request_map(&x->request, x->found);
        struct shf_output *o = &x->outputs[x->found];
        int fd, r = n < SHF_MAPS_A_TURN ? shf_output_find(&s->dirs, s->cache, x->job, map,
                                                          x->request.reduce, &may_read, o, &fd, err)
                                        : -EAGAIN;

        if (r < 0)
            return r;
        if (x->found < s->conf.session_files)
            x->fds[x->found] = fd;
        else
            (void)sv_close(fd);
        x->found++;
        x->length += shf_map_header(header, map, &o->segment, x->request.reduce);
        if (__builtin_add_overflow(x->length, o->segment.part, &x->length) || x->length > INT64_MAX)
            return sv_error_set(err, -EBADMSG, "%s: too long", map);
    }
    return 0;
}

static struct exchange *exchange_new(void)
{
    struct exchange *x = malloc(sizeof(*x));

    if (!x)
        return NULL;
    x->job = NULL;
    x->outputs = NULL;
    x->next = x->found = 0;
    x->length = 0;
    x->fd = -1;
    x->at = x->end = x->ahead = 0;
    for (size_t i = 0; i < SHF_SESSION_FILES_MAX; i++)
        x->fds[i] = -1;
    return x;
}

static void refuse_outputs(struct shf_connection *c, int r, const struct sv_error *err)
{
    struct shf_refusal why = { 500, "" };

    sv_log_warning("%s: %s", c->x->job->id, err->text);
    c->service->outputs_failed++;
    if (r == -EMFILE || r == -ENFILE || r == -ENOMEM)
        why.status = 429;
    else
        why.text = err->text;
    refuse(c, &why);
}

/* Goes on to find the outputs; the answer begins when all are found. */
static void look_up(struct shf_connection *c, bool may_read)
{
    struct exchange *x = c->x;
    struct sv_error err = { 0 };
    int r = find_outputs(c, x, may_read, &err);

    set_deadline(c, SHF_STALL_SECONDS);
    if (r == -EAGAIN) {
        c->state = LOOKING;
        return;
    }
    if (r < 0) {
        refuse_outputs(c, r, &err);
        return;
    }
    c->keep = !x->request.close && (x->request.keep_alive || c->service->conf.keep_alive);
    c->out_len = shf_response_ok(c->out, x->reply_hash, c->keep ? c->service->conf.keep_alive_s : 0,
                                 x->length);
    c->out_at = 0;
    c->state = SENDING;
}

static void begin_answer(struct shf_connection *c, struct exchange *x)
{
    c->x = x;
    if (authenticate(c, x) < 0) {
        sv_log_debug("%s: refused: unknown job or wrong hash", x->request.job);
        refuse(c, &(struct shf_refusal){ 401, "fetcher cannot be authenticated" });
        return;
    }
    x->outputs = calloc(x->request.maps, sizeof(*x->outputs));
    if (!x->outputs)
        refuse_outputs(c, -ENOMEM, &(struct sv_error){ .text = "out of memory" });
    else
        look_up(c, false);
}

const char *shf_connection_job(const struct shf_connection *c)
{
    return c->x->job->id;
}

/* Parses the bytes received so far. False: incomplete. */
static bool take_request(struct shf_connection *c)
{
    struct shf_refusal why;
    struct exchange *x = exchange_new();
    int n;

    if (!x) {
        refuse(c, &(struct shf_refusal){ 429, "" });
        return true;
    }
    n = shf_request_parse(c->in, c->in_len, &x->request, &why);
    if (n > 0)
        begin_answer(c, x); /* the target still points into c->in */
    else
        (void)exchange_free(x);
    if (n == -EBADMSG)
        refuse(c, &why);
    if (n > 0) {
        c->in_len -= (size_t)n;
        memmove(c->in, c->in + n, c->in_len);
    }
    if (c->in_len == 0) {
        free(c->in);
        c->in = NULL;
    }
    return n != -EAGAIN;
}

/* Reads once into c->in: > 0; 0: end of file; -errno. */
static ssize_t read_more(struct shf_connection *c)
{
    ssize_t n;

    if (!c->in)
        c->in = malloc(SHF_REQUEST_MAX);
    if (!c->in)
        return -ENOMEM;
    n = shf_stream_recv(&c->stream, c->in + c->in_len, SHF_REQUEST_MAX - c->in_len);
    if (n == -EAGAIN && c->in_len == 0) { /* thousands of idle connections hold no buffers */
        free(c->in);
        c->in = NULL;
    }
    return n;
}

/* Returns 0 to continue in another state; else as shf_connection_run, with -1 for the end. */
static int run_reading(struct shf_connection *c)
{
    for (int i = 0; i < SHF_READS_A_TURN; i++) {
        ssize_t n;

        if (c->in_len > 0 && take_request(c))
            return 0;
        n = read_more(c);
        if (n == -EAGAIN)
            return (int)c->stream.wants;
        if (n <= 0)
            return -1;
        if (c->in_len == 0)
            set_deadline(c, SHF_REQUEST_SECONDS);
        c->in_len += (size_t)n;
    }
    return shf_stream_has_pending(&c->stream) ? EPOLLIN | EPOLLOUT : EPOLLIN;
}

/* ---- an answer ---- */

/* Prepares the header of the next map, and opens its file. 1, or -errno. */
static int next_map(struct shf_connection *c)
{
    struct exchange *x = c->x;
    size_t i = x->next++;
    const struct shf_output *o = &x->outputs[i];
    const char *map = shf_request_map(&x->request, i);
    struct sv_error err = { 0 };

    if (i < SHF_SESSION_FILES_MAX && x->fds[i] >= 0)
        x->fd = sv_take_fd(&x->fds[i]);
    else if (shf_output_open(&c->service->dirs, x->job, map, o, &x->fd, &err) < 0) {
        sv_log_warning("%s: %s; its answer has begun, so the connection is closed", x->job->id,
                       err.text);
        return -EIO;
    }
    x->at = x->ahead = o->segment.start;
    x->end = o->segment.start + o->segment.part;
    c->out_len = shf_map_header((uint8_t *)c->out, map, &o->segment, x->request.reduce);
    c->out_at = 0;
    return 1;
}

static void map_sent(struct shf_connection *c)
{
    struct exchange *x = c->x;
    const struct shf_segment *s = &x->outputs[x->next - 1].segment;

    if (c->service->conf.manage_cache && s->part > 0)
        (void)posix_fadvise(x->fd, (off_t)s->start, (off_t)s->part,
                            POSIX_FADV_DONTNEED); /* a hint, ignoring */
    x->fd = sv_close(x->fd);
    c->service->outputs_ok++;
}

/* 1: continue; 0: wait for c->stream.wants; -errno. */
static int send_text(struct shf_connection *c, bool more)
{
    ssize_t n = shf_stream_send(&c->stream, c->out + c->out_at, c->out_len - c->out_at, more);

    if (n < 0)
        return n == -EAGAIN ? 0 : (int)n;
    c->out_at += (size_t)n;
    return 1;
}

/* True if this byte is in the page cache. The pages before it are then assumed to be cached as
 * well, which saves POSIX_FADV_WILLNEED's walk over them, a fifteenth of the time that a cached
 * part takes to send. After a wrong guess the disk is read while sending. */
static bool is_cached(int fd, uint64_t at)
{
    char byte;

    return preadv2(fd, &(struct iovec){ &byte, 1 }, 1, (off_t)at, RWF_NOWAIT) == 1;
}

/* Short parts are left to the kernel's own read-ahead, which allocates large folios:
 * POSIX_FADV_WILLNEED allocates single pages, which cost nearly twice the processor time to fill
 * and to send. */
static void read_ahead(const struct shf_connection *c, struct exchange *x)
{
    uint64_t window = c->service->conf.readahead;

    if (x->outputs[x->next - 1].segment.part <= SHF_SHORT_PART)
        return;
    if (window == 0 || x->ahead >= x->end || x->ahead > x->at + window / 2)
        return;
    window = SV_MIN(window, x->end - x->ahead);
    if (!is_cached(x->fd, x->ahead + window - 1))
        (void)posix_fadvise(x->fd, (off_t)x->ahead, (off_t)window, POSIX_FADV_WILLNEED); /* ditto */
    x->ahead += window;
}

/* Sends bytes of the file through the thread's buffer: their number, or -errno; 0: the file was
 * truncated. `ret_full`: the stream accepts no more; unsent
 * bytes are read again later, and TLS then sends the bytes that it has already encrypted. */
static ssize_t send_copied(struct shf_connection *c, char *buffer, size_t want, bool *ret_full)
{
    ssize_t n = pread(c->x->fd, buffer, SV_MIN(want, c->service->conf.buffer), (off_t)c->x->at);
    size_t sent = 0;

    if (n <= 0)
        return n < 0 ? -errno : 0;
    while (sent < (size_t)n) {
        ssize_t k = shf_stream_send(&c->stream, buffer + sent, (size_t)n - sent, false);

        if (k < 0 && sent == 0)
            return k;
        *ret_full = k == -EAGAIN;
        if (k < 0)
            break;
        sent += (size_t)k;
    }
    return (ssize_t)sent;
}

static int send_file(struct shf_connection *c, char *buffer, size_t *turn)
{
    struct exchange *x = c->x;
    size_t want = (size_t)SV_MIN(x->end - x->at, (uint64_t)*turn);
    bool full = false, uncopied;
    ssize_t n;

    read_ahead(c, x);
    uncopied = !buffer || (c->service->tls_in_kernel && shf_stream_takes_files(&c->stream));
    n = uncopied ? shf_stream_sendfile(&c->stream, x->fd, (off_t)x->at, want)
                 : send_copied(c, buffer, want, &full);
    if (n < 0)
        return n == -EAGAIN ? 0 : n == -EINTR ? 1 : (int)n;
    if (n == 0)
        return -EIO; /* file truncated: the client sees a short answer */
    x->at += (uint64_t)n;
    *turn -= SV_MIN(*turn, (size_t)n);
    c->service->bytes_sent += (uint64_t)n;
    if (uncopied && buffer)
        c->service->kernel_tls_bytes += (uint64_t)n;
    set_deadline(c, SHF_STALL_SECONDS);
    return full ? 0 : 1;
}

/* Called after the last byte of an answer. False: close the connection at once. */
static bool answer_sent(struct shf_connection *c)
{
    c->x = exchange_free(c->x);
    if (c->keep) {
        c->state = READING;
        set_deadline(c, c->service->conf.keep_alive_s);
        return true;
    }
    if (shf_stream_finish(&c->stream) < 0)
        return false;
    c->state = LINGERING; /* unread bytes would turn the close into a reset */
    set_deadline(c, SHF_LINGER_SECONDS);
    return true;
}

static int run_sending(struct shf_connection *c, char *buffer)
{
    size_t turn = SHF_TURN_BYTES;
    int r = 1;

    while (r == 1 && turn > 0) {
        struct exchange *x = c->x;

        if (c->out_at < c->out_len)
            r = send_text(c, x && (x->fd < 0 || x->at < x->end));
        else if (x && x->fd >= 0 && x->at < x->end)
            r = send_file(c, buffer, &turn);
        else if (x && x->fd >= 0)
            map_sent(c);
        else if (x && x->next < x->request.maps)
            r = next_map(c);
        else
            return answer_sent(c) ? 0 : -1;
    }
    if (r < 0) {
        c->service->outputs_failed += c->x != NULL;
        return -1;
    }
    return r == 0 ? (int)c->stream.wants : EPOLLOUT;
}

/* Discards further input, encrypted or not. */
static int run_lingering(struct shf_connection *c)
{
    char rest[4096];

    for (int i = 0; i < 16; i++) {
        ssize_t n = recv(c->stream.fd, rest, sizeof(rest), 0);

        if (n < 0 && errno == EAGAIN)
            return EPOLLIN;
        if (n <= 0)
            return -1;
    }
    return -1; /* the client keeps sending */
}

uint32_t shf_connection_run(struct shf_connection *c, char *buffer)
{
    int r = 0;

    if (c->state == LOOKING) {
        look_up(c, true);
        return c->state == LOOKING ? SHF_LOOKUP : EPOLLOUT; /* the turn is over */
    }
    while (r == 0 && c->state != LOOKING)
        r = c->state == READING   ? run_reading(c)
            : c->state == SENDING ? run_sending(c, buffer)
                                  : run_lingering(c);
    return r < 0 ? 0 : r == 0 ? SHF_LOOKUP : (uint32_t)r;
}
