/* The submission of `selvedge run`: an id, the staging directory, the ApplicationMaster's launch.
 */
#ifndef SELVEDGE_CLIENT_RUN_RUN_SUBMIT_H
#define SELVEDGE_CLIENT_RUN_RUN_SUBMIT_H

#include "client/run/run-interrupt.h"
#include "client/run/run.h"

struct run_submission {
    struct cli_ctx *ctx;
    const struct run_options *options;
    struct run_interrupt *interrupt; /* told when the submission is on its way */
    void (*done)(void *userdata);    /* the ResourceManager has it */
    void *userdata;
    /* Known when done() is called. */
    struct yarn_app_id app;
    char app_text[YARN_ID_TEXT_MAX];
    struct cli_job job;
    struct cli_stage *stage;
    struct sv_arena *arena; /* of the job's texts */
};

/* Checks the job against the cluster, then submits it. What is refused before an id is used up, and
 * other errors, end the loop with their message. 0 or -errno. */
int run_submit(struct run_submission *s) _must_use_;
/* Ends the stage, which removes its files unless they were kept. */
void run_submission_free(struct run_submission *s);

#endif
