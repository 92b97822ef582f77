/* Fuzzes the list of uploaded logs: whatever lies in its place, it is read as a list or as none;
 * settled and written it is read again with nothing unsettled, and the files of an upload are
 * there. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "logs/uploaded-list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static int dir = -1;
static char path[] = "/tmp/fuzz-uploaded-list-XXXXXX";

static void remove_dir(void)
{
    (void)unlinkat(dir, LOGS_LIST_NAME, 0); /* rmdir would fail, ignoring */
    (void)rmdir(path);
}

static void make_dir(void)
{
    MUST(mkdtemp(path));
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    MUST(dir >= 0 && atexit(remove_dir) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct stat file = { .st_ino = 42, .st_size = 7, .st_mtim = { 1700000000, 5 } };
    struct logs_list *l;
    struct sv_error err = { 0 };
    bool malformed;
    int fd;

    if (dir < 0)
        make_dir();
    fd = openat(dir, LOGS_LIST_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    MUST(fd >= 0 && (size == 0 || sv_write_all(fd, data, size) == 0) && close(fd) == 0);
    MUST(logs_list_read(dir, &l, &malformed, &err) == 0);
    MUST(!strchr(logs_list_unsettled(l), '/'));
    MUST(*logs_list_unsettled(l) || logs_list_current(l) == 0);
    if (size > 0 && data[size - 1] & 1)
        logs_list_settle(l, data[size - 1] & 2);
    logs_list_start_again(l);
    MUST(logs_list_has(l, &file) || logs_list_add(l, &file) == 0);
    MUST(logs_list_write(l, &err) == 0);
    MUST(logs_list_has(l, &file));
    logs_list_free(l);
    MUST(logs_list_read(dir, &l, &malformed, &err) == 0 && !malformed);
    MUST(!*logs_list_unsettled(l) && logs_list_current(l) == 0 && logs_list_has(l, &file));
    logs_list_free(l);
    return 0;
}
