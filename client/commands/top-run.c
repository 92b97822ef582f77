/* See top-run.h. */
#include "client/commands/top-run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"

#define CMDLINE_MAX 65536

/* How many words from this one on say which cluster: 0, 1 or 2. */
static size_t kept(char *const *at)
{
    static const char *const names[] = { "-D", "--conf" };

    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        if (strcmp(at[0], names[i]) == 0)
            return at[1] ? 2 : 0;
        if (sv_has_prefix(at[0], names[i]) && (i == 0 || at[0][strlen(names[i])] == '='))
            return 1;
    }
    return 0;
}

void cli_top_words(char *const *own, const char *command, const char *id,
                   const char *ret[static CLI_TOP_WORDS])
{
    size_t n = 0;

    ret[n++] = "selvedge";
    for (size_t i = 1; own[0] && own[i] && strcmp(own[i], "--") != 0; i++) {
        size_t more = kept(own + i);

        if (n + more + 3 > CLI_TOP_WORDS)
            break;
        for (size_t k = 0; k < more; k++)
            ret[n++] = own[i + k];
        i += more > 1;
    }
    ret[n++] = command;
    ret[n++] = id;
    ret[n] = NULL;
}

/* The words of this process, pointers into *ret_text. */
static int own_words(char **ret_text, char *ret[static CLI_TOP_WORDS])
{
    size_t len, n = 0;
    int r = sv_read_file_at(AT_FDCWD, "/proc/self/cmdline", CMDLINE_MAX, ret_text, &len);

    for (size_t i = 0; r >= 0 && i < len && n + 1 < CLI_TOP_WORDS; i += strlen(*ret_text + i) + 1)
        ret[n++] = *ret_text + i;
    ret[n] = NULL;
    return r;
}

/* Interrupts of the terminal were for the child as well. */
static void forget_interrupt(void)
{
    const struct timespec now = { 0 };
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    while (sigtimedwait(&set, NULL, &now) > 0)
        ;
}

int cli_top_run(const char *command, const char *id)
{
    _cleanup_free_ char *text = NULL;
    char *own[CLI_TOP_WORDS];
    const char *words[CLI_TOP_WORDS];
    int r = own_words(&text, own), status;
    sigset_t none;
    pid_t pid;

    if (r < 0)
        return r;
    cli_top_words(own, command, id, words);
    sigemptyset(&none);
    pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0) {
        (void)sigprocmask(SIG_SETMASK, &none, NULL); /* cannot fail, ignoring */
        execv("/proc/self/exe", (char *const *)(uintptr_t)words);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    forget_interrupt();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
