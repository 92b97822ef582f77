/* See sweep.h. */
#include "client/run/sweep.h"

#include <stdlib.h>

#define SWEEP_MAX 64 /* directories checked per run */

struct sweep_call {
    struct cli_stage *stage;
    struct yarn_app_id app;
};

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct sweep_call *call = userdata;

    (void)err;
    if (status == 0 && n == 1 && cli_app_ended(report->state))
        cli_stage_remove_other(call->stage, call->app);
    free(call);
}

void cli_sweep_staging(struct cli_ctx *ctx, struct cli_stage *stage)
{
    struct yarn_app_id apps[SWEEP_MAX];
    size_t n = cli_stage_others(stage, apps, SWEEP_MAX);

    for (size_t i = 0; i < n; i++) {
        struct sweep_call *call = malloc(sizeof(*call));

        if (call)
            *call = (struct sweep_call){ stage, apps[i] };
        if (!call || cli_rm_report(ctx->rm, apps[i], on_report, call) < 0)
            free(call);
    }
}
