/* Submits an application and waits for its end: client COMMAND FILE…, where the command runs the
 * ApplicationMaster, and files go into its work directory.
 *
 *     cc client.c -o client $(pkg-config --cflags --libs selvedge-client)
 *     ./client './master 3 hostname >$LOG 2>&1' "$PWD/master" */
#include <selvedge/client.h>
#include <stdio.h>
#include <string.h>

static selvedge_loop loop;
static selvedge_rm rm;

static void on_end(int status, const char *why, const struct selvedge_report *r, size_t n,
                   void *userdata)
{
    printf("%s %s %s\n", n ? r->app : "?", n ? r->final : why, n ? r->diagnostics : "");
    selvedge_loop_quit(loop, n && strcmp(r->final, "SUCCEEDED") == 0 ? 0 : 1);
}

static void on_submitted(int status, const char *why, const char *app, void *userdata)
{
    printf("submitted %s%s\n", app, why);
    if (status < 0 || selvedge_rm_wait(rm, app, on_end, NULL) < 0)
        selvedge_loop_quit(loop, 1);
}

int main(int argc, char **argv)
{
    const char *env[] = { "LD_LIBRARY_PATH={{PWD}}", "LOG=<LOG_DIR>/master", NULL };
    struct selvedge_submission s = SELVEDGE_SUBMISSION;
    struct selvedge_file files[8];
    struct selvedge_error error = { 0, "" };
    char urls[8][512];

    for (int i = 0; i < argc - 2 && i < 8; i++, s.launch.n_files++) {
        snprintf(urls[i], sizeof(urls[i]), "file://%s", argv[i + 2]);
        files[i] = (struct selvedge_file){ strrchr(argv[i + 2], '/') + 1, urls[i], -1, 0, 0, 0 };
    }
    s.name = "example";
    s.memory_mb = 128;
    s.launch.command = argv[1];
    s.launch.files = files;
    s.launch.env = env;
    if (argc < 2 || selvedge_loop_new(NULL, &loop) < 0 ||
        selvedge_rm_open(loop, NULL, NULL, &rm, &error) < 0 ||
        selvedge_rm_submit(rm, &s, on_submitted, NULL) < 0) {
        fprintf(stderr, "client: %s\n", error.text);
        return 2;
    }
    return selvedge_loop_run(loop);
}
