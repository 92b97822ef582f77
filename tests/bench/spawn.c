/* A peer of bench-launch: spawns the command and waits for it. "@" in a word is replaced by a
 * counter. usage: spawn COMMAND... (commands as in command.h). */
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/command.h"

#define WORDS_MAX 64

static int launch(void *argument)
{
    static char text[WORDS_MAX][512];
    static int number;
    char *words[WORDS_MAX + 1] = { NULL };
    char **argv = argument;
    number++;
    for (int i = 0; argv[i] && i < WORDS_MAX; i++) {
        const char *at = strchr(argv[i], '@');
        if (at)
            (void)snprintf(text[i], sizeof(text[i]), "%.*s%d%s", (int)(at - argv[i]), argv[i],
                           number, at + 1);
        words[i] = at ? text[i] : argv[i];
    }
    pid_t pid;
    int status;
    if (posix_spawnp(&pid, words[0], NULL, NULL, words, environ) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        (void)fprintf(stderr, "spawn: %s failed\n", words[0]);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    return argc < 2 ? 2 : serve_commands(launch, argv + 1);
}
