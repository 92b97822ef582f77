/* `selvedge complete WORD…`: prints completions of the last word, one per line, for the shells
 * (packaging/completion). Commands and options come from the table, ids, nodes and queues from the
 * ResourceManager, within 300 ms. Errors are silent. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "client/core/app-argument.h"
#include "client/core/options.h"
#include "common/str.h"

struct completion {
    struct cli_ctx *ctx;
    const char *word;  /* prefix to complete */
    const char *first; /* the command's first argument, if `word` is a later one; or NULL */
};

/* Skips names of peers with special characters, since a shell evaluates the output. */
static void offer(const struct completion *c, const char *text)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

    if (*text && strspn(text, good) == strlen(text) && sv_has_prefix(text, c->word))
        puts(text);
}

static void offer_options(const struct completion *c, const struct cli_opt *options)
{
    for (const struct cli_opt *o = options; o && o->letter; o++) {
        char text[64];

        snprintf(text, sizeof(text), "--%s", o->name ? o->name : "");
        if (o->name)
            offer(c, text);
        snprintf(text, sizeof(text), "-%c", o->letter);
        if (o->letter < CLI_OPT_CONF)
            offer(c, text);
    }
}

/* Offers the n-th word of each command whose earlier words match, without duplicates: a group's
 * commands are adjacent in the table. */
static void offer_commands(const struct completion *c, const char *group)
{
    char last[64] = "";

    for (const struct cli_command *row = c->ctx->commands; row->name; row++) {
        const char *blank = strchr(row->name, ' ');
        size_t n = blank ? (size_t)(blank - row->name) : strlen(row->name);
        char text[64];

        if (row->hidden ||
            (group && (!blank || strlen(group) != n || strncmp(row->name, group, n) != 0)))
            continue;
        if (group)
            snprintf(text, sizeof(text), "%s", blank + 1);
        else
            snprintf(text, sizeof(text), "%.*s", (int)n, row->name);
        if (strcmp(text, last) != 0)
            offer(c, text);
        snprintf(last, sizeof(last), "%s", text);
    }
}

/* ---- Candidates from the ResourceManager ---- */

static void on_applications(int status, const struct cli_report *reports, size_t n,
                            const struct sv_error *err, void *userdata)
{
    struct completion *c = userdata;
    char id[YARN_ID_TEXT_MAX];

    (void)err;
    for (size_t i = 0; status == 0 && i < n; i++)
        offer(c, yarn_app_id_text(reports[i].id, id));
    cli_stop(c->ctx, 0);
}

/* Names of services, running or ended: a shell removes the doubles of those started again. */
static void on_services(int status, const struct cli_report *reports, size_t n,
                        const struct sv_error *err, void *userdata)
{
    struct completion *c = userdata;

    (void)err;
    for (size_t i = 0; status == 0 && i < n; i++)
        offer(c, reports[i].name);
    cli_stop(c->ctx, 0);
}

/* Omits the port: bash treats a colon as a word break. */
static void on_nodes(int status, const struct cli_node_report *nodes, size_t n,
                     const struct sv_error *err, void *userdata)
{
    struct completion *c = userdata;

    (void)err;
    for (size_t i = 0; status == 0 && i < n; i++)
        offer(c, nodes[i].id.host);
    cli_stop(c->ctx, 0);
}

static void on_queues(int status, const struct cli_queue_report *queues, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct completion *c = userdata;

    (void)err;
    for (size_t i = 0; status == 0 && i < n; i++)
        offer(c, queues[i].path);
    cli_stop(c->ctx, 0);
}

static void on_containers(int status, const struct cli_container_report *list, size_t n,
                          const struct sv_error *err, void *userdata)
{
    struct completion *c = userdata;
    char id[YARN_ID_TEXT_MAX];

    (void)err;
    for (size_t i = 0; status == 0 && i < n; i++)
        offer(c, yarn_container_id_text(list[i].id, id));
    cli_stop(c->ctx, 0);
}

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct completion *c = userdata;

    (void)err;
    if (status < 0 || n == 0 ||
        cli_rm_containers(c->ctx->rm, report->attempt, on_containers, c) < 0)
        cli_stop(c->ctx, 0);
}

/* The application of a container's id that is not typed to its end:
 * container_[e<epoch>_]<time>_<number>_… */
static bool begins_container(const char *word, struct yarn_app_id *ret)
{
    char text[YARN_ID_TEXT_MAX];
    const char *p = word + strlen("container_"), *end;

    if (!sv_has_prefix(word, "container_"))
        return false;
    if (*p == 'e' && strchr(p, '_'))
        p = strchr(p, '_') + 1;
    end = strchr(p, '_');
    end = end ? strchrnul(end + 1, '_') : NULL;
    return end && (size_t)(end - p) < sizeof(text) - strlen("application_") &&
           snprintf(text, sizeof(text), "application_%.*s", (int)(end - p), p) > 0 &&
           yarn_app_id_parse(text, ret) >= 0;
}

/* Offers containers of the application that `text` names in any way that commands take. -errno. */
static int offer_containers(struct completion *c, const char *text)
{
    struct cli_app_argument app = { 0 };

    return cli_app_resolve(c->ctx, text, &app) == 0
               ? cli_rm_report(c->ctx->rm, app.id, on_report, c)
               : -ENOENT;
}

static void on_limit(int signal)
{
    (void)signal;
    _exit(0);
}

static void offer_live(struct completion *c, enum cli_names names)
{
    const struct itimerval limit = { .it_value = { .tv_usec = CLI_COMPLETE_MS * 1000 } };
    struct cli_app_filter services = { .types = { "yarn-service" }, .n_types = 1, .n_users = 1 };
    struct yarn_app_id app;
    struct cli_rm *rm;
    int r;

    (void)fflush(stdout);
    (void)signal(SIGALRM, on_limit);
    (void)setitimer(ITIMER_REAL, &limit, NULL); /* cannot fail with these values, ignoring */
    if (cli_connect(c->ctx) != 0)
        return;
    rm = c->ctx->rm;
    services.users[0] = c->ctx->user;
    if (names == CLI_NAMES_NODE)
        r = cli_rm_nodes(rm, true, on_nodes, c);
    else if (names == CLI_NAMES_QUEUE)
        r = cli_rm_queues(rm, "root", true, on_queues, c);
    else if (names == CLI_NAMES_SERVICE)
        r = cli_rm_applications_where(rm, &services, on_services, c);
    else if (names == CLI_NAMES_CONTAINER)
        r = c->first ? offer_containers(c, c->first) : -ENOENT;
    else if (begins_container(c->word, &app))
        r = cli_rm_report(rm, app, on_report, c);
    else
        r = cli_rm_applications(rm, NULL, names == CLI_NAMES_APP, on_applications, c);
    if (r >= 0)
        (void)cli_loop(c->ctx);
}

static void offer_names(struct completion *c, enum cli_names names)
{
    static const char *const formats[] = { "table", "wide", "json", "yaml", "csv", "name" };

    switch (names) {
    case CLI_NAMES_FORMAT:
        for (size_t i = 0; i < SV_ARRAY_LEN(formats); i++)
            offer(c, formats[i]);
        break;
    case CLI_NAMES_APP:
    case CLI_NAMES_APP_ENDED:
    case CLI_NAMES_NODE:
    case CLI_NAMES_QUEUE:
    case CLI_NAMES_SERVICE:
    case CLI_NAMES_CONTAINER:
        offer_live(c, names);
        break;
    case CLI_NAMES_NONE:
    case CLI_NAMES_FILE:
    case CLI_NAMES_DIRECTORY: /* completed by the shell itself */
        break;
    }
}

/* ---- The words ---- */

/* Returns the option that `word` is, if it takes the next word as its value. */
static const struct cli_opt *option_of(const struct cli_opt *options, const char *word)
{
    for (const struct cli_opt *o = options; o && o->letter; o++)
        if (o->value && *o->value != '[' &&
            ((o->name && sv_has_prefix(word, "--") && strcmp(word + 2, o->name) == 0) ||
             (strlen(word) == 2 && word[0] == '-' && word[1] == o->letter)))
            return o;
    return NULL;
}

static const struct cli_command *command_of(const struct cli_ctx *ctx, const char *first,
                                            const char *second)
{
    char both[128];

    snprintf(both, sizeof(both), "%s %s", first, second);
    for (const struct cli_command *row = ctx->commands; row->name; row++)
        if (strcmp(row->name, first) == 0 || strcmp(row->name, both) == 0)
            return row;
    return NULL;
}

static bool is_group(const struct cli_ctx *ctx, const char *word)
{
    size_t n = strlen(word);

    for (const struct cli_command *row = ctx->commands; row->name; row++)
        if (strncmp(row->name, word, n) == 0 && row->name[n] == ' ')
            return true;
    return false;
}

static int words_of(const struct cli_command *row)
{
    return strchr(row->name, ' ') ? 2 : 1;
}

/* The first argument of the command before the last word; NULL: there is none. */
static const char *first_argument(const struct cli_command *row, int n, char **words)
{
    for (int i = words_of(row); i + 1 < n; i++) {
        if (*words[i] != '-')
            return words[i];
        if (option_of(row->options, words[i]) || option_of(cli_globals, words[i]))
            i++;
    }
    return NULL;
}

static void offer_arguments(struct completion *c, const struct cli_command *row, int n,
                            char **words)
{
    c->first = first_argument(row, n, words);
    offer_names(c, c->first && row->then ? row->then : row->names);
}

/* Completes the last of `n` words. */
static void complete(struct completion *c, int n, char **words)
{
    const char *before = n > 1 ? words[n - 2] : "";
    const struct cli_command *row;
    const struct cli_opt *option;

    c->word = words[n - 1];
    row = n > 1 ? command_of(c->ctx, words[0], n > 2 ? words[1] : "") : NULL;
    option = option_of(cli_globals, before);
    if (row && !option)
        option = option_of(row->options, before);
    for (int i = 0; i + 1 < n; i++)
        if (strcmp(words[i], "--") == 0)
            return; /* a word of the job's command */
    if (option) {
        offer_names(c, option->names & CLI_NAMES_MASK);
    } else if (*c->word == '-') {
        offer_options(c, row ? row->options : NULL);
        offer_options(c, cli_globals);
    } else if (n == 1) {
        offer_commands(c, NULL);
    } else if (!row && n == 2 && is_group(c->ctx, words[0])) {
        offer_commands(c, words[0]);
    } else if (row) {
        offer_arguments(c, row, n, words);
    }
}

int cli_cmd_complete(struct cli_ctx *ctx, int argc, char **argv)
{
    struct completion c = { .ctx = ctx };
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (argc > 1 && null >= 0 && dup2(null, STDERR_FILENO) >= 0)
        complete(&c, argc - 1, argv + 1);
    if (null > STDERR_FILENO)
        (void)close(null);
    return 0;
}
