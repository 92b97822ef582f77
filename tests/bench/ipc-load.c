/* Load generator of `make bench-ipc`: one epoll loop that simulates any number of Hadoop IPC
 * clients, with prebuilt frames, so that the server and not the generator is measured.
 *
 *   ipc-load calls PORT PID CONNECTIONS DEPTH WARM_MS MS
 *       Keeps DEPTH calls of getContainerStatuses open on each connection, for MS milliseconds
 * after WARM_MS. A line of JSON: calls, seconds, CPU-seconds of process PID (the server) and of the
 *       generator, latencies, the server's resident memory.
 *   ipc-load hold PORT PID CONNECTIONS
 *       Opens connections, one answered call on each, and keeps them all until it has read the
 *       server's memory; then one more call on every one of them. A line of JSON.
 *
 *   ipc-load floor
 *       Not a client: a minimal TCP server as a lower bound. It finds frames by
 *       their length and answers each with prepared bytes. Prints "ready PORT", ends with its
 *       standard input.
 *
 * The first answer is decoded and checked against the request. Every other must be the same bytes
 * with its own call id, so two servers that both pass have answered alike. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "proto/rpc.pb-c.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/frame.h"
#include "wire/ipc/methods.h"

/* Call ids of one length: three bytes both as the request's sint32 and as the answer's uint32. */
#define ID_FIRST 16384u
#define ID_END 1048576u
#define ID_BYTES 3
#define ANSWER_ID_AT 6 /* frame length, header length, tag */
#define DEPTH_MAX 64
#define FRAME_MAX 512
#define CONNECT_AT_ONCE 64
#define STUCK_MS 30000

/* Latencies: one bucket per microsecond, then one per millisecond. */
#define FINE 200000
#define COARSE 60000

struct slot {
    uint32_t id;
    int64_t sent_ns;
};

struct conn {
    int fd;
    bool ready; /* the first call was answered */
    size_t len;
    uint8_t in[4096];
};

static struct {
    int epoll;
    uint16_t port;
    size_t n, depth, ready, started;
    struct conn *conns;
    struct slot *slots; /* slot i of connection c: c * depth + i; slot = (id - ID_FIRST) % slots */
    uint32_t ids_end;
    uint8_t request[FRAME_MAX], answer[FRAME_MAX], body[FRAME_MAX];
    size_t request_len, request_id_at, answer_len, body_len;
    bool measuring, refill;
    uint64_t calls;
    uint32_t fine[FINE], coarse[COARSE];
    int64_t slowest_ns;
} g;

static _Noreturn _printf_(1, 2) void die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "ipc-load: ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    va_end(ap);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- The measured process ---- */

static double cpu_seconds(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    const char *p = strrchr(text, ')');
    unsigned long user, kernel;
    if (!p ||
        sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) != 2)
        die("process %d: cannot read its CPU time", pid);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static long rss_kib(int pid)
{
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    if (kib < 0)
        die("process %d: cannot read its memory", pid);
    return kib;
}

static double own_cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* ---- Frames ---- */

static uint8_t client_id[16] = "selvedge-bench!";
static Hadoop__Yarn__ApplicationIdProto app = HADOOP__YARN__APPLICATION_ID_PROTO__INIT;
static Hadoop__Yarn__ApplicationAttemptIdProto attempt =
    HADOOP__YARN__APPLICATION_ATTEMPT_ID_PROTO__INIT;
static Hadoop__Yarn__ContainerIdProto container = HADOOP__YARN__CONTAINER_ID_PROTO__INIT;

static Hadoop__Common__RpcRequestHeaderProto request_header(int32_t id)
{
    Hadoop__Common__RpcRequestHeaderProto h = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__INIT;
    h.has_rpckind = h.has_rpcop = h.has_retrycount = 1;
    h.rpckind = HADOOP__COMMON__RPC_KIND_PROTO__RPC_PROTOCOL_BUFFER;
    h.rpcop = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__OPERATION_PROTO__RPC_FINAL_PACKET;
    h.callid = id;
    h.clientid.data = client_id;
    h.clientid.len = sizeof(client_id);
    h.retrycount = 0;
    return h;
}

static void id_put(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v | 0x80);
    p[1] = (uint8_t)(v >> 7 | 0x80);
    p[2] = (uint8_t)(v >> 14);
}

static uint32_t id_get(const uint8_t *p)
{
    return (uint32_t)(p[0] & 0x7f) | (uint32_t)(p[1] & 0x7f) << 7 | (uint32_t)p[2] << 14;
}

static void make_body(void)
{
    Hadoop__Yarn__GetContainerStatusesResponseProto m =
        HADOOP__YARN__GET_CONTAINER_STATUSES_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__ContainerStatusProto s = HADOOP__YARN__CONTAINER_STATUS_PROTO__INIT,
                                       *all[] = { &s };
    s.container_id = &container;
    s.has_state = s.has_exit_status = 1;
    s.state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
    s.diagnostics = (char *)"";
    s.exit_status = -1000;
    m.n_status = 1;
    m.status = all;
    if (protobuf_c_message_get_packed_size(&m.base) > sizeof(g.body))
        die("the answer is longer than planned");
    g.body_len = protobuf_c_message_pack(&m.base, g.body);
}

static void make_request(void)
{
    struct sv_buf b = SV_BUF_INIT(FRAME_MAX);
    Hadoop__Yarn__ContainerIdProto *ids[] = { &container };
    Hadoop__Yarn__GetContainerStatusesRequestProto m =
        HADOOP__YARN__GET_CONTAINER_STATUSES_REQUEST_PROTO__INIT;
    Hadoop__Common__RpcRequestHeaderProto h = request_header(ID_FIRST);
    Hadoop__Common__RequestHeaderProto call = HADOOP__COMMON__REQUEST_HEADER_PROTO__INIT;
    uint8_t param[FRAME_MAX], id[ID_BYTES];
    app.has_id = app.has_cluster_timestamp = 1;
    app.id = 42;
    app.cluster_timestamp = 1700000000123;
    attempt.application_id = &app;
    attempt.has_attemptid = 1;
    attempt.attemptid = 3;
    container.app_attempt_id = &attempt;
    container.has_id = 1;
    container.id = INT64_C(17) << 40 | 7;
    m.n_container_id = 1;
    m.container_id = ids;
    call.methodname = (char *)"getContainerStatuses";
    call.declaringclassprotocolname = (char *)YARN_CONTAINER_MANAGEMENT_PROTOCOL;
    call.clientprotocolversion = 1;
    if (ipc_frame_put(&b, &h.base, &call.base, param, protobuf_c_message_pack(&m.base, param)) < 0)
        die("the request is longer than planned");
    id_put(id, ID_FIRST * 2); /* sint32: zigzag */
    const uint8_t *at = memmem(b.data, b.len, id, sizeof(id));
    if (!at)
        die("no call id in the request");
    memcpy(g.request, b.data, b.len);
    g.request_len = b.len;
    g.request_id_at = (size_t)(at - b.data);
    sv_buf_free(&b);
    make_body();
}

/* The connection's header and context, SIMPLE. */
static void send_hello(const struct conn *c)
{
    struct sv_buf b = SV_BUF_INIT(FRAME_MAX);
    Hadoop__Common__RpcRequestHeaderProto h = request_header(IPC_CALL_CONTEXT);
    Hadoop__Common__IpcConnectionContextProto m =
        HADOOP__COMMON__IPC_CONNECTION_CONTEXT_PROTO__INIT;
    Hadoop__Common__UserInformationProto user = HADOOP__COMMON__USER_INFORMATION_PROTO__INIT;
    static const uint8_t hello[] = { 'h', 'r', 'p', 'c', IPC_VERSION, 0, IPC_AUTH_NONE };
    h.clientid.len = 0;
    user.effectiveuser = (char *)"bench";
    m.userinfo = &user;
    m.protocol = (char *)YARN_CONTAINER_MANAGEMENT_PROTOCOL;
    if (sv_buf_put(&b, hello, sizeof(hello)) < 0 ||
        ipc_frame_put(&b, &h.base, &m.base, NULL, 0) < 0)
        die("out of memory");
    if (send(c->fd, b.data, b.len, MSG_NOSIGNAL) != (ssize_t)b.len)
        die("connection context: %s", strerror(errno));
    sv_buf_free(&b);
}

/* ---- Calls ---- */

/* Sends the next call of n slots of a connection in one piece. */
static void send_calls(struct conn *c, struct slot *const *slots, size_t n, int64_t now)
{
    uint8_t out[DEPTH_MAX * FRAME_MAX];
    for (size_t i = 0; i < n; i++) {
        uint32_t next = slots[i]->id + (uint32_t)(g.n * g.depth);
        if (next >= g.ids_end)
            next = ID_FIRST + (uint32_t)(slots[i] - g.slots);
        slots[i]->id = next;
        slots[i]->sent_ns = now;
        uint8_t *p = out + i * g.request_len;
        memcpy(p, g.request, g.request_len);
        id_put(p + g.request_id_at, next * 2);
    }
    if (send(c->fd, out, n * g.request_len, MSG_NOSIGNAL) != (ssize_t)(n * g.request_len))
        die("send: %s", errno ? strerror(errno) : "short");
}

static void learn_answer(const uint8_t *p, size_t n)
{
    struct sv_buf b = SV_BUF_VIEW(p + 4, n - 4);
    const uint8_t *header, *body;
    size_t header_len, body_len;
    if (ipc_delimited_get(&b, &header, &header_len) < 0)
        die("an answer without header");
    Hadoop__Common__RpcResponseHeaderProto *h =
        hadoop__common__rpc_response_header_proto__unpack(NULL, header_len, header);
    if (!h)
        die("an answer with a malformed header");
    if (h->status != HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__RPC_STATUS_PROTO__SUCCESS)
        die("refused: %s: %s", h->exceptionclassname, h->errormsg);
    if (ipc_delimited_get(&b, &body, &body_len) < 0 || body_len != g.body_len ||
        memcmp(body, g.body, body_len) != 0)
        die("the answer is not the one that the request asks for");
    if (n > sizeof(g.answer) || header_len > 127 || id_get(p + ANSWER_ID_AT) != h->callid)
        die("the answer's header has another form than planned");
    hadoop__common__rpc_response_header_proto__free_unpacked(h, NULL);
    memcpy(g.answer, p, n);
    g.answer_len = n;
}

static void count(int64_t ns)
{
    g.calls++;
    int64_t us = ns / 1000, ms = us / 1000;
    if (us < FINE)
        g.fine[us]++;
    else
        g.coarse[ms < COARSE ? ms : COARSE - 1]++;
    g.slowest_ns = SV_MAX(g.slowest_ns, ns);
}

/* One whole answer; returns its slot. */
static struct slot *take_answer(struct conn *c, const uint8_t *p, size_t n, int64_t now)
{
    if (g.answer_len == 0)
        learn_answer(p, n);
    uint32_t id = id_get(p + ANSWER_ID_AT);
    if (n != g.answer_len || memcmp(p, g.answer, ANSWER_ID_AT) != 0 ||
        memcmp(p + ANSWER_ID_AT + ID_BYTES, g.answer + ANSWER_ID_AT + ID_BYTES,
               n - ANSWER_ID_AT - ID_BYTES) != 0)
        die("an answer of %zu bytes is not like the others", n);
    struct slot *s = id < ID_FIRST ? NULL : &g.slots[(id - ID_FIRST) % (g.n * g.depth)];
    if (!s || s->id != id || (size_t)(s - g.slots) / g.depth != (size_t)(c - g.conns))
        die("an answer to call %u, which is not open on its connection", id);
    if (!c->ready) {
        c->ready = true;
        g.ready++;
    }
    if (g.measuring)
        count(now - s->sent_ns);
    return s;
}

static void on_answers(struct conn *c)
{
    struct slot *done[DEPTH_MAX];
    size_t n_done = 0, pos = 0, len;
    const uint8_t *frame;
    ssize_t n = recv(c->fd, c->in + c->len, sizeof(c->in) - c->len, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0)
        die("the server closed a connection: %s", n < 0 ? strerror(errno) : "end of file");
    c->len += (size_t)n;
    int64_t now = now_ns();
    for (size_t used;
         ipc_frame_next(c->in + pos, c->len - pos, sizeof(c->in), &frame, &len, &used) == 1;
         pos += used)
        done[n_done++] = take_answer(c, c->in + pos, used, now);
    c->len -= pos;
    memmove(c->in, c->in + pos, c->len);
    if (g.refill && n_done > 0)
        send_calls(c, done, n_done, now);
}

/* Handles events until `until` (0 = for ever) or until `n` connections are ready. */
static void run(int64_t until, size_t n)
{
    struct epoll_event ev[256];
    int64_t moved = now_ns();
    while (g.ready < n) {
        int64_t now = now_ns();
        if (until && now >= until)
            return;
        int k = epoll_wait(g.epoll, ev, SV_ARRAY_LEN(ev), 100);
        for (int i = 0; i < k; i++)
            on_answers(ev[i].data.ptr);
        if (k > 0)
            moved = now;
        else if (now - moved > (int64_t)STUCK_MS * 1000000)
            die("no answer for %d s", STUCK_MS / 1000);
    }
}

/* ---- Connections ---- */

static void open_one(size_t i)
{
    static const int one = 1;
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(g.port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct conn *c = &g.conns[i];
    struct slot *slots[DEPTH_MAX];
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        die("connection %zu: %s", i, strerror(errno));
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
    if (epoll_ctl(g.epoll, EPOLL_CTL_ADD, c->fd, &ev) < 0)
        die("epoll: %s", strerror(errno));
    send_hello(c);
    for (size_t k = 0; k < g.depth; k++) {
        slots[k] = &g.slots[i * g.depth + k];
        slots[k]->id = ID_FIRST + (uint32_t)(i * g.depth + k) - (uint32_t)(g.n * g.depth);
    }
    send_calls(c, slots, g.refill ? g.depth : 1, now_ns());
}

/* A few at a time: the server's accept queue is short. */
static void open_all(void)
{
    size_t slots = g.n * g.depth;
    g.conns = calloc(g.n, sizeof(*g.conns));
    g.slots = calloc(slots, sizeof(*g.slots));
    g.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!g.conns || !g.slots || g.epoll < 0)
        die("out of memory");
    if (slots > ID_END - ID_FIRST)
        die("too many calls at once");
    g.ids_end = ID_FIRST + (uint32_t)((ID_END - ID_FIRST) / slots * slots);
    for (size_t i = 0; i < g.n; i++) {
        open_one(i);
        if (i + 1 >= CONNECT_AT_ONCE)
            run(0, i + 2 - CONNECT_AT_ONCE);
    }
    run(0, g.n);
}

/* ---- Commands ---- */

static double percentile(double part)
{
    uint64_t seen = 0, wanted = (uint64_t)((double)g.calls * part);
    for (size_t i = 0; i < FINE; i++)
        if ((seen += g.fine[i]) > wanted)
            return (double)i + 0.5;
    for (size_t i = 0; i < COARSE; i++)
        if ((seen += g.coarse[i]) > wanted)
            return (double)i * 1000 + 500;
    return (double)g.slowest_ns / 1000;
}

static void calls(int pid, long warm_ms, long ms)
{
    g.refill = true;
    open_all();
    int64_t start = now_ns() + warm_ms * 1000000;
    run(start, SIZE_MAX);
    g.measuring = true;
    double cpu = cpu_seconds(pid), own = own_cpu();
    start = now_ns();
    run(start + ms * 1000000, SIZE_MAX);
    double seconds = (double)(now_ns() - start) / 1e9;
    cpu = cpu_seconds(pid) - cpu;
    own = own_cpu() - own;
    printf("{\"connections\": %zu, \"calls\": %lu, \"seconds\": %.4f, \"cpu\": %.3f, \"own_cpu\": "
           "%.3f, "
           "\"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, \"rss_kib\": %ld}\n",
           g.n, g.calls, seconds, cpu, own, percentile(0.5), percentile(0.99),
           (double)g.slowest_ns / 1000, rss_kib(pid));
}

static void hold(int pid)
{
    long before = rss_kib(pid);
    int64_t start = now_ns();
    open_all();
    long held = rss_kib(pid);
    double seconds = (double)(now_ns() - start) / 1e9;
    g.ready = 0;
    for (size_t i = 0; i < g.n; i++) { /* all of them still answer */
        g.conns[i].ready = false;
        send_calls(&g.conns[i], &(struct slot *){ &g.slots[i] }, 1, now_ns());
    }
    run(0, g.n);
    printf("{\"connections\": %zu, \"seconds\": %.3f, \"before_kib\": %ld, \"held_kib\": %ld, "
           "\"after_kib\": %ld}\n",
           g.n, seconds, before, held, rss_kib(pid));
}

/* ---- The floor ---- */

static void make_answer(void)
{
    struct sv_buf b = SV_BUF_INIT(FRAME_MAX);
    Hadoop__Common__RpcResponseHeaderProto h = HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__INIT;
    h.callid = ID_FIRST;
    h.has_serveripcversionnum = h.has_clientid = h.has_retrycount = 1;
    h.serveripcversionnum = IPC_VERSION;
    h.clientid.data = client_id;
    h.clientid.len = sizeof(client_id);
    h.retrycount = 0;
    if (ipc_frame_put(&b, &h.base, NULL, g.body, g.body_len) < 0)
        die("the answer is longer than planned");
    memcpy(g.answer, b.data, b.len);
    g.answer_len = b.len;
    sv_buf_free(&b);
}

static void floor_accept(int listener)
{
    static const int one = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct conn *c = calloc(1, sizeof(*c));
    if (fd < 0 || !c)
        die("accept: %s", strerror(errno));
    c->fd = fd;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
    if (epoll_ctl(g.epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
        die("epoll: %s", strerror(errno));
}

static void floor_serve(struct conn *c)
{
    uint8_t out[sizeof(c->in)];
    const uint8_t *frame;
    size_t pos = 0, n_out = 0, len, used;
    ssize_t n = recv(c->fd, c->in + c->len, sizeof(c->in) - c->len, MSG_DONTWAIT);
    if (n <= 0) {
        close(c->fd);
        free(c);
        return;
    }
    c->len += (size_t)n;
    if (!c->ready && c->len >= 7) { /* hrpc, version, two bytes more */
        c->ready = true;
        pos = 7;
    }
    for (; ipc_frame_next(c->in + pos, c->len - pos, sizeof(c->in), &frame, &len, &used) == 1;
         pos += used) {
        if (used != g.request_len) /* the context has no answer */
            continue;
        memcpy(out + n_out, g.answer, g.answer_len);
        id_put(out + n_out + ANSWER_ID_AT, id_get(c->in + pos + g.request_id_at) / 2);
        n_out += g.answer_len;
    }
    c->len -= pos;
    memmove(c->in, c->in + pos, c->len);
    if (n_out > 0 && send(c->fd, out, n_out, MSG_NOSIGNAL) != (ssize_t)n_out)
        die("floor: send: %s", strerror(errno));
}

static void floor_run(void)
{
    struct epoll_event ev[64];
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sa);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (listener < 0 || g.epoll < 0 || bind(listener, (struct sockaddr *)&sa, len) < 0 ||
        listen(listener, 1024) < 0 || getsockname(listener, (struct sockaddr *)&sa, &len) < 0 ||
        epoll_ctl(g.epoll, EPOLL_CTL_ADD, listener,
                  &(struct epoll_event){ EPOLLIN, { .ptr = &listener } }) < 0 ||
        epoll_ctl(g.epoll, EPOLL_CTL_ADD, 0, &(struct epoll_event){ EPOLLIN, { .ptr = NULL } }) < 0)
        die("floor: %s", strerror(errno));
    make_answer();
    printf("ready %u\n", ntohs(sa.sin_port));
    fflush(stdout);
    for (;;) {
        int k = epoll_wait(g.epoll, ev, SV_ARRAY_LEN(ev), -1);
        for (int i = 0; i < k; i++) {
            if (!ev[i].data.ptr)
                return;
            if (ev[i].data.ptr == &listener)
                floor_accept(listener);
            else
                floor_serve(ev[i].data.ptr);
        }
    }
}

static long number(const char *text)
{
    char *end;
    long v = strtol(text, &end, 10);
    if (*end || v < 0)
        die("%s: not a number", text);
    return v;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "floor") == 0) {
        make_request();
        floor_run();
        return 0;
    }
    bool is_hold = argc == 5 && strcmp(argv[1], "hold") == 0;
    if (!is_hold && !(argc == 8 && strcmp(argv[1], "calls") == 0))
        die("usage: see the top of ipc-load.c");
    g.port = (uint16_t)number(argv[2]);
    int pid = (int)number(argv[3]);
    g.n = (size_t)number(argv[4]);
    g.depth = is_hold ? 1 : (size_t)number(argv[5]);
    if (g.n == 0 || g.depth == 0 || g.depth > DEPTH_MAX)
        die("there must be 1 or more connections and 1 to %d calls on each", DEPTH_MAX);
    make_request();
    if (is_hold)
        hold(pid);
    else
        calls(pid, number(argv[6]), number(argv[7]));
    return 0;
}
