/* Fuzzes the job file of `selvedge submit -F`: any bytes. What is accepted has groups, numbers and
 * names within their bounds; every refusal has its text, in one line of sensible length. */
#include <stdlib.h>
#include <string.h>

#include "client/run/job-file.h"
#include "client/run/yaml-tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)
#define ARENA_MAX ((size_t)64 << 20)

static void check_set(const struct cli_file_set *s)
{
    MUST(s->n_files <= CLI_FILE_LIST_MAX && s->n_env <= CLI_FILE_WORDS_MAX);
    for (size_t i = 0; i < s->n_files; i++) {
        const char *name = s->files[i].name;

        MUST(*s->files[i].path && *name && !strchr(name, '/') && strlen(name) <= 200);
        MUST(strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
    }
    for (size_t i = 0; i < s->n_env; i++)
        MUST(*s->env[i].name && !strpbrk(s->env[i].name, "= '\"\n$`\\"));
}

static void check_group(const struct cli_file_group *g)
{
    MUST(*g->name && strlen(g->name) < CLI_GROUP_NAME_MAX && !strpbrk(g->name, " /\n'\"$"));
    MUST(g->command.words && g->command.words[0] && *g->command.words[0]);
    MUST(!g->command.is_line || !g->command.words[1]);
    MUST(g->instances >= 1 && g->memory_mb >= 1 && g->vcores >= 1 && g->gpus >= 0);
    MUST(g->retries >= -1 && g->retries <= 1000 && g->at_once >= 0 && g->line >= 1);
    check_set(&g->set);
}

static void check_job(const struct cli_job_file *j)
{
    int64_t instances = 0;

    MUST(j->n_groups >= 1 && j->n_groups <= CLI_GROUPS_MAX);
    MUST(j->deadline_s >= 0 && j->retries >= 0 && j->tries >= 0 && j->at_once >= 0);
    check_set(&j->set);
    for (size_t i = 0; i < j->n_groups; i++) {
        check_group(&j->groups[i]);
        instances += j->groups[i].instances;
        for (size_t k = 0; k < i; k++)
            MUST(strcmp(j->groups[i].name, j->groups[k].name) != 0);
    }
    MUST(instances <= CLI_INSTANCES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv_arena *a = sv_arena_new(ARENA_MAX);
    struct sv_error err = { 0 };
    struct cli_job_file job;

    MUST(a);
    if (cli_job_file_parse((const char *)data, size, a, &job, &err) == 0)
        check_job(&job);
    else
        MUST(*err.text);
    sv_arena_free(a);
    return 0;
}
