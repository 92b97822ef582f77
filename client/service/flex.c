/* `selvedge service flex NAME COMPONENT=COUNT...`: COUNT is a number, +n or -n. Relative ones are
 * made absolute here, of the running service's counts: Apache's API takes "+2" for 2. */
#include <string.h>

#include "client/core/options.h"
#include "client/service/await.h"
#include "client/service/call.h"
#include "common/str.h"
#include "service/definition/definition.h"

static const struct cli_column columns[] = {
    { "COMPONENT", "component", CLI_TEXT, CLI_ALWAYS },
    { ">BEFORE", "before", CLI_NUMBER, CLI_ALWAYS },
    { ">WANTED", "wanted", CLI_NUMBER, CLI_ALWAYS },
};
static const struct cli_list list = CLI_LIST(columns, "component");

struct flex {
    struct cli_ctx *ctx;
    struct cli_await await;
    char **words; /* "web=+2" */
    size_t n;
    json_t *rows;
};

/* Splits "web=+2". 0, or 2 after an error message. */
static int parse(const struct cli_ctx *ctx, const char *word, char *ret_name, size_t size,
                 int64_t *ret_n, bool *ret_relative)
{
    const char *equal = strchr(word, '=');
    const char *number = equal ? equal + 1 : "";

    *ret_relative = *number == '+' || *number == '-';
    if (equal && equal > word && (size_t)(equal - word) < size && number[1] != '-' &&
        sv_parse_i64(*number == '+' ? number + 1 : number, -SVC_INSTANCES_MAX, SVC_INSTANCES_MAX,
                     ret_n) == 0) {
        snprintf(ret_name, size, "%.*s", (int)(equal - word), word);
        return 0;
    }
    (void)cli_fail("%s: %s: expected COMPONENT=COUNT, where COUNT is a number up to %d, as in "
                   "web=3, or relative, as in web=+2 or web=-1",
                   ctx->command->name, word, SVC_INSTANCES_MAX);
    return 2;
}

static int check_words(const struct flex *f)
{
    char name[SVC_NAME_MAX + 1], other[SVC_NAME_MAX + 1];
    int64_t n;
    bool relative;

    for (size_t i = 0; i < f->n; i++) {
        if (parse(f->ctx, f->words[i], name, sizeof(name), &n, &relative) != 0)
            return 2;
        for (size_t k = 0; k < i; k++)
            if (parse(f->ctx, f->words[k], other, sizeof(other), &n, &relative) == 0 &&
                strcmp(name, other) == 0) {
                (void)cli_fail("%s: %s is given twice", f->ctx->command->name, name);
                return 2;
            }
    }
    return 0;
}

static void on_flexed(const json_t *answer, void *userdata)
{
    struct flex *f = userdata;

    (void)answer;
    cli_output_list(&f->ctx->output, &list, f->rows, stdout);
    cli_await(f->ctx, &f->await);
}

static const json_t *component_of(const json_t *status, const char *name)
{
    const json_t *one;
    size_t i;

    json_array_foreach(json_object_get(status, "components"), i, one)
    {
        if (strcmp(cli_service_text(one, "name"), name) == 0)
            return one;
    }
    return NULL;
}

/* Prints which components there are; returns 1. */
static int no_component(const struct flex *f, const json_t *status, const char *name)
{
    const char *state = cli_service_text(status, "state");
    char names[600] = "";
    const json_t *one;
    size_t i;

    json_array_foreach(json_object_get(status, "components"), i, one)
    {
        size_t used = strlen(names);

        snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
                 cli_service_text(one, "name"));
    }
    if (!*names)
        return cli_fail("%s is %s, and only a running service is flexed; selvedge service start %s "
                        "starts it",
                        f->ctx->subject, state, f->ctx->subject);
    return cli_fail("%s has no component %s; there are %s", f->ctx->subject, name, names);
}

/* Adds a row and a component of the request; 0 or the exit code. */
static int change(struct flex *f, const json_t *status, const char *word, json_t *components)
{
    char name[SVC_NAME_MAX + 1];
    int64_t n, before;
    const json_t *component;
    bool relative;

    if (parse(f->ctx, word, name, sizeof(name), &n, &relative) != 0)
        return 2;
    component = component_of(status, name);
    if (!component)
        return no_component(f, status, name);
    before = json_integer_value(json_object_get(component, "number_of_containers"));
    before = SV_MIN(SV_MAX(before, (int64_t)0), (int64_t)SVC_INSTANCES_MAX);
    n += relative ? before : 0;
    if (n < 0 || n > SVC_INSTANCES_MAX)
        return cli_fail("%s: %s: %s has %lld instances, and from 0 to %d are possible",
                        f->ctx->subject, word, name, (long long)before, SVC_INSTANCES_MAX);
    if (json_array_append_new(components, json_pack("{s:s, s:I}", "name", name,
                                                    "number_of_containers", (json_int_t)n)) < 0 ||
        json_array_append_new(f->rows, json_pack("{s:s, s:I, s:I}", "component", name, "before",
                                                 (json_int_t)before, "wanted", (json_int_t)n)) < 0)
        return cli_fail("out of memory");
    return 0;
}

static void on_status(const json_t *status, void *userdata)
{
    struct flex *f = userdata;
    json_t *components = json_array();
    int code = 0;

    f->rows = json_array();
    for (size_t i = 0; i < f->n && code == 0; i++)
        code = change(f, status, f->words[i], components);
    if (code != 0) {
        json_decref(components);
        cli_stop(f->ctx, code);
        return;
    }
    cli_service_call(f->ctx,
                     &(struct cli_service_request){ .method = "PUT",
                                                    .body = json_pack("{s:s, s:o}", "state", "FLEX",
                                                                      "components", components) },
                     on_flexed, f);
}

int cli_cmd_service_flex(struct cli_ctx *ctx, int argc, char **argv)
{
    struct flex f = { .ctx = ctx };
    int code = 0, c;

    optind = 0; /* restart getopt for a new argv */
    while (code == 0 && (c = cli_option(ctx, argc, argv)) != -1)
        code = c == CLI_OPT_WAIT_EMPTY ? cli_await_option(ctx, &f.await, optarg) : 2;
    if (code == 0)
        code = cli_service_begin(ctx, argc, argv, &list, 2, 0);
    if (code == 0)
        code = cli_service_name(ctx, ctx->subject);
    f.words = argv + optind + 1;
    f.n = (size_t)SV_MAX(argc - optind - 1, 0);
    if (code == 0)
        code = check_words(&f);
    if (code != 0)
        return code;
    cli_service_call(ctx, &(struct cli_service_request){ .method = "GET" }, on_status, &f);
    code = cli_loop(ctx);
    ctx->fetch = cli_fetch_free(ctx->fetch); /* an open request has its answer here */
    cli_await_end(&f.await);
    json_decref(f.rows);
    return code;
}
