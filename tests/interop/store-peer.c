/* Our store of a federation by commands on standard input, as java/federation/StorePeer.java has
 * Hadoop's: a line each, words between blanks, "-" for none. An answer is lines and then a line
 * ".". The argument is a directory with the configuration. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "federation/store/store.h"
#include "tests/lib/store-cases.h"

#define LINE_MAX_BYTES 200000
#define WORDS_MAX 9

static char *words[WORDS_MAX];
static size_t n_words;
static uint8_t bytes[FED_CONTEXT_MAX + 1];
static size_t n_bytes;

static const char *word(size_t i)
{
    return i < n_words && strcmp(words[i], "-") != 0 ? words[i] : NULL;
}

static int64_t number(size_t i)
{
    return word(i) ? strtoll(words[i], NULL, 10) : 0;
}

/* The bytes of a word of hexadecimal digits; NULL for "-". */
static const uint8_t *hex(size_t i)
{
    unsigned one;

    n_bytes = 0;
    for (const char *p = word(i); p && n_bytes < sizeof(bytes) && sscanf(p, "%2x", &one) == 1;
         p += 2)
        bytes[n_bytes++] = (uint8_t)one;
    return word(i) ? bytes : NULL;
}

static const struct {
    const char *name;
    enum fed_op op;
} commands[] = {
    { "register", FED_MEMBER_REGISTER },
    { "heartbeat", FED_MEMBER_HEARTBEAT },
    { "deregister", FED_MEMBER_DEREGISTER },
    { "member", FED_MEMBER_GET },
    { "age", FED_MEMBER_GET },
    { "members", FED_MEMBER_LIST },
    { "add-home", FED_HOME_ADD },
    { "update-home", FED_HOME_UPDATE },
    { "home", FED_HOME_GET },
    { "home-age", FED_HOME_GET },
    { "homes", FED_HOME_LIST },
    { "delete-home", FED_HOME_DELETE },
    { "add-reservation", FED_RESERVATION_ADD },
    { "update-reservation", FED_RESERVATION_UPDATE },
    { "reservation", FED_RESERVATION_GET },
    { "reservations", FED_RESERVATION_LIST },
    { "delete-reservation", FED_RESERVATION_DELETE },
    { "set-policy", FED_POLICY_SET },
    { "policy", FED_POLICY_GET },
    { "policies", FED_POLICY_LIST },
    { "delete-policy", FED_POLICY_DELETE },
    { "add-key", FED_KEY_ADD },
    { "key", FED_KEY_GET },
    { "delete-key", FED_KEY_DELETE },
    { "add-token", FED_TOKEN_ADD },
    { "update-token", FED_TOKEN_UPDATE },
    { "token", FED_TOKEN_GET },
    { "delete-token", FED_TOKEN_DELETE },
    { "sequence", FED_SEQUENCE_GET },
    { "next", FED_SEQUENCE_NEXT },
    { "set", FED_SEQUENCE_SET },
    { "version", FED_VERSION_CHECK },
};

/* States are the word behind a member's addresses, or the second. */
static void member_of(struct fed_request *q)
{
    bool whole = q->op == FED_MEMBER_REGISTER;

    q->member = (struct fed_member){ .id = word(1) };
    if (whole) {
        q->member.am = word(2);
        q->member.client = word(3);
        q->member.admin = word(4);
        q->member.web = word(5);
        q->member.last_start_ms = number(7);
    }
    if (fed_state_parse(word(whole ? 6 : 2), &q->member.state) < 0)
        q->member.state = 0; /* it is refused where one is needed */
    q->member.capability = word(whole ? 8 : 3);
}

static void request_of(struct fed_request *q)
{
    if (q->op <= FED_MEMBER_LIST)
        member_of(q);
    else if (q->op == FED_HOME_LIST)
        q->home.home = word(1);
    else if (q->op <= FED_HOME_DELETE) {
        if (yarn_app_id_parse(words[1], &q->home.app) < 0)
            q->home.app.id = 0; /* it is refused */
        q->home.home = word(2);
        q->home.context = hex(3);
        q->home.context_len = n_bytes;
    } else if (q->op <= FED_RESERVATION_DELETE)
        q->reservation = (struct fed_reservation){ word(1), word(2) };
    else if (q->op <= FED_POLICY_DELETE) {
        q->policy = (struct fed_policy){ .queue = word(1), .type = word(2), .params = hex(3) };
        q->policy.params_len = n_bytes;
    } else if (q->op <= FED_KEY_DELETE) {
        q->key = (struct fed_key){ (int32_t)number(1), number(2), hex(3), 0 };
        q->key.len = n_bytes;
    } else if (q->op <= FED_TOKEN_DELETE) {
        q->token = (struct fed_token){ .sequence = (int32_t)number(1), .identifier = hex(2) };
        q->token.identifier_len = n_bytes;
        q->token.info = word(3);
        q->token.renew_ms = number(4);
    } else if (q->op <= FED_SEQUENCE_SET)
        q->sequence =
            (struct fed_sequence){ word(1) && !strcmp(words[1], "key") ? FED_KEY_SEQUENCE
                                                                       : FED_TOKEN_SEQUENCE,
                                   (int32_t)number(2) };
}

static void execute(sd_event *event, struct fed_store *s)
{
    struct fed_request q = { .op = FED_OPS };
    const char *answer;

    for (size_t i = 0; i < SV_ARRAY_LEN(commands); i++)
        if (!strcmp(commands[i].name, words[0]))
            q.op = commands[i].op;
    if (q.op == FED_OPS) {
        printf("no command %s\n.\n", words[0]);
        return;
    }
    request_of(&q);
    answer = store_do(event, s, &q);
    if (strstr(words[0], "age"))
        printf("%lld\n.\n", (long long)((sv_wall_ms() - store_time()) / 1000));
    else
        printf("%s%s.\n", answer, answer[0] && answer[strlen(answer) - 1] != '\n' ? "\n" : "");
    if (store_reason()[0])
        fprintf(stderr, "%s\n", store_reason());
}

int main(int argc, char **argv)
{
    static char line[LINE_MAX_BYTES];
    struct sv_conf *c = sv_conf_new();
    struct sv_error err = { 0 };
    struct fed_store *s = NULL;
    sd_event *event = NULL;

    if (argc != 2 || !c || sv_conf_load_hadoop(c, argv[1], &err) < 0 || sd_event_new(&event) < 0 ||
        fed_store_open(event, c, &s, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    while (fgets(line, sizeof(line), stdin)) {
        char *rest = line;

        line[strcspn(line, "\n")] = '\0';
        for (n_words = 0; rest && n_words < WORDS_MAX; n_words++)
            words[n_words] = strsep(&rest, " ");
        execute(event, s);
        (void)fflush(stdout);
    }
    fed_store_free(s);
    sd_event_unref(event);
    sv_conf_free(c);
    return 0;
}
