/* container-debug-info LOG_DIR PROGRAM [ARGUMENT]…: writes debugging information of a launch and
 * executes the program. The launch script executes it in the container, as the job's user, in the
 * work directory, where it is not container-start that does both. It MUST execute the program after
 * any failure. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "executor/debug-info.h"

int main(int argc, char **argv)
{
    if (argc < 3)
        return 125;
    debug_info_write(argv[1]);
    (void)execv(argv[2], argv + 2);
    (void)fprintf(stderr, "container-debug-info: %s: %s\n", argv[2], strerror(errno));
    return 126;
}
