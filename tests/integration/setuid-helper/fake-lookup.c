/* Stands in for user-lookup in a test: an account service that lies, dies or never answers,
 * depending on the requested name. Prints the helper's input if the test requests it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static int answer(const uint32_t *v, size_t n)
{
    return write(1, v, n * sizeof(*v)) == (ssize_t)(n * sizeof(*v)) ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : "";
    /* uid of the caller of the test in the name: "good-4711" */
    const char *dash = strchr(name, '-');
    uint32_t id = dash ? (uint32_t)strtoul(dash + 1, NULL, 10) : 0;
    if (environ[0] || geteuid() == 0 || geteuid() == 65534 || getuid() != geteuid())
        return 7; /* the helper must give no environment and no rights */
    if (strncmp(name, "good", 4) == 0)
        return answer((uint32_t[]){ id, id, 2, 0, id + 5 }, 5); /* group 0 must be filtered */
    if (strncmp(name, "badexit", 7) == 0)
        return answer((uint32_t[]){ id, id, 0 }, 3) + 3;
    if (strcmp(name, "root0") == 0)
        return answer((uint32_t[]){ 0, 0, 0 }, 3);
    if (strncmp(name, "gid0", 4) == 0)
        return answer((uint32_t[]){ id, 0, 0 }, 3);
    if (strcmp(name, "minus") == 0)
        return answer((uint32_t[]){ UINT32_MAX, UINT32_MAX, 0 }, 3);
    if (strncmp(name, "many", 4) == 0)
        return answer((uint32_t[]){ id, id, 65 }, 3);
    if (strncmp(name, "short", 5) == 0)
        return answer((uint32_t[]){ id, id }, 2);
    if (strncmp(name, "less", 4) == 0)
        return answer((uint32_t[]){ id, id, 2, id + 5 }, 4); /* one group of two */
    if (strncmp(name, "flood", 5) == 0)
        for (char block[4096] = { 0 }; write(1, block, sizeof(block)) > 0;)
            ;
    if (strcmp(name, "crash") == 0)
        abort();
    if (strcmp(name, "hang") == 0)
        for (;;)
            (void)pause();
    return 1;
}
