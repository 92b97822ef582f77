/* main for a fuzz target without libFuzzer: every file below the given directories is one input.
 * The unit suite runs the seeds this way with every compiler and with the sanitizers. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common/fd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    int n = 0;

    while (dir && (e = readdir(dir))) {
        _cleanup_free_ char *data = NULL;
        size_t len;

        if (e->d_name[0] == '.')
            continue;
        if (sv_read_file_at(dirfd(dir), e->d_name, (size_t)64 << 20, &data, &len) < 0) {
            (void)fprintf(stderr, "%s/%s: cannot be read\n", path, e->d_name);
            (void)closedir(dir);
            return -1;
        }
        (void)LLVMFuzzerTestOneInput((const uint8_t *)data, len);
        n++;
    }
    if (dir)
        (void)closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    int total = 0;

    for (int i = 1; i < argc; i++) {
        int n = replay(argv[i]);

        if (n <= 0) {
            (void)fprintf(stderr, "%s: no seeds\n", argv[i]);
            return 1;
        }
        total += n;
    }
    (void)printf("%d seeds\n", total);
    return total ? 0 : 1;
}
