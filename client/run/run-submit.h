/* Submission of `selvedge run`: an id, the staging directory, the ApplicationMaster's launch. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_SUBMIT_H
#define SELVEDGE_CLIENT_RUN_RUN_SUBMIT_H

#include "client/run/run-interrupt.h"
#include "client/run/run.h"
#include "common/buf.h"

struct cli_tokens;

struct run_submission {
    struct cli_ctx *ctx;
    const struct run_options *options;
    struct run_interrupt *interrupt; /* notified when the submission is being sent */
    void (*done)(void *userdata);    /* called when the ResourceManager has accepted it */
    void *userdata;
    /* Set before done() is called. */
    struct yarn_app_id app;
    char app_text[YARN_ID_TEXT_MAX];
    struct cli_job job;
    struct cli_stage *stage;
    struct sv_arena *arena; /* memory of the job's texts */
    struct cli_tokens *fetch;
    struct sv_buf tokens; /* with Kerberos: of the job */
};

/* Checks the job against the cluster, then submits it. Errors, including a job rejected before an
 * id is used up, print a message and end the loop. 0 or -errno. */
int cli_run_submit(struct run_submission *s) _must_use_;
/* Frees the stage, which removes its files unless they were kept. */
void cli_run_submission_free(struct run_submission *s);

#endif
