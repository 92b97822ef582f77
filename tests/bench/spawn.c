/* A peer of bench-launch, and the starter of bench-cli: spawns the command and waits for it. "@" in
 * a word is replaced by a counter. usage: spawn [-n] COMMAND... (commands as in command.h); -n: the
 * command's output goes nowhere. */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/command.h"

#define WORDS_MAX 64

static posix_spawn_file_actions_t actions;

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
    if (posix_spawnp(&pid, words[0], &actions, NULL, words, environ) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        (void)fprintf(stderr, "spawn: %s failed\n", words[0]);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    bool quiet = argc > 1 && strcmp(argv[1], "-n") == 0;

    argv += 1 + quiet;
    if (!*argv || posix_spawn_file_actions_init(&actions) != 0 ||
        (quiet && posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) != 0))
        return 2;
    return serve_commands(launch, argv);
}
