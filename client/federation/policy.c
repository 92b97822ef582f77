/* `selvedge federation policy get|set|delete`: where applications and their containers go, a row a
 * queue. */
#include <errno.h>
#include <string.h>

#include "client/core/options.h"
#include "client/federation/federation.h"
#include "common/arena.h"
#include "federation/policy/manager.h"

static const struct cli_column columns[] = {
    { "QUEUE", "queue", CLI_TEXT, CLI_ALWAYS },
    { "POLICY", "policy", CLI_TEXT, CLI_ALWAYS },
    { "PARAMETERS", "parameters", CLI_TEXT, CLI_ALWAYS },
    { "CLASS", "class", CLI_TEXT, CLI_AS_FIELD },
};
static const struct cli_list list = CLI_LIST(columns, "queue");

/* A manager's class without package and ending: "WeightedLocality"; else the class. */
static json_t *short_name(const char *class)
{
    static const char ending[] = "PolicyManager";
    size_t n = strlen(class), package = strlen(FED_MANAGER_PACKAGE);

    if (strncmp(class, FED_MANAGER_PACKAGE, package) == 0 && n > package + sizeof(ending) - 1 &&
        strcmp(class + n - (sizeof(ending) - 1), ending) == 0)
        return json_stringn(class + package, n - package - (sizeof(ending) - 1));
    return cli_json_string(class);
}

static json_t *policy_object(const struct fed_policy *p)
{
    char params[FED_PARAMS_MAX + 1];

    if (p->params_len > 0)
        memcpy(params, p->params, p->params_len);
    params[p->params_len] = '\0';
    return json_pack("{s:o, s:o, s:o, s:o}", "queue", cli_json_string(p->queue), "policy",
                     short_name(p->type), "parameters", cli_json_string(params), "class",
                     cli_json_string(p->type));
}

static void on_policies(struct cli_ctx *ctx, const struct fed_answer *a)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < a->n; i++)
        (void)json_array_append_new(rows, policy_object(&a->policies[i]));
    cli_stop_list(ctx, &list, rows);
}

static int get(struct cli_ctx *ctx, int argc, char **argv)
{
    struct fed_request q = { .op = argc > 0 ? FED_POLICY_GET : FED_POLICY_LIST };

    if (argc > 1)
        return cli_usage(ctx);
    if (argc > 0)
        q.policy.queue = argv[0];
    return cli_federation_call(ctx, &q, on_policies);
}

/* The whole class of a short name, in `buf`. */
static const char *whole_name(const char *name, char *buf, size_t size)
{
    const char *known;
    size_t n = strlen(name);

    for (size_t i = 0; (known = fed_manager_name(i)); i++)
        if (strcmp(known, name) == 0 ||
            (strncmp(known, name, n) == 0 && strcmp(known + n, "PolicyManager") == 0)) {
            snprintf(buf, size, "%s%s", FED_MANAGER_PACKAGE, known);
            return buf;
        }
    return name;
}

/* Refuses what no Router and no proxy would use, and writes weights as Java does. */
static int checked(struct sv_arena *a, struct fed_policy *p, char **ret_params)
{
    struct fed_manager *m = NULL;
    struct fed_weights w;
    struct sv_error err = { 0 };
    int r = fed_manager_new(p, FED_SIDES, &m, &err);

    fed_manager_free(m);
    if (r == 0 && p->params_len > 0)
        r = fed_weights_read(a, p->params, p->params_len, &w, &err);
    if (r == 0 && p->params_len > 0)
        r = fed_weights_write(&w, ret_params);
    if (r < 0)
        return cli_fail("%s", err.text[0] ? err.text : "the parameters are too long");
    if (*ret_params) {
        p->params = (const uint8_t *)*ret_params;
        p->params_len = strlen(*ret_params);
    }
    return 0;
}

static int set(struct cli_ctx *ctx, int argc, char **argv)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(FED_WEIGHTS_ARENA);
    _cleanup_free_ char *params = NULL;
    struct fed_request q = { .op = FED_POLICY_SET };
    char class[FED_NAME_MAX + 1];
    int code;

    if (argc < 2 || argc > 3)
        return cli_usage(ctx);
    if (!a)
        return cli_fail("out of memory");
    q.policy.queue = argv[0];
    q.policy.type = whole_name(argv[1], class, sizeof(class));
    if (argc > 2) {
        q.policy.params = (const uint8_t *)argv[2];
        q.policy.params_len = strlen(argv[2]);
    }
    code = checked(a, &q.policy, &params);
    return code != 0 ? code : cli_federation_call(ctx, &q, NULL);
}

static int delete (struct cli_ctx *ctx, int argc, char **argv)
{
    const struct fed_request q = { .op = FED_POLICY_DELETE,
                                   .policy = { .queue = argc > 0 ? argv[0] : NULL } };

    return argc == 1 ? cli_federation_call(ctx, &q, NULL) : cli_usage(ctx);
}

int cli_cmd_federation_policy(struct cli_ctx *ctx, int argc, char **argv)
{
    static const struct {
        const char *word;
        int (*run)(struct cli_ctx *ctx, int argc, char **argv);
    } words[] = { { "get", get }, { "set", set }, { "delete", delete } };
    int code = cli_option_none(ctx, argc, argv);

    if (code == 0)
        code = cli_option_list(ctx, &list);
    for (size_t i = 0; code == 0 && optind < argc && i < SV_ARRAY_LEN(words); i++)
        if (strcmp(argv[optind], words[i].word) == 0)
            return words[i].run(ctx, argc - optind - 1, argv + optind + 1);
    return code != 0 ? code : cli_usage(ctx);
}
