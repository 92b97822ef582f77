/* Fuzzes the two readers of container-start: any script ends in a plan of NUL-terminated texts or
 * is refused, and any command in words of which none is longer than its text, or is refused. They
 * are included here: the program is in no archive. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/start-command.c"
#include "executor/start-script.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check_command(const char *text)
{
    static struct start_command c;
    memset(&c, 0, sizeof(c));
    if (!start_read_command(text, &c))
        return;
    const size_t longest = strlen(text);
    MUST(c.n > 0 && c.n <= START_WORDS_MAX && c.argv[c.n] == NULL && *c.argv[0]);
    for (size_t i = 0; i < c.n; i++)
        MUST(strlen(c.argv[i]) <= longest);
    MUST(c.n_redirections <= START_REDIRECTIONS_MAX);
    for (size_t i = 0; i < c.n_redirections; i++) {
        const struct start_redirection *r = &c.redirections[i];
        MUST(r->fd == 1 || r->fd == 2);
        MUST(r->from == 1 || r->from == 2 || (r->from == -1 && r->file && *r->file));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct start_plan plan;
    const struct start_shell shell = { "/usr/bin:/bin", "/work", 2 };
    char *text = malloc(size + 1);
    MUST(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    memset(&plan, 0, sizeof(plan));
    if (start_read_script(text, size, &shell, &plan)) {
        MUST(plan.out && plan.err && plan.command && plan.n_steps <= START_STEPS_MAX);
        for (size_t i = 0; i < plan.n_variables; i++)
            MUST(*plan.variables[i].name && strlen(plan.variables[i].value) < START_TEXT_MAX);
        for (size_t i = 0; i < plan.n_steps; i++)
            MUST(*plan.steps[i].name && plan.steps[i].target);
        check_command(plan.command);
    }
    check_command(text);
    free(text);
    return 0;
}
