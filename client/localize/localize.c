/* See localize.h. `selvedge localize`: command line and output. */
#include "client/localize/localize.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "client/core/options.h"
#include "client/ui/progress.h"
#include "client/ui/table.h"
#include "common/fd.h"
#include "common/str.h"
#include "nodemanager/conf/conf-unit.h"

static int bad_value(const char *option, const char *value, const char *expected)
{
    (void)cli_fail("localize: --%s %s: expected %s", option, value, expected);
    return 2;
}

static int take_visibility(const char *text, enum loc_visibility *ret)
{
    static const char *const names[] = {
        [LOC_PUBLIC] = "public", [LOC_PRIVATE] = "private", [LOC_APPLICATION] = "application"
    };

    for (int v = LOC_PUBLIC; v <= LOC_APPLICATION; v++)
        if (strcasecmp(names[v], text) == 0) {
            *ret = (enum loc_visibility)v;
            return 0;
        }
    return bad_value("visibility", text, "public, private or application");
}

static int take_number(const char *option, const char *text, int64_t *ret)
{
    return sv_parse_i64(text, 1, INT64_MAX, ret) == 0
               ? 0
               : bad_value(option, text, "a whole number above 0");
}

/* Called before root's rights are dropped. */
static int take_tokens(const char *path, struct localize_options *o)
{
    char *data = NULL;
    int r = sv_read_file_at(AT_FDCWD, path, FS_CREDENTIALS_MAX, &data, &o->n_credentials);

    if (r < 0) {
        (void)cli_fail("localize: --tokens %s: %s", path, strerror(-r));
        return 2;
    }
    free(o->credentials);
    o->credentials = (uint8_t *)data;
    return 0;
}

static int take_type(struct localize_options *o, enum loc_type type, const char *pattern)
{
    if (o->type != LOC_FILE && o->type != type) {
        (void)cli_fail("localize: --archive and --pattern exclude each other");
        return 2;
    }
    o->type = type;
    o->pattern = pattern;
    return 0;
}

static int take(struct localize_options *o, int c)
{
    switch (c) {
    case LOCALIZE_OPT_AS:
        o->submitter = optarg;
        return 0;
    case 'u':
        o->account = optarg;
        return 0;
    case 'v':
        return take_visibility(optarg, &o->visibility);
    case 'a':
        return take_type(o, LOC_ARCHIVE, NULL);
    case 'p':
        return take_type(o, LOC_PATTERN, optarg);
    case LOCALIZE_OPT_TIMESTAMP:
        return take_number("timestamp", optarg, &o->timestamp);
    case LOCALIZE_OPT_SIZE:
        return take_number("size", optarg, &o->size);
    case LOCALIZE_OPT_TOKENS:
        return take_tokens(optarg, o);
    default:
        return 2; /* the reason was printed */
    }
}

static int parse(struct cli_ctx *ctx, int argc, char **argv, struct localize_options *o)
{
    int c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        int code = take(o, c);

        if (code != 0)
            return code;
    }
    if (!o->submitter || !o->visibility || optind == argc)
        return cli_usage(ctx);
    if (argc - optind > LOCALIZE_URLS_MAX) {
        (void)cli_fail("localize: more than %d URLs at once", LOCALIZE_URLS_MAX);
        return 2;
    }
    return cli_check_format(ctx);
}

/* ---- Output ---- */

static void print_json(const struct localize *l, char **urls, const struct cli_output *o)
{
    json_t *list = json_array();

    for (size_t i = 0; i < l->n_urls; i++) {
        const struct localize_result *r = &l->results[i];
        json_t *one = json_pack("{s:o, s:b}", "url", cli_json_string(urls[i]), "localized",
                                r->over && !r->refused);

        if (r->refused)
            (void)json_object_set_new(one, "reason", cli_json_string(r->refused));
        else
            (void)json_object_update_new(one, json_pack("{s:I, s:I}", "bytes", (json_int_t)r->bytes,
                                                        "millis", (json_int_t)r->millis));
        (void)json_array_append_new(list, one);
    }
    cli_output_json(o, list, stdout);
}

/* Prints a reason on one line, whatever a server has sent. */
static void print_text(const struct localize *l, char **urls)
{
    char size[32], time[32];

    for (size_t i = 0; i < l->n_urls; i++) {
        const struct localize_result *r = &l->results[i];

        if (!r->refused) {
            printf("%s: %s in %s\n", urls[i], cli_text_bytes((int64_t)r->bytes, size),
                   cli_text_millis(r->millis, time));
            continue;
        }
        for (char *p = r->refused; *p; p++)
            if ((unsigned char)*p < ' ' || *p == 127)
                *p = ' ';
        (void)cli_fail("localize: %s", r->refused);
    }
}

static int answer(const struct cli_ctx *ctx, const struct localize *l, char **urls)
{
    int code = 0;

    for (size_t i = 0; i < l->n_urls; i++)
        code |= l->results[i].refused ? 1 : 0;
    if (ctx->json)
        print_json(l, urls, &ctx->output);
    else
        print_text(l, urls);
    return code;
}

static int run(const struct cli_ctx *ctx, struct localize *l, char **urls, size_t n)
{
    _cleanup_free_ char *unit = ctx->conf_dir ? NULL : nm_conf_unit_dir(NULL);
    struct sv_error err = { 0 }, left = { 0 };
    int code, r = cli_localize_open(l, ctx->conf_dir ? ctx->conf_dir : unit, ctx->overrides, &err);

    if (r >= 0) {
        (void)cli_progress_begin(&ctx->output, stderr); /* without a terminal: no line, ignoring */
        r = cli_localize_fetch(l, urls, n, &err);
        cli_progress_end();
    }
    code = r < 0 ? cli_fail("localize: %s", err.text) : answer(ctx, l, urls);
    if (l->exe && cli_localize_remove(l, &left) < 0)
        code = cli_fail("localize: cannot delete all results: %s", left.text);
    return code;
}

int cli_cmd_localize(struct cli_ctx *ctx, int argc, char **argv)
{
    struct localize l = { .options = { .type = LOC_FILE, .timestamp = -1, .size = -1 } };
    int code = parse(ctx, argc, argv, &l.options);

    if (code == 0)
        code = run(ctx, &l, argv + optind, (size_t)(argc - optind));
    cli_localize_close(&l);
    free(l.options.credentials);
    return code;
}
