/* `selvedge version`: versions of this program, of the protocols it speaks, and of the cluster. */
#include <errno.h>
#include <string.h>

#include "client/core/options.h"
#include "client/core/rm-rest.h"
#include "client/http/peer-answer.h"
#include "common/str.h"
#include "common/version.h"
#include "rm-lite/core/version.h"
#include "wire/frame.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text && *text ? text : "?";
}

/* `cluster`: NULL if it did not answer. */
static void print(const struct cli_ctx *ctx, json_t *cluster)
{
    char line[1024], shown[4 * sizeof(line)];

    if (ctx->json) {
        cli_output_json(&ctx->output,
                        json_pack("{s:s, s:{s:s, s:i}, s:o*}", "client", SV_VERSION, "protocol",
                                  "hadoop", RM_HADOOP_VERSION, "ipc", IPC_VERSION, "cluster",
                                  cluster ? json_incref(cluster) : json_null()),
                        stdout);
        return;
    }
    printf("selvedge   %s\nprotocols  Hadoop %s, IPC %d\n", SV_VERSION, RM_HADOOP_VERSION,
           IPC_VERSION);
    if (!cluster)
        return;
    snprintf(line, sizeof(line), "%s, Hadoop %s, %s, %s", text_of(cluster, "version"),
             text_of(cluster, "hadoopVersion"), text_of(cluster, "state"),
             text_of(cluster, "haState"));
    sv_escape(shown, sizeof(shown), line);
    printf("cluster    %s\n", shown);
}

static void on_info(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    json_t *cluster = status == 200 ? cli_answer_cluster(body, len) : NULL;
    int code = 0;

    if (status == -ECANCELED)
        return;
    print(ctx, cluster);
    (void)fflush(stdout);
    if (!cluster && status < 0)
        code = cli_fail("the ResourceManager's REST does not answer: %s; selvedge doctor checks "
                        "this machine",
                        why);
    else if (!cluster)
        code = cli_fail("the ResourceManager's REST does not report its version (HTTP %d)", status);
    json_decref(cluster);
    cli_stop(ctx, code);
}

int cli_cmd_version(struct cli_ctx *ctx, int argc, char **argv)
{
    int code = cli_option_none(ctx, argc, argv), r;

    ctx->web_only = true; /* its own version needs no ticket */
    if (code == 0)
        code = cli_option_begin(ctx, argc, argv, NULL, 0, 0, NULL);
    if (code != 0)
        return code;
    cli_fetch_patience(ctx->fetch, (long)SV_MIN(ctx->wait_ms, (int64_t)INT32_MAX));
    sd_event_source_disable_unref(ctx->patience); /* this command makes no RPC */
    ctx->patience = NULL;
    r = cli_rm_rest_get(ctx, "info", on_info, ctx);
    return r < 0 ? cli_fail("version: %s", strerror(-r)) : cli_loop(ctx);
}
