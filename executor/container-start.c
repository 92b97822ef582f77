/* container-start SCRIPT: the first program of a container. It does what the launch script says,
 * without a shell, and executes the script where it does not understand it as a whole (start.h):
 * decided before the first effect.
 *
 * container-executor's child executes it as the job's user, behind the job's filter, in the work
 * directory, with PATH alone as its environment. What is left to the job's program is what two
 * shells would have left: environment, descriptors, links, exit status. ADR 83.
 *
 * Hostile: the script and everything in the work directory, which are the job's. It has the job's
 * rights and no others. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/debug-info.h"
#include "executor/request.h"
#include "executor/start.h"

#define BASH "/bin/bash"

static struct start_plan plan;

static void complain(const char *object)
{
    const char *const words[] = { "container-start: ", object, ": ", strerror(errno), "\n" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        (void)!write(2, words[i], strlen(words[i])); /* nobody may read it, ignoring */
}

_Noreturn static void cannot_execute(const char *object)
{
    const int error = errno;
    complain(object);
    _exit(error == ENOENT ? 127 : 126);
}

/* As without this program: the kernel reads the script's first line; bash runs one without. */
_Noreturn static void by_script(char *path)
{
    char *argv[] = { BASH, path, NULL };
    (void)execve(path, argv + 1, environ);
    if (errno == ENOEXEC)
        (void)execve(BASH, argv, environ);
    cannot_execute(path);
}

/* The whole file and a NUL; NULL: it cannot be read, or is larger than a launch script. */
static char *read_script(const char *path, size_t *ret_len)
{
    static char text[EXE_FILE_MAX + 2];
    size_t len = 0;
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    while (fd >= 0 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
        len += (size_t)n;
    if (fd >= 0)
        (void)close(fd);
    *ret_len = len;
    return n == 0 && len <= EXE_FILE_MAX ? text : NULL;
}

/* The plan's variables and two of bash's own, without either where it is NULL. */
static char **environment(const char *level, const char *underscore)
{
    static char *list[START_VARIABLES_MAX + 3];
    size_t n = 0;
    for (size_t i = 0; i < plan.n_variables + 2; i++) {
        const bool own = i >= plan.n_variables;
        const char *name = !own ? plan.variables[i].name : i == plan.n_variables ? "SHLVL" : "_";
        const char *value = !own                    ? plan.variables[i].value
                            : i == plan.n_variables ? level
                                                    : underscore;
        if (!value)
            continue;
        const size_t size = strlen(name) + strlen(value) + 2;
        list[n] = malloc(size);
        if (!list[n])
            cannot_execute(name);
        (void)snprintf(list[n++], size, "%s=%s", name, value);
    }
    list[n] = NULL;
    return list;
}

/* ---- the script's lines -----------------------------------------------------------------------*/

static void say(const char *line)
{
    if (write(1, line, strlen(line)) < 0)
        _exit(1); /* as the script, at its first failed command */
}

/* A step that is more than one system call is the program's that the script names. */
static void by_program(char *const argv[])
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        environ = environment("1", NULL);
        (void)execvp(argv[0], argv);
        cannot_execute(argv[0]);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        cannot_execute(argv[0]);
    if (status != 0)
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static bool make_directories(const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    if (strlen(name) >= sizeof(path))
        return false;
    for (size_t i = 0;; i++) {
        path[i] = '\0';
        if ((name[i] == '/' || name[i] == '\0') && i > 0 && mkdir(path, 0777) < 0 &&
            (errno != EEXIST || stat(path, &st) < 0 || !S_ISDIR(st.st_mode)))
            return false;
        if (name[i] == '\0')
            return true;
        path[i] = name[i];
    }
}

static void take_step(const struct start_step *s)
{
    char *const name = (char *)(uintptr_t)s->name, *const target = (char *)(uintptr_t)s->target;
    char *const words[][6] = { [START_MKDIR] = { "mkdir", "-p", "--", name },
                               [START_REMOVE] = { "rm", "-rf", "--", name },
                               [START_LINK] = { "ln", "-sf", "--", target, name } };
    bool done = false;
    if (s->what == START_MKDIR)
        done = make_directories(name);
    else if (s->what == START_REMOVE)
        done = unlink(name) == 0 || errno == ENOENT;
    else
        done = symlink(target, name) == 0; /* one that exists may be a directory */
    if (!done)
        by_program(words[s->what]);
}

/* ---- the command ------------------------------------------------------------------------------*/

/* The program that bash would find, into `path`; NULL: none, or by a rule that is left to bash. */
static const char *find_program(const char *name, const char *search, char path[PATH_MAX])
{
    struct stat st;
    if (strchr(name, '/'))
        return name;
    for (const char *p = search, *end; p && *p == '/'; p = *end ? end + 1 : NULL) {
        end = p + strcspn(p, ":");
        const int n = snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - p), p,
                               end[-1] == '/' ? "" : "/", name);
        if (n < 0 || n >= PATH_MAX)
            return NULL;
        if (stat(path, &st) == 0)
            return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? path : NULL;
    }
    return NULL;
}

static bool redirect(const struct start_redirection *r)
{
    const int how = O_WRONLY | O_CREAT | O_CLOEXEC | (r->append ? O_APPEND : O_TRUNC);
    int fd = r->from >= 0 ? r->from : open(r->file, how, 0666);
    if (fd < 0 || (fd != r->fd && dup2(fd, r->fd) < 0))
        return false;
    if (fd > 2)
        (void)close(fd);
    return true;
}

/* Returns where bash has to do it: it also knows what to say. */
static void by_itself(const char *cwd)
{
    static struct start_command c;
    char path[PATH_MAX];
    const char *search = NULL, *directory = NULL;
    for (size_t i = 0; i < plan.n_variables; i++) {
        if (strcmp(plan.variables[i].name, "PATH") == 0)
            search = plan.variables[i].value;
        if (strcmp(plan.variables[i].name, "PWD") == 0)
            directory = plan.variables[i].value;
    }
    if (strcmp(directory, cwd) != 0 || !start_read_command(plan.command, &c))
        return;
    const char *program = find_program(c.argv[0], search, path);
    if (!program || access(program, X_OK) < 0)
        return;
    const int saved[] = { -1, fcntl(1, F_DUPFD_CLOEXEC, 10), fcntl(2, F_DUPFD_CLOEXEC, 10) };
    bool good = saved[1] >= 0 && saved[2] >= 0;
    for (size_t i = 0; good && i < c.n_redirections; i++)
        good = redirect(&c.redirections[i]);
    /* bash's exec counts its level back and names nothing; without it, a command that is redirected
     * is a child of the shell. */
    if (good)
        (void)execve(program, c.argv,
                     environment(c.replaces || c.n_redirections == 0 ? "0" : "1",
                                 c.replaces ? NULL : program));
    if (dup2(saved[1], 1) < 0 || dup2(saved[2], 2) < 0)
        _exit(126);
}

int main(int argc, char **argv)
{
    static char cwd[PATH_MAX];
    const char *path = getenv("PATH");
    size_t len = 0;
    const char *text = argc == 2 && path && environ[1] == NULL && getcwd(cwd, sizeof(cwd))
                           ? read_script(argv[1], &len)
                           : NULL;
    const struct start_shell shell = { path, cwd, getpid() };
    if (argc != 2)
        return 125;
    if (!text || !start_read_script(text, len, &shell, &plan) ||
        !redirect(&(struct start_redirection){ 1, -1, plan.out, false }) ||
        !redirect(&(struct start_redirection){ 2, -1, plan.err, false }))
        by_script(argv[1]);
    say("Setting up env variables\nSetting up job resources\n");
    for (size_t i = 0; i < plan.n_steps; i++)
        take_step(&plan.steps[i]);
    if (plan.debug_logs) {
        say("Copying debugging information\n");
        debug_info_write(plan.debug_logs);
    }
    say("Launching container\n");
    by_itself(cwd);
    char *bash[] = { BASH, "-c", (char *)(uintptr_t)plan.command, NULL };
    (void)execve(bash[0], bash, environment("0", NULL));
    cannot_execute(bash[0]);
}
