/* `selvedge config`: shows the settings in this machine's files, and how Selvedge's programs
 * interpret them. Contacts no daemon. */
#include <errno.h>
#include <string.h>

#include "client/config/config-keys.h"
#include "client/config/config-queues.h"
#include "client/core/options.h"
#include "common/str.h"
#include "rm-lite/conf/rm-conf.h"

static const struct cli_column columns[] = {
    { "KEY", "key", CLI_TEXT, CLI_ALWAYS },
    { "VALUE", "value", CLI_TEXT, CLI_ALWAYS },
    { "SET IN", "origin", CLI_TEXT, CLI_ALWAYS },
    { "DEFAULT", "default", CLI_TEXT, CLI_IF_WIDE },
    { "MEANING", "meaning", CLI_TEXT, CLI_IF_WIDE },
    { "TYPE", "type", CLI_TEXT, CLI_AS_FIELD },
    { "SET", "set", CLI_TEXT, CLI_AS_FIELD },
};
static const struct cli_list keys_list = CLI_LIST(columns, "key");
static const struct cli_column unknown_columns[] = {
    { "KEY", "key", CLI_TEXT, CLI_ALWAYS },
    { "NEAREST", "nearest", CLI_TEXT, CLI_ALWAYS },
    { "SET IN", "origin", CLI_TEXT, CLI_ALWAYS },
};
static const struct cli_list unknown_list = CLI_LIST(unknown_columns, "key");

static void print_row(const char *name, const json_t *value)
{
    const char *text = json_string_value(value);
    char shown[4096];

    sv_escape(shown, sizeof(shown), text ? text : "-");
    printf("%-9s %s\n", name, *shown ? shown : "\"\"");
}

static void print_key(const json_t *key)
{
    const json_t *readers = json_object_get(key, "readBy");
    size_t i;
    json_t *one;

    print_row("key", json_object_get(key, "key"));
    print_row("value", json_object_get(key, "value"));
    print_row("set in", json_object_get(key, "origin"));
    print_row("default", json_object_get(key, "default"));
    print_row("type", json_object_get(key, "type"));
    printf("read by   ");
    json_array_foreach(readers, i, one) printf("%s%s", i ? ", " : "", json_string_value(one));
    puts(json_array_size(readers) ? "" : "-");
    print_row("meaning", json_object_get(key, "meaning"));
}

static int one_key(struct cli_ctx *ctx, struct cli_config_keys *k, const char *name)
{
    json_t *key = cli_config_key(k, name);
    struct cli_queue_key queue;
    const char *nearest;

    if (key && ctx->json) {
        cli_output_json(&ctx->output, key, stdout);
        return 0;
    }
    if (key) {
        print_key(key);
        json_decref(key);
        return 0;
    }
    if (cli_config_queue_key(ctx->conf, name, &queue))
        nearest = *queue.nearest ? queue.nearest : NULL;
    else
        nearest = cli_config_nearest(k, name, SV_MAX(strlen(name) / 5, (size_t)3));
    return cli_fail("%s: no program of Selvedge's knows this key, and no file sets it%s%s%s", name,
                    nearest ? "; is " : "", nearest ? nearest : "", nearest ? " meant?" : "");
}

static int list_keys(const struct cli_ctx *ctx, json_t *rows, const struct cli_list *list)
{
    if (!rows)
        return cli_fail("out of memory");
    cli_output_list(&ctx->output, list, rows, stdout);
    json_decref(rows);
    return 0;
}

/* hdfs-site.xml, which the NodeManager reads too, and the scheduler's files are optional. */
static int load(struct cli_ctx *ctx)
{
    _cleanup_free_ char *path = NULL;
    struct sv_error err = { 0 };
    int code = cli_load_conf(ctx), r;

    if (code != 0)
        return code;
    r = sv_asprintf(&path, "%s/hdfs-site.xml", sv_conf_dir(ctx->conf));
    if (r >= 0)
        r = sv_conf_load_file(ctx->conf, path, &err);
    if (r >= 0 || r == -ENOENT)
        r = rm_conf_load_scheduler(ctx->conf, sv_conf_dir(ctx->conf), &err);
    if (r >= 0)
        return 0;
    (void)cli_fail("%s", err.text);
    return 2;
}

int cli_cmd_config(struct cli_ctx *ctx, int argc, char **argv)
{
    bool all = false, unknown = false;
    struct cli_config_keys *k = NULL;
    int c, code;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        all = all || c == 'a';
        unknown = unknown || c == 'u';
    }
    if (argc - optind > (all || unknown ? 0 : 1) || (all && unknown))
        return cli_usage(ctx);
    code = optind < argc ? cli_check_format(ctx)
                         : cli_option_list(ctx, unknown ? &unknown_list : &keys_list);
    if (code == 0)
        code = load(ctx);
    if (code != 0)
        return code;
    k = cli_config_keys_new(ctx->conf);
    if (!k)
        return cli_fail("out of memory");
    if (optind < argc) {
        code = one_key(ctx, k, argv[optind]);
    } else if (unknown) {
        json_t *rows = cli_config_unknown(k);
        size_t n = json_array_size(rows);

        code = list_keys(ctx, rows, &unknown_list);
        code = code == 0 && n > 0 ? 1 : code;
    } else {
        code = list_keys(ctx, cli_config_list(k, all), &keys_list);
    }
    cli_config_keys_free(k);
    return code;
}
