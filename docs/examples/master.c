/* An ApplicationMaster: runs a command in N containers, and fails where one of them does.
 *
 *     cc master.c -o master $(pkg-config --cflags --libs selvedge-client)
 *     master N COMMAND        in a container of YARN; client.c submits it */
#include <selvedge/client.h>
#include <stdio.h>
#include <stdlib.h>

static const char *command;
static selvedge_loop loop;
static int wanted, ended, failed;

static void on_registered(selvedge_am am, int64_t memory_mb, int32_t vcores, void *userdata)
{
    printf("containers may have up to %lld MB, %d vcores\n", (long long)memory_mb, (int)vcores);
    selvedge_am_want(am, 1, 128, 1, wanted);
}

static void on_allocated(selvedge_am am, const struct selvedge_container *c, void *userdata)
{
    struct selvedge_launch launch = SELVEDGE_LAUNCH;

    printf("%s on %s\n", c->id, c->node);
    launch.command = command;
    if (selvedge_am_start(am, c->id, &launch) < 0)
        selvedge_am_release(am, c->id);
}

static void on_completed(selvedge_am am, const char *id, int32_t status, const char *diagnostics,
                         void *userdata)
{
    printf("%s: exit code %d %s\n", id, (int)status, diagnostics);
    failed += status != 0;
    selvedge_am_progress(am, (double)++ended / wanted);
    if (ended == wanted)
        selvedge_am_finish(am, failed == 0, failed ? "a container failed" : "all is done");
}

static void on_finished(selvedge_am am, void *userdata)
{
    selvedge_loop_quit(loop, failed ? 1 : 0);
}

static void on_lost(selvedge_am am, const char *why, void *userdata)
{
    fprintf(stderr, "lost: %s\n", why);
    selvedge_loop_quit(loop, 2);
}

int main(int argc, char **argv)
{
    const struct selvedge_am_ops ops = { .struct_size = sizeof(ops),
                                         .registered = on_registered,
                                         .allocated = on_allocated,
                                         .completed = on_completed,
                                         .finished = on_finished,
                                         .lost = on_lost };
    struct selvedge_error error = { 0, "" };
    selvedge_am am;

    if (argc != 3 || (wanted = (int)strtol(argv[1], NULL, 10)) <= 0 ||
        selvedge_loop_new(NULL, &loop) < 0)
        return 2;
    command = argv[2];
    if (selvedge_am_open(loop, NULL, &ops, NULL, &am, &error) < 0 ||
        selvedge_am_register(am, "", -1, "") < 0) {
        fprintf(stderr, "master: %s\n", error.text);
        return 2;
    }
    return selvedge_loop_run(loop);
}
