/* Fuzzes the list of links that container-link reads: any bytes end in links whose names are one
 * component each, made in directories that were opened one component at a time, or in an error. The
 * program is included here; its system calls are the fuzzer's. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/job-user.c" /* the frame of the program, which is in no archive */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int link_main(int argc, char **argv);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

enum { WORK = 1 << 20 }; /* above every real descriptor */
static int opened;       /* directories that are open */

static int component(int dir, const char *name)
{
    MUST(dir >= WORK && strchr(name, '/') == NULL);
    return 0;
}

static int fuzz_mkdirat(int dir, const char *name, mode_t mode)
{
    return component(dir, name) + (mode == 0750 ? 0 : -1);
}

static int fuzz_symlinkat(const char *target, int dir, const char *name)
{
    return component(dir, name) + (target ? 0 : -1);
}

static int fuzz_open(int dir, const char *name, int flags)
{
    MUST(flags & O_NOFOLLOW);
    return component(dir, name) + WORK + ++opened;
}

static int fuzz_dup(int dir)
{
    MUST(dir == WORK);
    return WORK + ++opened;
}

static int fuzz_close(int fd)
{
    MUST(fd > WORK && opened > 0);
    opened--;
    return 0;
}

#define mkdirat fuzz_mkdirat
#define symlinkat fuzz_symlinkat
#define job_user_open fuzz_open
#define dup fuzz_dup
#define close fuzz_close
#define main link_main
#include "executor/container-link.c"
#undef main
#undef close
#undef dup
#undef job_user_open
#undef symlinkat
#undef mkdirat

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > EXE_FILE_MAX)
        return 0;
    char *list = malloc(size + 1); /* read_list() leaves room for one byte more */
    MUST(list != NULL);
    memcpy(list, data, size);
    list[size] = '\0';
    opened = 0;
    (void)make_links(WORK, list, size);
    MUST(opened == 0);
    free(list);
    return 0;
}
