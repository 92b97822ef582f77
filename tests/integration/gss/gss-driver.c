/* Kerberos handshakes between a client and a server in this process, each with a selvedge-gss of
 * its own or both with one, through wire/sasl/gssapi.c to the end: layers in both directions. For
 * tests/integration/gss/test-gss, which gives it keytabs and a KDC. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/str.h"
#include "gss/client.h"
#include "wire/sasl/gssapi.h"
#include "wire/sasl/qop.h"

#define MESSAGES_MAX 8
#define PAIRS_MAX 256

static struct {
    const char *helper, *krb5_conf, *init_keytab, *accept_keytab, *principal, *target, *acceptor;
    const char *socket;
    uint32_t client_mask, server_mask;
    int64_t init_ms, accept_ms, rest_ms;
    uint64_t pairs;
    bool same;
} args = { .client_mask = IPC_QOP_AUTH, .server_mask = IPC_QOP_AUTH, .pairs = 1 };

struct message {
    uint8_t *p;
    size_t n;
};

struct pair {
    struct sasl_client *client;
    struct sasl_server *server;
    struct message sent[MESSAGES_MAX]; /* by the client */
    size_t n_sent;
    bool over, ok;
    char text[SV_ERROR_TEXT_MAX + 16];
};

static sd_event *event;
static struct sgss_client *initiators, *acceptors;
static uint64_t ended;

static void die(const char *what, const struct sv_error *err)
{
    printf("%s: %s\n", what, err->text);
    exit(3);
}

static void told(const char *text, void *userdata)
{
    printf("%s helper: %s\n", (const char *)userdata, text);
    (void)fflush(stdout);
}

static struct sgss_client *helper_new(const char *name, const char *keytab)
{
    static char *argvs[2][6];
    static int n;
    char **argv = argvs[n++];
    const char *const list[] = { args.helper, "--keytab", keytab, "--krb5-conf", args.krb5_conf };
    struct sgss_client *c;
    struct sv_error err = { 0 };

    for (size_t i = 0; i < SV_ARRAY_LEN(list); i++)
        argv[i] = (char *)(uintptr_t)list[i];
    if (sgss_client_new(&(struct sgss_client_config){ .event = event,
                                                      .socket = args.socket,
                                                      .argv = argv,
                                                      .told = told,
                                                      .userdata = (void *)(uintptr_t)name,
                                                      .init_ms = args.init_ms,
                                                      .accept_ms = args.accept_ms,
                                                      .rest_ms = args.rest_ms },
                        &c, &err) < 0)
        die(name, &err);
    return c;
}

/* ---- One handshake ---- */

static void client_input(struct pair *p, const uint8_t *in, size_t n);

static void end(struct pair *p, const char *who, const char *text)
{
    p->over = true;
    p->ok = who == NULL;
    snprintf(p->text, sizeof(p->text), "%s%s%s", who ? who : "", who ? ": " : "", text);
    ended++;
}

/* A message of each size crosses, in both directions; copies and changed ones do not. */
static const char *try_layers(struct sasl_layer *from, struct sasl_layer *to)
{
    const size_t sizes[] = { 0, 1, 1000, ipc_sasl_layer_max_input(from) };
    uint8_t *plain = calloc(1, sizes[3] + 1), *out;
    const char *wrong = NULL;

    for (size_t i = 0; i < SV_ARRAY_LEN(sizes) && !wrong; i++) {
        size_t size = ipc_sasl_layer_size(from, sizes[i]), len;
        uint8_t *wrapped = malloc(size + 1), *copy = malloc(size + 1);

        memset(plain, 'a' + (int)i, sizes[i]);
        if (size > SASL_LAYER_MAXBUF || ipc_sasl_layer_wrap(from, plain, sizes[i], wrapped) < 0)
            wrong = "a message is not wrapped";
        memcpy(copy, wrapped, size);
        if (!wrong && (ipc_sasl_layer_unwrap(to, wrapped, size, &out, &len) < 0 ||
                       len != sizes[i] || memcmp(out, plain, len) != 0))
            wrong = "a message is not unwrapped";
        if (!wrong && ipc_sasl_layer_unwrap(to, copy, size, &out, &len) >= 0)
            wrong = "a repeated message is unwrapped";
        free(wrapped);
        free(copy);
    }
    free(plain);
    return wrong;
}

static const char *forge(struct sasl_layer *from, struct sasl_layer *to)
{
    static const uint8_t text[] = "text";
    size_t size = ipc_sasl_layer_size(from, sizeof(text)), len;
    uint8_t *wrapped = malloc(size), *out;
    const char *wrong = NULL;

    if (ipc_sasl_layer_wrap(from, text, sizeof(text), wrapped) < 0)
        wrong = "a message is not wrapped";
    wrapped[size - 1] ^= 1;
    if (!wrong && ipc_sasl_layer_unwrap(to, wrapped, size, &out, &len) >= 0)
        wrong = "a forged message is unwrapped";
    free(wrapped);
    return wrong;
}

static void finish(struct pair *p)
{
    _cleanup_(sasl_layer_freep) struct sasl_layer *c = ipc_sasl_client_take_layer(p->client);
    _cleanup_(sasl_layer_freep) struct sasl_layer *s = ipc_sasl_server_take_layer(p->server);
    const char *wrong =
        !c != !s || !ipc_sasl_client_done(p->client) ? "one side has no layer" : NULL;
    char text[SASL_USER_MAX + 64];

    if (c && !wrong)
        wrong = try_layers(c, s);
    if (c && !wrong)
        wrong = try_layers(s, c);
    if (c && !wrong)
        wrong = forge(c, s);
    snprintf(text, sizeof(text), "user %s, input %zu", ipc_sasl_server_user(p->server),
             c ? ipc_sasl_layer_max_input(c) : 0);
    end(p, wrong ? "layer" : NULL, wrong ? wrong : text);
}

static void server_output(struct pair *p, int r, struct sasl_bytes out, const struct sv_error *err)
{
    if (r == SASL_WAIT)
        return;
    if (r < 0)
        end(p, "server", err->text);
    else if (ipc_sasl_server_done(p->server))
        finish(p);
    else
        client_input(p, out.p, out.n);
}

static void client_output(struct pair *p, int r, struct sasl_bytes out, const struct sv_error *err)
{
    struct sv_error other = { 0 };
    struct sasl_bytes answer = { 0 };
    const char *class;
    struct message *m = &p->sent[p->n_sent];

    if (r == SASL_WAIT)
        return;
    if (r < 0 || p->n_sent == MESSAGES_MAX) {
        end(p, "client", r < 0 ? err->text : "too many messages");
        return;
    }
    m->p = malloc(out.n + 1);
    memcpy(m->p, out.p, out.n);
    m->n = out.n;
    p->n_sent++;
    r = ipc_sasl_server_step(p->server, m->p, m->n, &answer, &class, &other);
    server_output(p, r, answer, &other);
}

static void client_input(struct pair *p, const uint8_t *in, size_t n)
{
    struct sv_error err = { 0 };
    struct sasl_bytes out = { 0 };
    int r = ipc_sasl_client_step(p->client, in, n, &out, &err);

    client_output(p, r, out, &err);
}

static void client_ready(void *userdata)
{
    struct pair *p = userdata;
    struct sv_error err = { 0 };
    struct sasl_bytes out = { 0 };
    int r = ipc_sasl_client_resume(p->client, &out, &err);

    client_output(p, r, out, &err);
}

static void server_ready(void *userdata)
{
    struct pair *p = userdata;
    struct sv_error err = { 0 };
    struct sasl_bytes out = { 0 };
    const char *class;
    int r = ipc_sasl_server_resume(p->server, &out, &class, &err);

    server_output(p, r, out, &err);
}

static void server_new(struct pair *p, sasl_ready ready)
{
    struct gssapi_handshake *h;

    if (sgss_client_acceptor(acceptors, args.acceptor ? args.acceptor : args.target, &h) < 0 ||
        ipc_gssapi_server_new(h, args.server_mask, ready, p, &p->server) < 0)
        die("server", &(struct sv_error){ .text = "cannot be made" });
}

static void client_new(struct pair *p, sasl_ready ready)
{
    struct gssapi_handshake *h;

    if (sgss_client_initiator(initiators, args.principal, args.target, &h) < 0 ||
        ipc_gssapi_client_new(h, args.client_mask, ready, p, &p->client) < 0)
        die("client", &(struct sv_error){ .text = "cannot be made" });
}

static void pair_free(struct pair *p)
{
    ipc_sasl_client_free(p->client);
    ipc_sasl_server_free(p->server);
    for (size_t i = 0; i < p->n_sent; i++)
        free(p->sent[i].p);
}

static void turn(void)
{
    if (sd_event_run(event, UINT64_MAX) < 0)
        exit(3);
}

/* ---- Modes ---- */

static int handshakes(void)
{
    static struct pair pairs[PAIRS_MAX];
    uint64_t good = 0;

    memset(pairs, 0, sizeof(pairs));
    for (uint64_t i = 0; i < args.pairs; i++) {
        server_new(&pairs[i], server_ready);
        client_new(&pairs[i], client_ready);
        client_input(&pairs[i], NULL, 0);
    }
    while (ended < args.pairs)
        turn();
    for (uint64_t i = 0; i < args.pairs; i++) {
        if (!pairs[i].ok || args.pairs == 1)
            printf("%s\n", pairs[i].text);
        good += pairs[i].ok;
        pair_free(&pairs[i]);
    }
    printf("%llu of %llu\n", (unsigned long long)good, (unsigned long long)args.pairs);
    return good == args.pairs ? 0 : 1;
}

static void flag(void *userdata)
{
    *(bool *)userdata = true;
}

/* Sends each message of a client once more, as it was, to a server that was just made. */
static int replay(void)
{
    static struct pair p;
    struct sasl_server *server;
    struct gssapi_handshake *h;
    struct sasl_bytes out;
    struct sv_error err = { 0 };
    const char *class;
    bool ready = false;
    int r = 0;

    server_new(&p, server_ready);
    client_new(&p, client_ready);
    client_input(&p, NULL, 0);
    while (!p.over)
        turn();
    printf("%s\n", p.text);
    if (sgss_client_acceptor(acceptors, args.target, &h) < 0 ||
        ipc_gssapi_server_new(h, args.server_mask, flag, &ready, &server) < 0)
        return 3;
    for (size_t i = 0; i < p.n_sent && r >= 0; i++) {
        r = ipc_sasl_server_step(server, p.sent[i].p, p.sent[i].n, &out, &class, &err);
        while (r == SASL_WAIT && !ready)
            turn();
        if (r == SASL_WAIT)
            r = ipc_sasl_server_resume(server, &out, &class, &err);
        printf("replayed message %zu of %zu: %s\n", i + 1, p.n_sent,
               r < 0                          ? err.text
               : ipc_sasl_server_done(server) ? "authenticated"
                                              : "goes on");
    }
    ipc_sasl_server_free(server);
    pair_free(&p);
    return r < 0 ? 0 : 1;
}

static void on_login(uint64_t until, const char *words, void *userdata)
{
    if (until)
        printf("ticket for %lld s\n", (long long)until - (long long)time(NULL));
    else
        printf("refused: %s\n", words);
    *(uint64_t *)userdata = until ? until : 1;
}

static uint64_t login(void)
{
    uint64_t until = 0;
    struct sv_error err = { 0 };

    if (sgss_client_login(initiators, args.principal, on_login, &until, &err) < 0)
        die("login", &err);
    while (until == 0)
        turn();
    return until;
}

/* Logins, one after the other, until one is another's: the helper has renewed the ticket. */
static int renewal(void)
{
    uint64_t first = login(), now = first;

    while (now == first && now > 1) {
        if (sd_event_run(event, 100000) < 0)
            return 3;
        now = login();
    }
    printf("%s\n", now > first ? "renewed" : "not renewed");
    return now > first ? 0 : 1;
}

/* The first message of a client, which is not freed before its end. */
static struct sasl_client *first_message(struct sasl_bytes *ret)
{
    struct gssapi_handshake *h;
    struct sasl_client *c = NULL;
    struct sv_error err = { 0 };
    bool ready = false;
    int r;

    if (sgss_client_initiator(initiators, args.principal, args.target, &h) < 0 ||
        ipc_gssapi_client_new(h, args.client_mask, flag, &ready, &c) < 0)
        die("client", &(struct sv_error){ .text = "cannot be made" });
    r = ipc_sasl_client_step(c, NULL, 0, ret, &err);
    while (r == SASL_WAIT && !ready)
        turn();
    if (r == SASL_WAIT)
        r = ipc_sasl_client_resume(c, ret, &err);
    if (r < 0)
        die("client", &err);
    return c;
}

/* A ticket that ends between the client's message and its arrival. */
static int late(void)
{
    static struct pair p;
    uint64_t until = login();
    struct sasl_bytes out;
    struct sasl_client *c;

    if (until <= 1)
        return 1;
    c = first_message(&out);
    server_new(&p, server_ready);
    while (time(NULL) <= (time_t)until + 2) /* the test's krb5.conf allows one second */
        if (sd_event_run(event, 100000) < 0)
            return 3;
    client_output(&p, 0, out, NULL);
    while (!p.over)
        turn();
    printf("%s\n", p.text);
    ipc_sasl_client_free(c);
    pair_free(&p);
    return p.ok ? 0 : 1;
}

static int one_login(void)
{
    return login() > 1 ? 0 : 1;
}

/* As long as a test wishes: for each line of input a login or handshakes, and the state. */
static int serve(void)
{
    char line[64];

    while (fgets(line, sizeof(line), stdin)) {
        ended = 0;
        if (sv_has_prefix(line, "login"))
            (void)login();
        else
            (void)handshakes();
        printf("%llu starts\n", (unsigned long long)sgss_client_state(initiators).starts);
        (void)fflush(stdout);
        if (sd_event_run(event, 20000) < 0) /* a helper that rests is started again */
            return 3;
    }
    return 0;
}

static uint64_t number_of(const char *text)
{
    uint64_t n;

    if (sv_parse_u64(text, 1, PAIRS_MAX * 1000, &n) < 0)
        exit(2);
    return n;
}

static uint32_t mask_of(const char *text)
{
    uint32_t mask;
    struct sv_error err;

    if (ipc_qop_parse(text, &mask, &err) < 0)
        exit(2);
    return mask;
}

static void parse(int argc, char **argv)
{
    static const struct option options[] = {
        { "helper", 1, NULL, 'h' },      { "krb5-conf", 1, NULL, 'c' },
        { "init-keytab", 1, NULL, 'i' }, { "accept-keytab", 1, NULL, 'a' },
        { "principal", 1, NULL, 'p' },   { "target", 1, NULL, 't' },
        { "acceptor", 1, NULL, 'A' },    { "client", 1, NULL, 'C' },
        { "server", 1, NULL, 'S' },      { "init-ms", 1, NULL, 'I' },
        { "accept-ms", 1, NULL, 'T' },   { "rest-ms", 1, NULL, 'R' },
        { "pairs", 1, NULL, 'n' },       { "same", 0, NULL, 's' },
        { "socket", 1, NULL, 'u' },      { 0 },
    };
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'h':
            args.helper = optarg;
            break;
        case 'c':
            args.krb5_conf = optarg;
            break;
        case 'i':
            args.init_keytab = optarg;
            break;
        case 'a':
            args.accept_keytab = optarg;
            break;
        case 'p':
            args.principal = optarg;
            break;
        case 't':
            args.target = optarg;
            break;
        case 'A':
            args.acceptor = optarg;
            break;
        case 'C':
            args.client_mask = mask_of(optarg);
            break;
        case 'S':
            args.server_mask = mask_of(optarg);
            break;
        case 'I':
            args.init_ms = (int64_t)number_of(optarg);
            break;
        case 'T':
            args.accept_ms = (int64_t)number_of(optarg);
            break;
        case 'R':
            args.rest_ms = (int64_t)number_of(optarg);
            break;
        case 'n':
            args.pairs = number_of(optarg);
            break;
        case 's':
            args.same = true;
            break;
        case 'u':
            args.socket = optarg;
            break;
        default:
            exit(2);
        }
    }
    if (args.pairs > PAIRS_MAX)
        exit(2);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } modes[] = { { "handshake", handshakes }, { "replay", replay }, { "login", one_login },
                  { "renewal", renewal },      { "late", late },     { "serve", serve } };
    int r = 2;

    parse(argc, argv);
    if (optind + 1 != argc || sd_event_new(&event) < 0)
        return 2;
    initiators = helper_new("initiator's", args.init_keytab);
    acceptors = args.same || !args.accept_keytab ? initiators
                                                 : helper_new("acceptor's", args.accept_keytab);
    for (size_t i = 0; i < SV_ARRAY_LEN(modes); i++)
        if (sv_streq(argv[optind], modes[i].name))
            r = modes[i].run();
    if (acceptors != initiators)
        sgss_client_free(acceptors);
    sgss_client_free(initiators);
    sd_event_unref(event);
    return r;
}
