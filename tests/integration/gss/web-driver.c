/* A web server whose clients come with tickets: common/web/web-gate.h with a selvedge-gss, for
 * tests/integration/gss/test-spnego, which gives it keytabs and a KDC. Every page says who the
 * caller is. Ends with its standard input. As "token" it prints the first message of a handshake of
 * Kerberos without SPNEGO instead. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "common/web/http-listen.h"
#include "common/web/web-gate.h"
#include "common/web/web-user.h"
#include "gss/client.h"

#define KEYTABS_MAX 2
#define REALM "KRB.TEST"

static struct {
    const char *helper, *krb5_conf, *principal, *target, *rules;
    const char *keytabs[KEYTABS_MAX];
    size_t n_keytabs;
    int64_t rest_ms;
} args = { .rules = "DEFAULT" };

static sd_event *event;
static struct sv_web_auth auth = { .auth_type = "kerberos",
                                   .secret = (char *)"of the test",
                                   .secret_len = 11 };
static struct sv_web_login login = { .validity_ms = 60000 };
static struct sv_web_gate gate;

static void die(const char *what, const struct sv_error *err)
{
    printf("%s: %s\n", what, err->text);
    exit(3);
}

static void told(const char *text, void *userdata)
{
    (void)userdata;
    printf("helper: %s\n", text);
    (void)fflush(stdout);
}

static struct sgss_client *helper_new(void)
{
    static char *argv[4 + 2 * KEYTABS_MAX];
    struct sgss_client *c;
    struct sv_error err = { 0 };
    size_t n = 0;

    argv[n++] = (char *)(uintptr_t)args.helper;
    argv[n++] = (char *)"--krb5-conf";
    argv[n++] = (char *)(uintptr_t)args.krb5_conf;
    for (size_t i = 0; i < args.n_keytabs; i++) {
        argv[n++] = (char *)"--keytab";
        argv[n++] = (char *)(uintptr_t)args.keytabs[i];
    }
    if (sgss_client_new(
            &(struct sgss_client_config){
                .event = event, .argv = argv, .told = told, .rest_ms = args.rest_ms },
            &c, &err) < 0)
        die("helper", &err);
    return c;
}

static int handler(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    char user[SV_AUTH_USER_MAX];

    (void)userdata;
    sv_web_user(&auth, req, user);
    ret->status = 200;
    if (sv_asprintf(&ret->body, "user %s\n", user) < 0)
        return -1;
    ret->body_len = strlen(ret->body);
    return 0;
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
    char line[16];

    (void)source, (void)events, (void)userdata;
    return read(fd, line, sizeof(line)) > 0 ? 0 : sd_event_exit(event, 0);
}

static int serve(void)
{
    struct sgss_client *c = helper_new();
    struct sv_web_acceptor *acceptor = NULL;
    struct sv_auth_to_local *rules = NULL;
    struct sv_http *http;
    struct sv_error err = { 0 };
    int fd = http_listen("127.0.0.1", 0, &err);

    if (fd < 0 || sgss_client_web_acceptor(c, args.principal, &acceptor) < 0 ||
        sv_auth_to_local_new(args.rules, SV_AUTH_HADOOP, REALM, &rules, &err) < 0)
        die("server", &err);
    sv_web_gate_init(&gate,
                     &(struct sv_web_gate_config){
                         .auth = &auth, .login = &login, .acceptor = acceptor, .rules = rules });
    if (sv_http_new_on(event, fd, &gate.http, handler, NULL, &http, &err) < 0)
        die("server", &err);
    if (sd_event_add_io(event, NULL, STDIN_FILENO, EPOLLIN, on_input, NULL) < 0)
        return 3;
    printf("port %u\n", sv_http_port(http));
    (void)fflush(stdout);
    if (sd_event_loop(event) < 0)
        return 3;
    sv_http_free(http);
    sv_web_acceptor_free(acceptor);
    sv_auth_to_local_free(rules);
    sgss_client_free(c);
    return 0;
}

static void on_outcome(const struct gssapi_outcome *o, void *userdata)
{
    char *text = NULL;

    if (o->status < 0 || sv_base64_encode(o->token, o->token_len, &text) < 0)
        printf("refused: %s\n", o->text ? o->text : "");
    else
        printf("%s\n", text);
    free(text);
    *(int *)userdata = o->status < 0 ? 1 : 0;
}

static int token(void)
{
    struct sgss_client *c = helper_new();
    struct gssapi_handshake *h;
    struct sv_error err = { 0 };
    int result = -1;

    if (sgss_client_initiator(c, args.principal, args.target, &h) < 0 ||
        h->f->step(h, NULL, 0, on_outcome, &result, &err) < 0)
        die("token", &err);
    while (result < 0)
        if (sd_event_run(event, UINT64_MAX) < 0)
            return 3;
    ipc_gssapi_handshake_free(h);
    sgss_client_free(c);
    return result;
}

static void parse(int argc, char **argv)
{
    static const struct option options[] = {
        { "helper", 1, NULL, 'h' },  { "krb5-conf", 1, NULL, 'c' },
        { "keytab", 1, NULL, 'k' },  { "principal", 1, NULL, 'p' },
        { "target", 1, NULL, 't' },  { "rules", 1, NULL, 'r' },
        { "rest-ms", 1, NULL, 'R' }, { 0 },
    };
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'h')
            args.helper = optarg;
        else if (c == 'c')
            args.krb5_conf = optarg;
        else if (c == 'k' && args.n_keytabs < KEYTABS_MAX)
            args.keytabs[args.n_keytabs++] = optarg;
        else if (c == 'p')
            args.principal = optarg;
        else if (c == 't')
            args.target = optarg;
        else if (c == 'r')
            args.rules = optarg;
        else if (c != 'R' || sv_parse_i64(optarg, 1, 60000, &args.rest_ms) < 0)
            exit(2);
    }
}

int main(int argc, char **argv)
{
    int r;

    parse(argc, argv);
    if (optind + 1 != argc || !args.helper || !args.krb5_conf || !args.principal ||
        sd_event_new(&event) < 0)
        return 2;
    r = sv_streq(argv[optind], "token") ? token() : serve();
    sd_event_unref(event);
    return r;
}
